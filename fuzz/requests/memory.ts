/** What the server keeps: measured when it has nothing to do, and judged by what it has grown. */
import { setTimeout } from "node:timers/promises";
import { quotaBytesOf } from "./quota-bytes.ts";
import type { FuzzServer } from "./server.ts";

export interface MemoryReading {
  /** Requests sent before. */
  requests: number;
  /** Resident set, without what quotas take on purpose. */
  rssBytes: number;
  /** Heap in use and buffers outside of it, without the quotas: what the program holds, not what is kept at hand for it. */
  heldBytes: number;
}

const pauseMilliseconds = 300;
/** The system gets memory back some time after it is let go. */
const readingsMin = 4;
const readingsMax = 12;
const mebibyte = 1024 * 1024;
const steadyBytes = mebibyte / 2;

/** Waits, collecting garbage, until the resident set has stopped falling: one second at least, four at most. */
export async function settle(server: FuzzServer, requests: number): Promise<MemoryReading | null> {
  const quotaBytes = await quotaBytesOf(server);
  let before = Number.POSITIVE_INFINITY;
  for (let reading = 1; ; reading++) {
    const usage = await server.measure();
    if (usage === null) return null;
    const { rss, heapUsed, external } = usage;
    const isSteady = reading >= readingsMin && before - rss < steadyBytes;
    if (isSteady || reading === readingsMax)
      return { requests, rssBytes: rss - quotaBytes, heldBytes: heapUsed + external - quotaBytes };
    before = rss;
    await setTimeout(pauseMilliseconds);
  }
}

export interface MemoryGrowth {
  /** Of the resident set, from the first request of the fuzz to the end. */
  rssBytes: number;
  /** In the second half, for each 100,000 requests. */
  rssSlopeBytes: number;
  heldSlopeBytes: number;
  /** What is wrong with it; empty where nothing is. */
  faults: readonly string[];
}

const growthMax = 64 * mebibyte;
const slopeMax = mebibyte;
/**
 * A short run cannot tell less: readings of one state differ by 2 MiB, and compiled code and the allocator's reserves
 * go on to take 3 MiB between 50,000 and 100,000 requests, then nothing more up to 200,000.
 */
const rssNoise = 8 * mebibyte;
const heldNoise = mebibyte;
const slopeRequests = 100_000;

/** Those that say the most: of a server nobody has asked, of one whose memory is full, half-way and at the end. */
export function momentsOf(readings: readonly MemoryReading[]): readonly MemoryReading[] {
  const [fresh, start, ...rests] = readings;
  const half = rests[Math.floor((rests.length - 1) / 2)];
  const end = rests.at(-1);
  if (half === undefined || end === undefined || half.requests === end.requests) return [];
  return [fresh!, start!, half, end];
}

/** @returns null where the run ended before its end. */
export function growthIn(readings: readonly MemoryReading[]): MemoryGrowth | null {
  const [, start, half, end] = momentsOf(readings);
  if (start === undefined || half === undefined || end === undefined) return null;
  const slopes = (end.requests - half.requests) / slopeRequests;
  const rssBytes = end.rssBytes - start.rssBytes;
  const rssRise = end.rssBytes - half.rssBytes;
  const heldRise = end.heldBytes - half.heldBytes;
  const faults = [
    rssBytes > growthMax && "the resident set has grown by more than 64 MiB",
    rssRise > slopes * slopeMax + rssNoise &&
      "the resident set grows by more than 1 MiB in 100,000 requests",
    heldRise > slopes * slopeMax + heldNoise &&
      "what is held grows by more than 1 MiB in 100,000 requests",
  ].filter((fault) => fault !== false);
  return {
    rssBytes,
    rssSlopeBytes: rssRise / slopes,
    heldSlopeBytes: heldRise / slopes,
    faults,
  };
}

export const mebibytes = (bytes: number) => `${(bytes / mebibyte).toFixed(1)} MiB`;

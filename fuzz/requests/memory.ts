/** What the server keeps: measured when it has nothing to do, and judged by what it has grown. */
import { setTimeout } from "node:timers/promises";
import { quotaMax } from "#limits/policy.ts";
import { askInside, residentBytes } from "../../bench/servers.ts";
import { validRoles } from "./secrets.ts";
import type { FuzzServer } from "./server.ts";

export interface MemoryReading {
  /** Requests sent before. */
  requests: number;
  /** Resident set, without what quotas take on purpose. */
  rssBytes: number;
  /** Heap in use and buffers outside of it, of all threads, without quotas and compiled code: what the program holds, not what is kept at hand for it. */
  heldBytes: number;
}

const pauseMilliseconds = 300;
/** The system gets memory back some time after it is let go. */
const readingsMin = 4;
const readingsMax = 12;
const mebibyte = 1024 * 1024;
const steadyBytes = mebibyte / 2;

/** Waits, collecting garbage, until the resident set has stopped falling: one second at least, four at most. */
export async function settle(server: FuzzServer, requests: number): Promise<MemoryReading> {
  const quotaBytes = await quotaBytesOf(server);
  let before = Number.POSITIVE_INFINITY;
  for (let reading = 1; ; reading++) {
    const held = await askInside(server, "heldMemory");
    const rss = residentBytes(server.pid);
    const isSteady = reading >= readingsMin && before - rss < steadyBytes;
    if (isSteady || reading === readingsMax)
      return { requests, rssBytes: rss - quotaBytes, heldBytes: held - quotaBytes };
    before = rss;
    await setTimeout(pauseMilliseconds);
  }
}

/** Of the time of each counted request of a day, which quotas keep on purpose. */
const timeBytes = 8;

/** Asks with each key how much of its day is left; a ring of times is as long as the next power of two. */
async function quotaBytesOf({ port, secrets }: FuzzServer): Promise<number> {
  let bytes = 0;
  for (const role of validRoles) {
    const { headers } = await fetch(`http://127.0.0.1:${port}/fetch-signals?limit=1`, {
      headers: { "x-api-key": secrets.of(role)! },
    });
    const [, left] = /"day";r=(\d+)/.exec(headers.get("ratelimit") ?? "") ?? [];
    bytes += timeBytes * 2 ** Math.ceil(Math.log2(quotaMax - Number(left ?? quotaMax) + 1));
  }
  return bytes;
}

const growthMax = 64 * mebibyte;
const slopeMax = mebibyte;
/**
 * What the resident set may grow by in the second half of a run although nothing leaks. Readings of one state differ by
 * 2 MiB, and compiled code and the allocator's reserves go on to take 9 MiB between 10,000 and 20,000 requests, 3 MiB
 * between 50,000 and 100,000, then nothing more up to 200,000. On a busy machine they take 7 MiB between 50,000 and
 * 120,000, while what is held grows by less than one.
 */
const rssNoiseAfter = (requests: number) => (requests < 40_000 ? 16 : 12) * mebibyte;
const heldNoise = mebibyte;
const slopeRequests = 100_000;

/** Those that say the most: of a server nobody has asked, of one whose memory is full, half-way and at the end. */
function momentsOf(readings: readonly MemoryReading[]): readonly MemoryReading[] {
  const [fresh, start, ...rests] = readings;
  const end = rests.at(-1);
  const half = rests.findLast(({ requests }) => requests < 0.6 * (end?.requests ?? 0));
  if (half === undefined || end === undefined) return [];
  return [fresh!, start!, half, end];
}

/** What is wrong with it: with the resident set from the first request of the fuzz to the end, or with the second half. */
export function growthFaults(readings: readonly MemoryReading[]): string[] {
  const [, start, half, end] = momentsOf(readings);
  if (start === undefined || half === undefined || end === undefined) return [];
  const slopesMax = ((end.requests - half.requests) / slopeRequests) * slopeMax;
  return [
    end.rssBytes - start.rssBytes > growthMax && "the resident set has grown by more than 64 MiB",
    end.rssBytes - half.rssBytes > slopesMax + rssNoiseAfter(half.requests) &&
      "the resident set grows by more than 1 MiB in 100,000 requests",
    end.heldBytes - half.heldBytes > slopesMax + heldNoise &&
      "what is held grows by more than 1 MiB in 100,000 requests",
  ].filter((fault) => fault !== false);
}

const moments = ["before any request", "all caches full", "half-way", "at the end"];
const mebibytes = (bytes: number) => `${(bytes / mebibyte).toFixed(1)} MiB`;

/** What was measured, in lines for people. */
export const memoryText = (readings: readonly MemoryReading[]): string =>
  momentsOf(readings)
    .map(
      ({ requests, rssBytes, heldBytes }, at) =>
        `  memory ${moments[at]}, after ${requests}: ${mebibytes(rssBytes)} resident, ${mebibytes(heldBytes)} held\n`,
    )
    .join("");

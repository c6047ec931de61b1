/** One file of the journal while it is written: records at fixed places, on disk when `syncSegment` is done. */
import { closeSync, fdatasync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { recordBytes } from "./journal-record.ts";
import { encodeHeader, headerBytes } from "./segment-header.ts";

export interface Segment {
  readonly path: string;
  readonly fd: number;
  /** Where the next record goes. */
  bytes: number;
  syncsInFlight: number;
  isRetired: boolean;
  isInFolder: boolean;
}

const syncFile = promisify(fdatasync);

/** @throws if the file cannot be made; then none is left behind. */
export function createSegment(path: string, bootId: string): Segment {
  const fd = openSync(path, "wx", 0o600);
  try {
    if (writeSync(fd, encodeHeader(bootId), 0, headerBytes, 0) < headerBytes)
      throw new Error("ENOSPC: only a part could be written");
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw error;
  }
  return { path, fd, bytes: headerBytes, syncsInFlight: 0, isRetired: false, isInFolder: false };
}

/**
 * Writes records and returns how many are wholly in the file. What a full disk cuts in two is written again at the
 * same place by the next call, so records stay where a reader looks for them.
 * @throws if nothing could be written.
 */
export function writeRecords(segment: Segment, records: Buffer): number {
  const written = writeSync(segment.fd, records, 0, records.length, segment.bytes);
  const whole = Math.floor(written / recordBytes);
  segment.bytes += whole * recordBytes;
  return whole;
}

/** Brings what is written so far to the disk, and once the file's name to its folder. */
export async function syncSegment(segment: Segment): Promise<void> {
  segment.syncsInFlight++;
  try {
    await syncFile(segment.fd);
    if (!segment.isInFolder) await syncFolder(dirname(segment.path));
    segment.isInFolder = true;
  } finally {
    segment.syncsInFlight--;
    closeUnused(segment);
  }
}

/** Closes the file as soon as no sync uses it any more; nothing may be written after this. */
export function retireSegment(segment: Segment): void {
  segment.isRetired = true;
  closeUnused(segment);
}

/** As `syncSegment` and `retireSegment`, but waits: for the end of the process. */
export function syncAndRetire(segment: Segment): void {
  try {
    fdatasyncSync(segment.fd);
  } finally {
    retireSegment(segment);
  }
}

function closeUnused(segment: Segment): void {
  if (segment.isRetired && segment.syncsInFlight === 0) closeSync(segment.fd);
}

/** Windows has no way to sync a folder and needs none. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Damages files the way disks and people do. */
import { closeSync, openSync, readSync, writeSync } from "node:fs";

/** Turns one bit of the byte at an offset. */
export function flipByte(path: string, offset: number): void {
  const file = openSync(path, "r+");
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, offset);
  byte[0]! ^= 1;
  writeSync(file, byte, 0, 1, offset);
  closeSync(file);
}

/** Writes rubbish over some bytes of a file. */
export function scribble(path: string, offset: number, bytes: number): void {
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(bytes, 0xee), 0, bytes, offset);
  closeSync(file);
}

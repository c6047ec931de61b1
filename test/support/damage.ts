/** Damages files the way disks and people do. */
import { closeSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Catalogue } from "#datasets/catalogue.ts";
import { hashFile } from "#datasets/dataset-hash.ts";

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

/** Runs statements on a file of SQLite. */
export function changeDatabase(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

/** Runs statements on a dataset, whose facts then have the hash of what is in the file. */
export function changeDataset(catalogue: Catalogue, version: string, sql: string): void {
  const path = catalogue.pathOf(version);
  changeDatabase(path, sql);
  changeFacts(catalogue.folder, version, hashFile(path));
}

/** Has the facts beside a dataset say something else. */
export function changeFacts(folder: string, version: string, change: object): void {
  const path = join(folder, `${version}.json`);
  const facts = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, `${JSON.stringify({ ...facts, ...change }, null, 2)}\n`);
}

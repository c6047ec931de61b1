/** The files of datasets and steps in PostgreSQL, in parts of 1 MiB before compression. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import type { PostgresSession } from "#store/postgres.ts";
import { openForBlock } from "#store/whole-file.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { hashFile } from "./dataset-hash.ts";
import type { Generation } from "./generation.ts";

/**
 * Limits for sessions that transfer parts, in ms; 0 means no limit. A part, or a transaction with all parts, may take
 * long on a slow network.
 */
export const partLimits = { answer: 30_000, statement: 0, idleInTransaction: 60_000 };

const partBytes = 1024 * 1024;
const compress = promisify(zstdCompress);
/** Options for fast compression, with a checksum that reveals a damaged part. */
const zstdOptions = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};
const pack = (bytes: Buffer): Promise<Buffer> => compress(bytes, zstdOptions);
const unpack = promisify(zstdDecompress);

export const storedRemedy =
  "Restore the database from its backup; until then, another dataset can be served with 'gp-records datasets publish VERSION'.";

/** A file that is stored in parts, or will be. */
interface StoredFile {
  /** Version of the dataset, or FROM..TO of the step. */
  name: string;
  sha256: string;
  bytes: number;
}

/**
 * Stores a file. Returns false if a file of this name is already stored.
 * @throws DatasetFault if the file's SHA-256 differs from the given one.
 */
async function pushFile(
  session: PostgresSession,
  path: string,
  { name, sha256, bytes }: StoredFile,
): Promise<boolean> {
  const [added] = await session.query(insertFileSql, [name, sha256, bytes]);
  if (added === undefined) return false;
  const digest = createHash("sha256");
  await using file = await open(path, "r");
  const piece = Buffer.allocUnsafe(partBytes);
  for (let number = 0; ; number++) {
    const { bytesRead } = await file.read(piece, 0, partBytes, number * partBytes);
    if (bytesRead === 0) break;
    const part = piece.subarray(0, bytesRead);
    digest.update(part);
    await session.query(insertPartSql, [name, number, await pack(part)]);
  }
  if (digest.digest("hex") === sha256) return true;
  throw new DatasetFault(
    `${path} changed while it was stored; nothing was published. Import again.`,
  );
}

const insertFileSql =
  "insert into dataset_file (name, sha256, bytes) values ($1, $2, $3) on conflict do nothing returning name";
const insertPartSql = "insert into dataset_part (name, number, bytes) values ($1, $2, $3)";
const selectPartSql = "select bytes from dataset_part where name = $1 and number = $2";

/**
 * Stores the file of a dataset, and then its facts.
 * @throws DatasetFault if its version is already stored, or the file does not match its facts.
 */
export async function pushDataset(
  session: PostgresSession,
  path: string,
  generation: Generation,
  isAdded: boolean,
): Promise<void> {
  const { version: name } = generation;
  if (!(await pushFile(session, path, { ...generation, name })))
    throw new DatasetFault(
      `The dataset ${name} is already in the database, perhaps stored by another command at the same moment. No dataset was changed. Run this command again.`,
    );
  const values = [name, JSON.stringify(generation), isAdded];
  await session.query("insert into dataset (version, facts, is_added) values ($1, $2, $3)", values);
}

export const stepName = (from: string, to: string) => `${from}..${to}`;

/** Stores the file of a step. Returns false if it is already stored. */
export const pushStep = (
  session: PostgresSession,
  path: string,
  from: string,
  to: string,
): Promise<boolean> => pushFile(session, path, { name: stepName(from, to), ...hashFile(path) });

/**
 * Yields the parts of a stored file in order. After the last part, checks the file's SHA-256.
 * @throws DatasetFault if the file or a part is missing, a part is damaged, or the file's SHA-256 differs.
 */
async function* storedParts(session: PostgresSession, name: string): AsyncGenerator<Buffer, void> {
  const [file] = await session.query<StoredFile>(
    "select sha256, bytes from dataset_file where name = $1",
    [name],
  );
  if (file === undefined)
    throw new DatasetFault(`The file ${name} is missing in the database. ${storedRemedy}`);
  const count = Math.ceil(file.bytes / partBytes);
  const digest = createHash("sha256");
  for (let number = 0; number < count; number++) {
    const [row] = await session.query<{ bytes: Buffer }>(selectPartSql, [name, number]);
    const what = `Part ${number + 1} of ${count} of the file ${name} in the database`;
    if (row === undefined) throw new DatasetFault(`${what} is missing. ${storedRemedy}`);
    const part = await unpack(row.bytes).catch((error: Error) => {
      throw new DatasetFault(`${what} is damaged: ${error.message}. ${storedRemedy}`);
    });
    digest.update(part);
    yield part;
  }
  if (digest.digest("hex") !== file.sha256)
    throw new DatasetFault(
      `The file ${name} in the database is damaged: its SHA-256 differs. ${storedRemedy}`,
    );
}

/** Writes a stored file to `path`, where it is incomplete if this throws. @throws as `storedParts` does. */
export async function pullFile(
  session: PostgresSession,
  name: string,
  path: string,
): Promise<void> {
  using file = openForBlock(path, "w", 0o600);
  for await (const part of storedParts(session, name)) writeFileSync(file.fd, part);
}

/** Reads and checks all parts of a stored file. @throws as `storedParts` does. */
export async function checkFile(session: PostgresSession, name: string): Promise<void> {
  for await (const _ of storedParts(session, name));
}

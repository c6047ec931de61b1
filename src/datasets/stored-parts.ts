/** The files of datasets and steps in PostgreSQL, in compressed parts of 1 MiB. */
import { createHash } from "node:crypto";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import type { PostgresSession } from "#store/postgres.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { hashFile } from "./dataset-hash.ts";
import type { Generation } from "./generation.ts";

/** Limits for sessions that carry parts: one may take long over a slow network, and so may a transaction of all. */
export const partLimits = { answer: 30_000, statement: 0, idleInTransaction: 60_000 };

const partBytes = 1024 * 1024;
const compress = promisify(zstdCompress);
/** Fast compression, with a checksum that tells a damaged part. */
const zstdOptions = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};
const pack = (bytes: Buffer): Promise<Buffer> => compress(bytes, zstdOptions);
const unpack = promisify(zstdDecompress);

/** A file that is stored in parts, or will be. */
interface StoredFile {
  of: "dataset" | "step";
  /** Version of the dataset, or FROM..TO of the step. */
  name: string;
  sha256: string;
  bytes: number;
}

export const datasetFile = ({ version: name, sha256, bytes }: Generation): StoredFile => ({
  of: "dataset",
  name,
  sha256,
  bytes,
});

const tables = {
  dataset: { table: "dataset_part", column: "version" },
  step: { table: "dataset_step_part", column: "name" },
} as const;

/** Stores a file. Compresses each part while the one before is on its way. */
export async function pushParts(
  session: PostgresSession,
  path: string,
  { of, name, sha256 }: Omit<StoredFile, "bytes">,
): Promise<void> {
  const { table, column } = tables[of];
  const sql = `insert into ${table} (${column}, number, bytes) values ($1, $2, $3)`;
  const digest = createHash("sha256");
  const file = await open(path, "r");
  try {
    let sent: Promise<unknown> = Promise.resolve();
    for (let number = 0; ; number++) {
      const piece = Buffer.allocUnsafe(partBytes);
      const { bytesRead } = await file.read(piece, 0, partBytes, number * partBytes);
      if (bytesRead === 0) break;
      const part = piece.subarray(0, bytesRead);
      digest.update(part);
      const bytes = await pack(part);
      await sent;
      sent = session.query(sql, [name, number, bytes]);
      // The next round awaits it, and throws.
      sent.catch(() => {});
    }
    await sent;
  } finally {
    await file.close();
  }
  if (digest.digest("hex") !== sha256)
    throw new DatasetFault(
      `${path} changed while it was stored; nothing was published. Import again.`,
    );
}

/**
 * Yields the parts of a stored file, in order. The next one is on its way while one is used.
 * @throws DatasetFault naming a missing or damaged part, or after the last part if only the SHA-256 of all tells.
 */
async function* storedParts(
  session: PostgresSession,
  { of, name, bytes, sha256 }: StoredFile,
): AsyncGenerator<Buffer, void> {
  const { table, column } = tables[of];
  const sql = `select bytes from ${table} where ${column} = $1 and number = $2`;
  const count = Math.ceil(bytes / partBytes);
  const fetchPart = (number: number) => {
    const rows = session.query<{ bytes: Buffer }>(sql, [name, number]);
    rows.catch(() => {});
    return rows;
  };
  const digest = createHash("sha256");
  let next = fetchPart(0);
  for (let number = 0; number < count; number++) {
    const [row] = await next;
    if (number + 1 < count) next = fetchPart(number + 1);
    const what = `Part ${number + 1} of ${count} of the stored ${of} ${name}`;
    if (row === undefined)
      throw new DatasetFault(`${what} is missing: it was removed. ${storedRemedy}`);
    const part = await unpack(row.bytes).catch((error: Error) => {
      throw new DatasetFault(`${what} is damaged: ${error.message}. ${storedRemedy}`);
    });
    digest.update(part);
    yield part;
  }
  if (digest.digest("hex") !== sha256)
    throw new DatasetFault(
      `The stored ${of} ${name} is damaged: its SHA-256 differs. ${storedRemedy}`,
    );
}

/** Writes the parts into a new file at `path`, which is whole only if this does not throw. */
export async function pullParts(
  session: PostgresSession,
  stored: StoredFile,
  path: string,
): Promise<void> {
  const file = openSync(path, "wx", 0o600);
  try {
    for await (const part of storedParts(session, stored)) writeFileSync(file, part);
  } finally {
    closeSync(file);
  }
}

/** Reads and checks all parts, and keeps nothing. @throws as `pullParts`. */
export async function checkParts(session: PostgresSession, stored: StoredFile): Promise<void> {
  for await (const _ of storedParts(session, stored));
}

/** Returns the name of a step in the database. */
export const stepName = (from: string, to: string) => `${from}..${to}`;

/** Stores the file of a step. Returns null if it was there already. */
export async function pushStep(
  session: PostgresSession,
  path: string,
  from: string,
  to: string,
): Promise<StoredFile | null> {
  const step = { of: "step", name: stepName(from, to), ...hashFile(path) } as const;
  const added = await session.query(insertStepSql, [step.name, step.sha256, step.bytes]);
  if (added.length === 0) return null;
  await pushParts(session, path, step);
  return step;
}

const insertStepSql =
  "insert into dataset_step (name, sha256, bytes) values ($1, $2, $3) on conflict do nothing returning name";

/** Fetches a step into a new file. @throws DatasetFault naming a missing or damaged part. */
export async function pullStep(
  session: PostgresSession,
  path: string,
  from: string,
  to: string,
): Promise<void> {
  const name = stepName(from, to);
  const sql = "select sha256, bytes from dataset_step where name = $1";
  const [row] = await session.query<{ sha256: string; bytes: number }>(sql, [name]);
  if (row === undefined)
    throw new DatasetFault(`The stored step ${name} is missing: it was removed.`);
  await pullParts(session, { of: "step", name, ...row }, path);
}

const storedRemedy =
  "Go back with 'gp-records datasets rollback', or import again; or restore the database from its backup.";

/** Loads the parts of a generation that a server answers from, in a worker. */
import { statSync } from "node:fs";
import type { DatasetParts } from "#search/dataset-parts.ts";
import type { Generation } from "./generation.ts";
import { factsFault, openGeneration, refusalOf } from "./open-generation.ts";
import { readServed } from "./served.ts";

/**
 * Loads a generation. Reads and checks only the served bytes: hashing the whole file would take several times as long.
 * @param path file of the generation.
 * @param expected its facts in the catalogue.
 * @throws DatasetFault if the served bytes are not the published ones, or cannot be read.
 */
export function loadGeneration(path: string, expected: Generation): DatasetParts {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size;
  if (bytes !== undefined && bytes !== expected.bytes)
    throw notPublished(path, `it has ${bytes} bytes instead of ${expected.bytes}`);
  const { db, meta } = openGeneration(path);
  try {
    const fault = factsFault(meta, expected);
    if (fault !== undefined) throw new Error(`in ${expected.version}.json ${fault}`);
    const { index, documents } = readServed(db, meta);
    return { ...index, documents, version: meta.version, updatedAt: meta.built_at };
  } catch (error) {
    throw notPublished(path, (error as Error).message);
  } finally {
    db.close();
  }
}

const notPublished = (path: string, reason: string) =>
  refusalOf(path, `is not the file that was published: ${reason}`);

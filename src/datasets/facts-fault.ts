/** Compares the facts of a generation with its file, and words how they differ. */
import type { DatabaseSync } from "node:sqlite";
import { idPrefixes, type Meta } from "./format.ts";
import type { Generation } from "./generation.ts";

/** A member as the facts have it, and as the file does. */
type Pair = [member: string, told: unknown, found: unknown];

/** @returns the differences in words; undefined where there are none. */
export function factsFault(db: DatabaseSync, meta: Meta, facts: Generation): string | undefined {
  return inWords([...metaPairs(meta, facts), ...countPairs(db, facts)]);
}

/** The same without counting records: a server answers with what it reads. */
export const metaFault = (meta: Meta, facts: Generation) => inWords(metaPairs(meta, facts));

const metaPairs = (meta: Meta, facts: Generation) =>
  (["version", "hash", "built_at"] as const).map((name): Pair => [name, facts[name], meta[name]]);

/** Counted in the index over ids, a small part of the file. */
function countPairs(db: DatabaseSync, { records }: Generation): Pair[] {
  const told = (records ?? {}) as Readonly<Record<string, unknown>>;
  return Object.keys(idPrefixes).map((kind): Pair => {
    const { n } = db.prepare(`select count(*) as n from ${kind}`).get()!;
    return [`records.${kind}`, told[kind], n];
  });
}

function inWords(pairs: readonly Pair[]): string | undefined {
  const differing = pairs.filter(([, told, found]) => told !== found);
  if (differing.length === 0) return undefined;
  return differing.map(([member, told, found]) => sayBoth(member, told, found)).join(", ");
}

const sayBoth = (member: string, told: unknown, found: unknown) =>
  `"${member}" is ${JSON.stringify(told)} instead of ${JSON.stringify(found)}`;

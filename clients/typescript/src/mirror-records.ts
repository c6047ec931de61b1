/** The records a mirror holds, by kind and id, and the hash by which the service proves a copy. */
import type { Gp, Principal, Project, Signal } from "./types.ts";

/** A record as a mirror has it: a GP is without its lists, which repeat other records. */
export interface MirroredRecords {
  gp: Omit<Gp, "principals" | "principals_total" | "signals" | "signals_total">;
  principal: Principal;
  signal: Signal;
  project: Project;
}

export type Kind = keyof MirroredRecords;

/**
 * Whether the hash that the service gives of the dataset is that of the copy. `different`: pages were read, and a GP is missing
 * that no record names, and that shares no longer word of its name with one that is named. `unknown`: the service gives none.
 */
export type Proof = "equal" | "different" | "unknown";

/** In the order of a step. */
export const kinds = ["gp", "principal", "signal", "project"] as const;

/** JSON of records as the service writes it, by id. */
export type Lines = Record<Kind, Map<string, string>>;

export interface Copy {
  version: string;
  proof: Proof;
  lines: Lines;
}

export const noLines = (): Lines => ({
  gp: new Map(),
  principal: new Map(),
  signal: new Map(),
  project: new Map(),
});

export const countOf = (lines: Lines): number =>
  kinds.reduce((sum, kind) => sum + lines[kind].size, 0);

/** SHA-256 of the SHA-256 of every line, by kind and id, in hexadecimal digits. */
export async function hashOf(lines: Lines): Promise<string> {
  const { subtle } = crypto;
  const encoder = new TextEncoder();
  const digests = new Uint8Array(32 * countOf(lines));
  let at = 0;
  for (const kind of kinds)
    for (const id of sortedKeys(lines[kind])) {
      const bytes = encoder.encode(lines[kind].get(id));
      digests.set(new Uint8Array(await subtle.digest("SHA-256", bytes)), 32 * at++);
    }
  const total = new Uint8Array(await subtle.digest("SHA-256", digests));
  return Array.from(total, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What a GP embeds of other records. */
const lists = new Set(["principals", "principals_total", "signals", "signals_total"]);

/** A record that the service answered, as a mirror has it. */
export const lineOf = (kind: Kind, record: object): string =>
  JSON.stringify(
    kind === "gp"
      ? Object.fromEntries(Object.entries(record).filter(([name]) => !lists.has(name)))
      : record,
  );

/** Ids are ASCII, whose order is that of their bytes. */
export const sortedKeys = (lines: ReadonlyMap<string, string>) => [...lines.keys()].sort();

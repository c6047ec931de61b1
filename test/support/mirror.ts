/** A copy of the records that follows steps, as docs/changes.md tells clients to. */
import { createHash, hash } from "node:crypto";
import { eachOf, recordKinds, type RecordKind } from "#records/kinds.ts";

/** Of each kind the lines of its records by id. */
export type Mirror = Record<RecordKind, Map<string, string>>;

interface Line {
  change: "added" | "changed" | "removed" | "merged";
  kind: RecordKind;
  id: string;
  record?: unknown;
  after?: Record<string, unknown>;
}

export const emptyMirror = (): Mirror => eachOf(recordKinds, () => new Map());

/** @returns the head. @param step as it is served, whole. */
export function applyStep(mirror: Mirror, step: string): Record<string, any> {
  const [head, ...lines] = step.trimEnd().split("\n");
  for (const text of lines) {
    const line = JSON.parse(text) as Line;
    const records = mirror[line.kind];
    if (line.change === "removed" || line.change === "merged") records.delete(line.id);
    else if (line.record !== undefined) records.set(line.id, JSON.stringify(line.record));
    else {
      const record = JSON.parse(records.get(line.id)!) as Record<string, unknown>;
      records.set(line.id, JSON.stringify(Object.assign(record, line.after)));
    }
  }
  return JSON.parse(head!);
}

const ordered = (records: ReadonlyMap<string, string>) =>
  [...records].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);

/** All lines in the order of a step. */
export const linesOf = (mirror: Mirror): string[] =>
  recordKinds.flatMap((kind) => ordered(mirror[kind]));

export function hashOf(mirror: Mirror): string {
  const total = createHash("sha256");
  for (const line of linesOf(mirror)) total.update(hash("sha256", line, "buffer"));
  return total.digest("hex");
}

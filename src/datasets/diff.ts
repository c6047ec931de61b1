/**
 * Compares two generations for people: records added, changed, removed and merged, with source and differing members.
 */
import type { RecordKind } from "#records/kinds.ts";
import type { ChangeKind } from "#records/publication.ts";
import {
  compareGenerations,
  type Difference,
  differingNames,
  type Members,
  type StoredRecord,
} from "./compare.ts";
import type { Generation } from "./generation.ts";
import { openPublished } from "./open-generation.ts";

interface Change {
  change: ChangeKind;
  record: RecordKind;
  id: string;
  source: string;
  /** Name of the record, or title of a signal. */
  name: string;
  /** Differing members, each with both values; `updated_at` only if nothing else differs. */
  members?: Record<string, { from: unknown; to: unknown }>;
  /** Id of the GP that a merged GP became part of. */
  into?: string;
}

/** A generation and the path of its file. */
export interface Side {
  path: string;
  generation: Generation;
}

/**
 * Yields changes kind by kind, and within a kind by id.
 * @throws DatasetFault if a file is not the one that was built, or cannot be read.
 */
export function* diffGenerations(from: Side, to: Side): Generator<Change, void> {
  for (const { path, generation } of [from, to]) openPublished(path, generation).db.close();
  using comparison = compareGenerations(from.path, to.path);
  for (const difference of comparison.differences()) {
    const isGone = difference.change === "removed" || difference.change === "merged";
    const shown = isGone ? comparison.before(difference) : comparison.after(difference);
    const before = difference.change === "changed" ? comparison.before(difference) : null;
    yield changeOf(difference, before, shown);
  }
}

function changeOf(
  { change, kind, id, into }: Difference,
  before: StoredRecord | null,
  { source, document }: StoredRecord,
): Change {
  const shown = JSON.parse(document) as Members;
  const name = shown[kind === "signal" ? "title" : "name"] as string;
  const what = { change, record: kind, id, source, name };
  if (into !== null) return { ...what, into };
  if (before === null) return what;
  return { ...what, members: differing(JSON.parse(before.document) as Members, shown) };
}

/** Returns the differing members with both values. */
function differing(from: Members, to: Members): NonNullable<Change["members"]> {
  const names = differingNames(from, to);
  const told = names.length > 1 ? names.filter((name) => name !== "updated_at") : names;
  return Object.fromEntries(told.map((name) => [name, { from: from[name], to: to[name] }]));
}

type ChangeCounts = Record<ChangeKind, number>;

/** Opens counts of changes by kind of record and source. */
export function openChangeCounts() {
  const counts = new Map<string, { record: RecordKind; source: string } & ChangeCounts>();
  return {
    add({ change, record, source }: Change) {
      const key = `${record} ${source}`;
      const none = { added: 0, changed: 0, removed: 0, merged: 0 };
      const row = counts.get(key) ?? { record, source, ...none };
      row[change]++;
      counts.set(key, row);
    },
    rows: () => [...counts.values()],
  };
}

/** Compares two generations record by record: what was added, removed and changed, and in which members. */
import { recordKinds, type RecordKind } from "#records/canonical.ts";
import type { Generation } from "./generation.ts";
import { immutableUri, openPublished } from "./open-generation.ts";

const changeKinds = ["added", "removed", "changed"] as const;
type ChangeKind = (typeof changeKinds)[number];

export interface Change {
  change: ChangeKind;
  record: RecordKind;
  id: string;
  source: string;
  /** Its name, or the title of a signal. */
  name: string;
  /** The members that differ, each with both its values; `updated_at` only where nothing else does. */
  members?: Record<string, { from: unknown; to: unknown }>;
}

/** A generation and where its file is. */
export interface Side {
  path: string;
  generation: Generation;
}

/**
 * Kind by kind, and within a kind what was added, removed, changed, each in display order.
 * @throws DatasetFault where a file is not what was built, or cannot be read.
 */
export function* diffGenerations(from: Side, to: Side): Generator<Change, void> {
  openPublished(from.path, from.generation).db.close();
  const { db } = openPublished(to.path, to.generation);
  try {
    db.prepare("attach ? as former").run(immutableUri(from.path));
    for (const record of recordKinds)
      for (const change of changeKinds)
        for (const row of db.prepare(queries[change](record)).iterate())
          yield changeOf(change, record, row as unknown as Row);
  } finally {
    db.close();
  }
}

interface Row {
  id: string;
  source: string;
  /** Null where it has none on this side. */
  before: string | null;
  after: string | null;
}

const onlyIn = (schema: string, other: string, kind: RecordKind, columns: string) =>
  `select o.id, o.source, ${columns} from ${schema}.${kind} o
   where o.id not in (select id from ${other}.${kind}) order by o.position`;

const queries: Readonly<Record<ChangeKind, (kind: RecordKind) => string>> = {
  added: (kind) => onlyIn("main", "former", kind, "null as before, o.document as after"),
  removed: (kind) => onlyIn("former", "main", kind, "o.document as before, null as after"),
  changed: (kind) =>
    `select n.id, n.source, o.document as before, n.document as after
     from main.${kind} n join former.${kind} o on o.id = n.id
     where o.content_hash <> n.content_hash or o.updated_at <> n.updated_at order by n.position`,
};

type Members = Readonly<Record<string, unknown>>;

function changeOf(change: ChangeKind, record: RecordKind, row: Row): Change {
  const shown = JSON.parse((row.after ?? row.before)!) as Members;
  const name = shown[record === "signal" ? "title" : "name"] as string;
  const what = { change, record, id: row.id, source: row.source, name };
  if (change !== "changed") return what;
  return { ...what, members: differing(JSON.parse(row.before!) as Members, shown) };
}

/** Documents of one kind have the same members. */
function differing(from: Members, to: Members): NonNullable<Change["members"]> {
  const names = Object.keys(to).filter(
    (name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]),
  );
  const told = names.length > 1 ? names.filter((name) => name !== "updated_at") : names;
  return Object.fromEntries(told.map((name) => [name, { from: from[name], to: to[name] }]));
}

export type ChangeCounts = Record<ChangeKind, number>;

/** Counts changes by kind of record and source. */
export function openChangeCounts() {
  const counts = new Map<string, { record: RecordKind; source: string } & ChangeCounts>();
  return {
    add({ change, record, source }: Change) {
      const key = `${record} ${source}`;
      const row = counts.get(key) ?? { record, source, added: 0, removed: 0, changed: 0 };
      row[change]++;
      counts.set(key, row);
    },
    rows: () => [...counts.values()],
  };
}

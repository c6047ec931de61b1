/** Kinds of records. Their schemas are elsewhere: loading those would slow the start of the worker that loads a dataset. */

interface Kind {
  /** Beginning of their ids. */
  prefix: string;
  /** Name of several in a sentence. */
  plural: string;
  /** Heading above several. */
  title: string;
  /** Name of their sheet in a workbook. */
  sheet: string;
  /** Format of datasets that first had them: for a new kind, the next format. */
  since: number;
}

/** Every kind, in the order of datasets and of the reference. */
export const kinds = {
  gp: { prefix: "gp", plural: "GPs", title: "General Partners", sheet: "GPs", since: 3 },
  principal: { prefix: "pr", plural: "principals", title: "Principals", sheet: "People", since: 3 },
  signal: { prefix: "sg", plural: "signals", title: "Signals", sheet: "Signals", since: 3 },
  project: { prefix: "pj", plural: "projects", title: "Projects", sheet: "Projects", since: 3 },
} as const satisfies Readonly<Record<string, Kind>>;

export type RecordKind = keyof typeof kinds;
export type EachKind<T> = Readonly<Record<RecordKind, T>>;
export const recordKinds = Object.keys(kinds) as readonly RecordKind[];

/** Kinds of records that belong to GPs. */
export type LinkedKind = Exclude<RecordKind, "gp">;
export const linkedKinds = recordKinds.filter((kind) => kind !== "gp");

/** Kinds of records that a GP embeds, in this order. */
export const embeddedKinds = ["principal", "signal"] as const satisfies readonly LinkedKind[];

/** Makes a value for each key, in their order. */
export const eachOf = <K extends string, V>(keys: readonly K[], make: (key: K) => V) =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;

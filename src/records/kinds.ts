/** Kinds of record. Their schemas are elsewhere: loading them would slow the worker that loads a dataset. */

interface Kind {
  /** Prefix of ids: two letters. */
  prefix: string;
  /** Singular, for use in a sentence. An s makes the plural. */
  singular: string;
  /** Heading of a list. */
  title: string;
  /** Label of its list on pages, and of its sheet in a workbook. */
  label: string;
  /** Nouns in sentences on pages. */
  nouns: readonly [one: string, many: string];
  /** Path of its list in Browse. */
  path: `/browse/${string}`;
  /** First version of the dataset format that has the kind. */
  format: number;
}

/** All kinds, in the order of datasets and of the reference. */
export const kinds = {
  gp: {
    prefix: "gp",
    singular: "GP",
    title: "General Partners",
    label: "GPs",
    nouns: ["GP", "GPs"],
    path: "/browse/gps",
    format: 1,
  },
  principal: {
    prefix: "pr",
    singular: "principal",
    title: "Principals",
    label: "People",
    nouns: ["person", "people"],
    path: "/browse/people",
    format: 1,
  },
  signal: {
    prefix: "sg",
    singular: "signal",
    title: "Signals",
    label: "Signals",
    nouns: ["signal", "signals"],
    path: "/browse/signals",
    format: 1,
  },
  project: {
    prefix: "pj",
    singular: "project",
    title: "Projects",
    label: "Projects",
    nouns: ["project", "projects"],
    path: "/browse/projects",
    format: 1,
  },
} satisfies Readonly<Record<string, Kind>>;

export type RecordKind = keyof typeof kinds;
export type EachKind<T> = Readonly<Record<RecordKind, T>>;
export const recordKinds = Object.keys(kinds) as readonly RecordKind[];

/** Kinds whose records each have a name and a page. A signal has a title, and is shown with its GPs. */
export type NamedKind = Exclude<RecordKind, "signal">;
export const isNamed = (kind: RecordKind): kind is NamedKind => kind !== "signal";
export const namedKinds = recordKinds.filter(isNamed);

/** Kinds of record that belong to GPs. */
export type LinkedKind = Exclude<RecordKind, "gp">;
export const linkedKinds = recordKinds.filter((kind) => kind !== "gp");

/** Kinds of record that a GP embeds, in this order. */
export const embeddedKinds = ["principal", "signal"] as const satisfies readonly LinkedKind[];

/** Returns an object with a value for each key, in the order of the keys. */
export const eachOf = <K extends string, V>(keys: readonly K[], make: (key: K) => V) =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;

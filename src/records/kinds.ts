/** Kinds of records. They are apart from the checks of records, which a server does not load. */

export const recordKinds = ["gp", "principal", "signal", "project"] as const;
export type RecordKind = (typeof recordKinds)[number];

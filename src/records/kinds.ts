/** The kinds of records. Apart from what checks records, which a server does not load. */

export const recordKinds = ["gp", "principal", "signal", "project"] as const;
export type RecordKind = (typeof recordKinds)[number];

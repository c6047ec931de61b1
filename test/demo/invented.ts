/** The whole demo, invented once for the tests that look at it. */
import type {
  CanonicalGp,
  CanonicalPrincipal,
  CanonicalProject,
  CanonicalRecord,
  CanonicalSignal,
} from "#records/canonical.ts";
import { demoSize, inventRecords } from "#demo/invent.ts";

export const entries = [...inventRecords(demoSize)];
export const records: readonly CanonicalRecord[] = entries.flatMap((entry) => entry.records);

export const gps = records.filter((one): one is CanonicalGp => one.record === "gp");
export const principals = records.filter(
  (one): one is CanonicalPrincipal => one.record === "principal",
);
export const projects = records.filter((one): one is CanonicalProject => one.record === "project");
export const signals = records.filter((one): one is CanonicalSignal => one.record === "signal");

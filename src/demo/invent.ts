/** Invents a whole source of records from a seed: GPs first, so that every link names what has been yielded before. */
import type { CanonicalRecord } from "#records/canonical.ts";
import type { SourceEntry } from "#records/source-entry.ts";
import type { InventedGp } from "./cast.ts";
import { gpInventor } from "./gps.ts";
import { principalInventor } from "./principals.ts";
import { projectInventor } from "./projects.ts";
import { signalInventor } from "./signals.ts";

/** How many records of each kind, and the seed that decides what they say. */
export interface DemoSize {
  seed: number;
  gps: number;
  principals: number;
  signals: number;
  projects: number;
}

/** What `serve --demo` publishes: about as much as a year of real filings gives. */
export const demoSize: Readonly<DemoSize> = {
  seed: 20261120,
  gps: 12_000,
  principals: 25_000,
  signals: 20_000,
  projects: 8_000,
};

/**
 * One entry a record, the same for the same size on every machine. Nothing in it is about anybody real:
 * hosts are below `.example`, numbers beyond those in use. Dates of what has happened end at 20 November 2026.
 */
export function* inventRecords(size: Readonly<DemoSize>): Generator<SourceEntry> {
  const { seed } = size;
  const gps: InventedGp[] = [];
  const inventGp = gpInventor(seed);
  const kinds: readonly (readonly [number, (number: number) => CanonicalRecord])[] = [
    [size.gps, (number) => (gps[number - 1] = inventGp(number)).record],
    [size.principals, principalInventor(seed, gps)],
    [size.projects, projectInventor(seed, gps)],
    [size.signals, signalInventor(seed, gps)],
  ];
  let line = 0;
  for (const [count, inventRecord] of kinds)
    for (let number = 1; number <= count; number++) {
      const records = [inventRecord(number)];
      yield { file: "demo", line: ++line, records, namedGps: [], faults: [] };
    }
}

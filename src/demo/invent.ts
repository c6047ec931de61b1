/** Invents a whole source of records from a seed. GPs come first, so that every link names an earlier record. */
import type { CanonicalRecord, SourceEntry } from "#records/canonical.ts";
import { projectInventor, signalInventor } from "./deals.ts";
import { gpInventor, principalInventor } from "./firms.ts";
import type { InventedGp } from "./world.ts";

/** Numbers of records of each kind, and the seed that decides their content. */
export interface DemoSize {
  seed: number;
  gps: number;
  principals: number;
  signals: number;
  projects: number;
}

/** Size of the dataset that `serve --demo` publishes. A year of real filings has about the same size. */
export const demoSize: Readonly<DemoSize> = {
  seed: 20261120,
  gps: 12_000,
  principals: 25_000,
  signals: 20_000,
  projects: 8_000,
};

/**
 * Yields an entry for each record. The same sizes and seed give the same records on every machine. No record is about
 * anybody real: hosts end in `.example`, and numbers are beyond those in use. No past event is later than 20 November
 * 2026.
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

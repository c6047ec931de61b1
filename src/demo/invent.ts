/** Invents a whole source of records from a seed. GPs come first, so that every link names an earlier record. */
import type { CanonicalProject, CanonicalRecord, SourceEntry } from "#records/canonical.ts";
import { projectInventor, signalInventor } from "./deals.ts";
import { gpInventor, principalInventor } from "./firms.ts";
import { dayText, type InventedGp, lastDay } from "./world.ts";

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
  let line = 0;
  for (const { count, invent } of inventorsOf(size))
    for (let number = 1; number <= count; number++) yield entryOf(++line, invent(number));
}

/**
 * Yields the same source as it was two days earlier: without the latest records, with some that are withdrawn since, and
 * with other values of some that have changed since.
 */
export function* inventEarlier(size: Readonly<DemoSize>): Generator<SourceEntry> {
  const inventors = inventorsOf(size);
  let line = 0;
  for (const { count, invent } of inventors)
    for (let number = 1; number <= count; number++) {
      const record = earlier(invent(number), number);
      if (record !== null) yield entryOf(++line, record);
    }
  for (const { count, invent, withdrawn } of inventors)
    for (let number = count + 1; number <= count + Math.ceil(count * withdrawn); number++)
      yield entryOf(++line, invent(number));
}

interface Inventor {
  count: number;
  invent: (number: number) => CanonicalRecord;
  /** Share of records that the earlier source has besides. */
  withdrawn: number;
}

/** Returns what invents each kind, to be used in this order: later kinds refer to earlier ones. */
function inventorsOf({ seed, ...size }: Readonly<DemoSize>): readonly Inventor[] {
  const gps: InventedGp[] = [];
  const inventGp = gpInventor(seed);
  const invent = (number: number) => (gps[number - 1] = inventGp(number)).record;
  return [
    { count: size.gps, invent, withdrawn: 0 },
    { count: size.principals, invent: principalInventor(seed, gps), withdrawn: 0.001 },
    { count: size.projects, invent: projectInventor(seed, gps), withdrawn: 0.002 },
    { count: size.signals, invent: signalInventor(seed, gps), withdrawn: 0.003 },
  ];
}

const entryOf = (line: number, record: CanonicalRecord): SourceEntry => ({
  file: "demo",
  line,
  records: [record],
  namedGps: [],
  faults: [],
});

/** First day whose signals the earlier source does not have yet. */
const firstLater = dayText(lastDay - 1);

const statusBefore: Readonly<Partial<Record<string, CanonicalProject["status"]>>> = {
  under_construction: "planned",
  completed: "under_construction",
  closed: "raising",
};

/** Returns a record as it was; null if it was not there yet. */
function earlier(record: CanonicalRecord, number: number): CanonicalRecord | null {
  const isOneOf = (every: number) => number % every === 0;
  switch (record.record) {
    case "gp": {
      const { aum_usd: aum = null, raised_to_date_usd: raised = null } = record;
      if (aum !== null && isOneOf(3)) return { ...record, aum_usd: Math.round(aum * 0.94) };
      return raised !== null && isOneOf(5)
        ? { ...record, raised_to_date_usd: Math.round(raised * 0.9) }
        : record;
    }
    case "principal":
      if (isOneOf(190)) return null;
      return isOneOf(40) ? { ...record, title: null } : record;
    case "project": {
      const status = statusBefore[record.status ?? ""];
      return status !== undefined && isOneOf(12) ? { ...record, status } : record;
    }
    case "signal":
      return record.date >= firstLater ? null : record;
  }
}

/** Reads and writes what is counted, wherever that is kept, while nobody counts there; so that counts can go from one place to another. */
import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StoreFault } from "#store/domain-error.ts";
import type { Clock } from "./clocks.ts";
import type { Engine } from "./engine.ts";
import { readJournal } from "./read-journal.ts";
import { encodeRecord, openSegments, recordBytes } from "./segments.ts";
import type { CountersSetting } from "./valkey-faults.ts";
import { sentenceOf, within } from "./wait-for-engine.ts";

/** Where an installation counts, as its settings say. */
interface CountsPlace {
  /** Null for one that does not count in a folder. */
  dataDir: string | null;
  databaseUrl: string | null;
  /** Of a Valkey or Redis, which counts only beside a database. */
  countersUrl: string | null;
  /** That names it, for errors. */
  countersSetting: CountersSetting;
}

/** Requests of one account within a day, in µs by the monotonic clock of this machine, the oldest first. */
export interface CountedRequests {
  account: number;
  times: readonly number[];
}

interface StoredCounts {
  /** Of these accounts, in their order. */
  read(accounts: readonly number[]): Promise<CountedRequests[]>;
  /** Has just this counted, whatever was before. */
  replace(counted: AsyncIterable<readonly CountedRequests[]>): Promise<void>;
  close(): Promise<void>;
}

/** Those of 16 accounts are up to 80 MB, and whoever moves them keeps everybody waiting. */
const usualPatienceMilliseconds = 10_000;

/**
 * @param onFault told of what cannot be read of a journal; it is held against nobody.
 * @throws StoreFault, as the promises of its functions do: `unusable` where a server has to be set up first, `busy`
 * where it does not answer in time.
 */
export async function openStoredCounts(
  { dataDir, databaseUrl, countersUrl, countersSetting: setting }: CountsPlace,
  clock: Clock,
  onFault: (fault: Error) => void,
  patienceMilliseconds = usualPatienceMilliseconds,
): Promise<StoredCounts> {
  if (databaseUrl === null) return inJournal(join(dataDir!, "counts"), clock, onFault);
  if (countersUrl !== null) {
    const { openValkeyEngine } = await import("./valkey-engine.ts");
    return onEngine(await openValkeyEngine(countersUrl, { setting }), clock, patienceMilliseconds);
  }
  const { openPostgresEngine } = await import("./postgres-engine.ts");
  return onEngine(openPostgresEngine({ url: databaseUrl }), clock, patienceMilliseconds);
}

/** Accounts in one question: their requests are some 50 KB each, or 5 MB at the greatest quota. */
const accountsAtOnce = 16;

async function onEngine(
  engine: Engine,
  clock: Clock,
  patienceMilliseconds: number,
): Promise<StoredCounts> {
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await within(patienceMilliseconds, answer);
    } catch (error) {
      engine.disconnect();
      const kind = error instanceof StoreFault ? error.kind : "busy";
      throw new StoreFault(kind, `Counts: ${sentenceOf(error as Error, engine.place)}`);
    }
  };
  await answered(engine.connect(() => {}));
  return {
    async read(accounts) {
      const found: CountedRequests[] = [];
      for (const some of inParts(accounts)) {
        const now = clock.monotonicMicroseconds();
        for (const { account, ages } of await answered(engine.read(some)))
          found.push({ account, times: ages.map((age) => now - age) });
      }
      return found;
    },
    async replace(counted) {
      for await (const part of counted)
        for (const some of inParts(part)) {
          const now = clock.monotonicMicroseconds();
          const ages = some.map(({ account, times }) => ({
            account,
            ages: times.map((time) => Math.max(0, now - time)),
          }));
          await answered(engine.replace(ages));
        }
    },
    async close() {
      engine.disconnect();
    },
  };
}

function inParts<T>(all: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let from = 0; from < all.length; from += accountsAtOnce)
    parts.push(all.slice(from, from + accountsAtOnce));
  return parts;
}

function inJournal(folder: string, clock: Clock, onFault: (fault: Error) => void): StoredCounts {
  const bootId = clock.bootId ?? `run:${randomUUID()}`;
  const moment = () => ({
    monotonicMicroseconds: clock.monotonicMicroseconds(),
    wallMilliseconds: clock.wallMilliseconds(),
  });
  let past: ReadonlyMap<number, Float64Array> | null = null;
  return {
    async read(accounts) {
      past ??= readJournal(folder, bootId, moment(), onFault).times;
      return accounts.map((account) => ({ account, times: [...(past!.get(account) ?? [])] }));
    },
    async replace(counted) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const { monotonicMicroseconds: now, wallMilliseconds } = moment();
      const fail = (error: unknown) => {
        throw error;
      };
      const segments = openSegments(folder, bootId, [], fail);
      try {
        // Makes the file, though nothing may be counted.
        segments.write(Buffer.alloc(0), now);
        for await (const part of counted)
          for (const { account, times } of part) {
            const records = Buffer.alloc(recordBytes * times.length);
            for (const [i, time] of times.entries()) {
              // Rounded up, as a time that seems later is forgotten later.
              const wall = wallMilliseconds - Math.floor((now - time) / 1000);
              encodeRecord(account, time, wall).copy(records, recordBytes * i);
            }
            if (segments.write(records, now) < times.length)
              throw new Error(`ENOSPC: the counts could not be written to ${folder}`);
          }
        await segments.sync();
      } finally {
        segments.close();
      }
    },
    async close() {},
  };
}

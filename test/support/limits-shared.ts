/** Counters that several instances share, on a server whose clock a test sets. */
import assert from "node:assert/strict";
import { basename } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { type Clock, systemClock } from "#limits/clocks.ts";
import type { Quotas } from "#limits/policy.ts";
import { type Engine, openSharedCounters } from "#limits/shared-counters.ts";
import type { CountingServer } from "./counting-servers.ts";
import { eventually } from "./eventually.ts";
import type { CountersKind, Life } from "./limits-life.ts";

/** As long as a busy machine may take: with it there is no outage. */
export const longPatience = { answer: 30_000, connection: 30_000, charge: 30_000, retry: 250 };

/** Counters of one instance, without outages. */
export async function openInstance(engine: Engine, clock: Clock = systemClock()) {
  const onFault = (fault: Error | null) => assert.fail(`unexpected fault: ${fault?.message}`);
  const counters = await openSharedCounters({
    engine: { ...engine, connect: (onLost) => connectAgain(engine, onLost) },
    outage: "local",
    clock,
    onFault,
    patience: longPatience,
  });
  return {
    ...counters,
    take: async (account: number, quotas: Quotas, requests?: number) =>
      counters.take(account, quotas, requests),
    look: async (account: number, quotas: Quotas) => counters.look(account, quotas),
  };
}

/** A busy machine may take this long for an answer, and no test waits longer for an outage to be noticed. */
export const shortPatience = { answer: 1500, connection: 5000, charge: 5000, retry: 20 };

/** So much that no test meets its end. */
export const roomy: Quotas = { minute: 100_000, hour: 100_000, day: 100_000 };

/** So little that a test uses it up. */
export const tightQuotas: Quotas = { minute: 10, hour: 1000, day: 1000 };

export type FaultyInstance = Awaited<ReturnType<typeof openWithOutages>>;

/** Counters of one instance whose server may be away, with what was told of it. */
export async function openWithOutages(
  t: TestContext,
  engine: Engine,
  outage: "local" | "deny" = "local",
) {
  const faults: (string | null)[] = [];
  const onFault = (fault: Error | null) => void faults.push(fault?.message ?? null);
  const clock = systemClock();
  const order = { engine, outage, clock, onFault, patience: shortPatience };
  const counters = await openSharedCounters(order);
  t.after(() => counters.close());
  return {
    ...counters,
    faults,
    /** Asks at once; how many are admitted. */
    async admit(requests: number, account = 1) {
      const take = async () => counters.take(account, tightQuotas);
      const asked = await Promise.all(Array.from({ length: requests }, take));
      return asked.filter(({ admitted }) => admitted).length;
    },
    /** How many requests of this account are counted. */
    async counted(account = 1) {
      const { windows } = await counters.look(account, roomy);
      return roomy.day - windows[2]!.remaining;
    },
    becomes: (mode: "shared" | "local" | "deny") =>
      eventually(() => assert.equal(counters.mode(), mode), 60_000),
  };
}

const connectTries = 100;

/** A connection to PostgreSQL is given up after 1.5 s, which a busy machine may take, and the next one tried a second later. */
async function connectAgain(engine: Engine, onLost: (fault: Error) => void): Promise<void> {
  for (let left = connectTries - 1; ; left--)
    try {
      return await engine.connect(onLost);
    } catch (error) {
      if (left === 0) throw error;
      await wait(100);
    }
}

/** Two instances, of which any may get the next request; the server's clock is the wall clock of the world. */
export function sharedOn(server: CountingServer): CountersKind {
  const kind: CountersKind = {
    async open(_world, dir) {
      const engines = [await server.openEngineWithClock(), await server.openEngineWithClock()];
      const instances = await Promise.all(engines.map((engine) => openInstance(engine)));
      // Each life has accounts of its own.
      const first = 10 * Number(basename(dir));
      let turn = 0;
      const next = () => instances[turn++ % instances.length]!;
      return {
        take: (account, quotas, requests) => next().take(first + account, quotas, requests),
        look: (account, quotas) => next().look(first + account, quotas),
        commit() {},
        close: () => instances.forEach((instance) => instance.close()),
      };
    },
    now: ({ now, wallOffsetMilliseconds }) => now + 1000 * wallOffsetMilliseconds,
    setClock: (world) => server.setClock(kind.now(world)),
    events: [restart],
  };
  /** The instances end and others begin; the server goes on. */
  async function restart(life: Life): Promise<void> {
    life.tally.restarts++;
    await life.counters.close();
    life.counters = await kind.open(life.world, life.dir);
  }
  return kind;
}

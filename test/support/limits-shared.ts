/** Counters that several instances share, on a server whose clock a test sets. */
import assert from "node:assert/strict";
import { basename } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Clock, systemClock } from "#limits/clocks.ts";
import type { QuotaStatus } from "#limits/counters.ts";
import type { Engine } from "#limits/engine.ts";
import type { Quotas } from "#limits/policy.ts";
import { openSharedCounters, type SharedCounters } from "#limits/shared-counters.ts";
import type { CountingServer } from "./counting-servers.ts";
import type { CountersKind, Life } from "./limits-life.ts";

interface Instance extends SharedCounters {
  take(account: number, quotas: Quotas, requests?: number): Promise<QuotaStatus>;
  look(account: number, quotas: Quotas): Promise<QuotaStatus>;
}

/** As long as a busy machine may take: with it there is no outage. */
export const longPatience = { answer: 30_000, connection: 30_000, charge: 30_000, retry: 250 };

/** Counters of one instance, without outages. */
export async function openInstance(
  engine: Engine,
  clock: Clock = systemClock(),
): Promise<Instance> {
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
    take: async (account, quotas, requests) => counters.take(account, quotas, requests),
    look: async (account, quotas) => counters.look(account, quotas),
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

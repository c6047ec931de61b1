/** What it costs to select the records of each kind by their own values, against an operation with nothing cached. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { endWithUs } from "../clean-up.ts";
import type { Checkout, Fixtures } from "../fixtures.ts";
import type { ListsCost, ListsOrder } from "../lists.ts";
import { inTurn, openSession, type Session } from "../rounds.ts";
import { messageFrom, stop } from "../servers.ts";
import { median } from "../statistics.ts";
import { costCandidate, costSetups } from "./cost.ts";

/** How often `/fetch-signals` is asked for one sample, and before the first: different questions, each time all. */
const repeats = 4;
const warmUpRepeats = 40;
const questionCount = 60;

export const openLists = (fixtures: Fixtures, factor: 1 | 10): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const row = factor === 1 ? "lists" : "lists-650k";
    const published = await fixtures.published(checkout, factor);
    const lists = await startLists(checkout, published.dataDir);
    const { settings } = costSetups.cold;
    const dataDir = fixtures.serverFolder(published);
    const server = await fixtures.start(checkout, { dataDir, settings });
    const { gps } = await fixtures.records(1);
    const targets = gps
      .slice(0, questionCount)
      .map(
        ({ name }) =>
          `/fetch-signals?${new URLSearchParams({ gp_name: name.split(" ")[0]! }).toString()}`,
      );
    const operation = costCandidate(fixtures.load, server, {
      name: "fetch-signals",
      targets,
      key: published.keys[0]!,
      connections: 8,
      count: questionCount * 2,
    });
    await inTurn(warmUpRepeats, [operation]);
    /** µs of every round. */
    const costs = new Map<string, number[]>();
    const keep = (name: string, microseconds: number) => {
      costs.getOrInsertComputed(name, () => []).push(microseconds);
      return microseconds;
    };
    return {
      async sample() {
        const asked = median((await inTurn(repeats, [operation])).get("fetch-signals")!);
        keep("/fetch-signals", asked);
        const selected = Object.entries(await lists.measure());
        const worst = Math.max(...selected.map(([name, cost]) => keep(name, cost)));
        return { [row]: worst / asked };
      },
      note: () =>
        Array.from(costs, ([name, all]) => `${name} ${median(all).toFixed(0)} µs`).join("; "),
      async close() {
        await server.stop();
        await lists.stop();
      },
    };
  });

async function startLists({ root }: Checkout, dataDir: string) {
  const child = endWithUs(fork(join(import.meta.dirname, "../lists.ts")));
  const order: ListsOrder = { root, dataDir };
  const ready = messageFrom<string>(child);
  child.send(order);
  await ready;
  return {
    measure() {
      const costs = messageFrom<ListsCost>(child);
      child.send("measure");
      return costs;
    },
    stop: () => stop(child),
  };
}

/** C58: another process that holds a SQLite file for half a minute stops nobody's request. */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { whenDone } from "../bench/clean-up.ts";
import { done } from "../bench/program.ts";
import { quantile } from "../bench/statistics.ts";
import { holdDatabase } from "../test/support/holder-process.ts";
import { newKey } from "../test/support/own-process.ts";
import { othersThan200, stream } from "../bench/ask.ts";
import type { Fault } from "./fault.ts";
import { publishedFolder, roomy, serveQuietly } from "./work.ts";

const perSecond = 200;
const path = "/fetch-projects?limit=5";
/** Far less than what waits for the lock would take, far more than a busy machine makes of an answer. */
const slowestMax = 1000;
const stores = ["control.sqlite", "usage.sqlite"] as const;

/** Tries are seconds for each file. */
export const heldLocks: Fault = {
  name: "C58 · locks held by another process",
  promise: "every request is answered, none waits for the lock; all is written once it is free",
  tries: { quick: 3, full: 30 },
  async attempt(work, seconds) {
    const dataDir = await publishedFolder(work, 5000);
    const key = await newKey(dataDir, "client", roomy);
    const server = await serveQuietly({ dataDir });
    const broken: string[] = [];
    const seen: string[] = [];
    for (const store of stores) {
      work.tell(`${store} is held for ${seconds} s`);
      const free = await holdDatabase({ after: whenDone }, join(dataDir, store), "begin immediate");
      const load = stream({ port: server.port, path, key }, perSecond);
      await wait(seconds * 1000);
      const books = await load.end();
      await free();
      const others = othersThan200(books);
      if (others !== "") broken.push(`${store}: ${others}`);
      const slowest = Math.max(...books.milliseconds);
      if (slowest > slowestMax) broken.push(`${store}: an answer took ${Math.round(slowest)} ms`);
      seen.push(
        `${store} ${books.statuses.get(200)} × 200, p99 ${quantile(books.milliseconds, 0.99).toFixed(1)} ms`,
      );
    }
    await server.stop();
    const keys = JSON.parse(await done(dataDir, "keys", "list", "--json")) as {
      last_used_at: string | null;
    }[];
    if (!keys.some(({ last_used_at }) => last_used_at !== null))
      broken.push("the last use of the key was not written once usage.sqlite was free");
    return {
      done: `each file held for ${seconds} s under ${perSecond} requests a second`,
      seen: seen.join("; "),
      broken,
    };
  },
};

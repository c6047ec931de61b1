/** F2: `kill -9` of the server under load loses no count and admits nothing beyond a quota. */
import { setTimeout as wait } from "node:timers/promises";
import type { Server } from "../bench/program.ts";
import { quantile } from "../bench/statistics.ts";
import { newKey } from "../test/support/own-process.ts";
import { ask, othersThan200, stream, type Asked } from "../bench/ask.ts";
import type { Fault } from "./fault.ts";
import { publishedFolder, roomy, serveQuietly, type Work } from "./work.ts";

const recordCount = 100_000;
const perSecond = 200;
/** Few enough that it is used up in the first runs, and stays so over all that follow. */
const smallDaily = 300;
const path = "/fetch-projects?limit=3";

export const serverKilled: Fault = {
  name: "F2 · server killed under load",
  promise: "the right dataset and every count are there again; nothing is admitted beyond a quota",
  tries: { quick: 10, full: 100 },
  async attempt(work, tries) {
    const dataDir = await publishedFolder(work, recordCount);
    const key = await newKey(dataDir, "large", roomy);
    const smallKey = await newKey(dataDir, "small", { ...roomy, day: smallDaily });
    const broken: string[] = [];
    const startMilliseconds: number[] = [];
    const used = { sent: 0, answered: 0 };
    let [admittedToSmall, lost] = [0, 0];
    let version: string | undefined;
    for (let i = 0; i < tries; i++) {
      const server = await serveQuietly({ dataDir });
      const first = await ask({ port: server.port, path, key });
      startMilliseconds.push(server.startMilliseconds + first.milliseconds);
      version ??= first.headers["dataset-version"] as string;
      const counted = countedIn(first);
      lost += Math.max(0, used.answered - counted);
      const faults = [...firstAnswerFaults(first, version), ...countFaults(counted, used)];
      broken.push(...faults.map((fault) => `run ${i + 1}: ${fault}`));
      const lived = await liveUnderLoad(work, server, key, smallKey);
      used.sent += lived.sent + 1;
      used.answered += lived.answered + 1;
      admittedToSmall += lived.admittedToSmall;
      if (lived.others !== "") broken.push(`run ${i + 1}: ${lived.others}`);
      work.tell(`${i + 1} of ${tries} servers killed`);
    }
    if (admittedToSmall > smallDaily)
      broken.push(`${admittedToSmall} requests admitted to an account with ${smallDaily} a day`);
    return {
      done: `${tries} servers of ${recordCount.toLocaleString("en-US")} records killed under ${2 * perSecond} requests a second`,
      seen: `${used.answered} answers, ${lost} of their counts lost; ${admittedToSmall} of ${smallDaily} admitted; first answer after ${Math.round(quantile(startMilliseconds, 0.5))} ms, within a second ${startMilliseconds.filter((one) => one < 1000).length} of ${tries} times (slowest ${Math.round(Math.max(...startMilliseconds))} ms)`,
      broken,
    };
  },
};

function firstAnswerFaults({ status, headers }: Asked, version: string): string[] {
  if (status !== 200) return [`the first answer was ${status}`];
  return headers["dataset-version"] === version ? [] : ["another dataset was served"];
}

/** Requests counted before this one. */
function countedIn({ headers }: Asked): number {
  const [, remaining] = /"day";r=(\d+)/.exec(String(headers["ratelimit"])) ?? [];
  return roomy.day - Number(remaining) - 1;
}

/** What was answered is counted, and nothing was counted that was not sent. */
function countFaults(counted: number, used: { sent: number; answered: number }): string[] {
  if (counted < used.answered) return [`${used.answered - counted} counts were lost`];
  return counted > used.sent ? [`${counted - used.sent} requests were counted twice`] : [];
}

/** Some tenths of a second of load on both accounts, then the kill in the middle of it. */
async function liveUnderLoad(work: Work, server: Server, key: string, smallKey: string) {
  const { port } = server;
  const loads = [
    stream({ port, path, key }, perSecond),
    stream({ port, path, key: smallKey }, perSecond),
  ];
  await wait(200 + 800 * work.chance());
  server.child.kill("SIGKILL");
  await server.ended;
  const [books, small] = await Promise.all(loads.map((load) => load.end()));
  // What breaks off with the server is expected; any other answer than 200 is not.
  const others = othersThan200({ ...books!, cut: 0, unanswered: 0 });
  return {
    sent: books!.sent,
    answered: books!.statuses.get(200) ?? 0,
    admittedToSmall: small!.statuses.get(200) ?? 0,
    others,
  };
}

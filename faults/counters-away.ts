/** F4: while the counters that servers share are away no request fails, and no quota is exceeded but once for each server. */
import { setTimeout as wait } from "node:timers/promises";
import { quantile } from "../bench/statistics.ts";
import { othersThan200, stream } from "../bench/ask.ts";
import type { Fault } from "./fault.ts";
import {
  askEach,
  type OneOfSeveral,
  path,
  type SeveralServers,
  startSeveral,
  untilAll,
  whyNoEngines,
} from "./several-servers.ts";
import { countsLost, roomy } from "./work.ts";

const perSecond = 200;
const minuteQuota = 60;
const addedMillisecondsMax = 300;
const sharedAgainMax = 2000;
/** While the second's flush is under way Redis answers what it has not written yet. */
const lostSecondsMax = 1;
const counting = 4;
const warmingMilliseconds = 2000;
const usualMilliseconds = 3000;

/** Tries are seconds of each outage. */
export const countersAway: Fault = {
  name: "F4 · shared counters away",
  promise:
    "no request fails or waits 300 ms longer; no window admits more than the quota times the servers, or with `deny` more than the quota; no count is lost but of the last second before a kill -9; exact again within 2 s",
  tries: { quick: 3, full: 30 },
  whyNot: whyNoEngines,
  async attempt(work, seconds) {
    const denying = { COUNTERS_OUTAGE: "deny" };
    const settings = [...Array.from({ length: counting }, () => ({})), denying];
    const several = await startSeveral(work, "Redis", settings);
    const { redis } = several;
    const servers = several.servers.slice(0, counting);
    const broken: string[] = [];
    const seen: string[] = [];
    const pause = () => wait(1000 * seconds);
    const outages = [
      ["killed", redis.end, pause, redis.start],
      ["paused", async () => redis.pause(), pause, async () => redis.resume()],
      ["killed and restarted", redis.end, async () => {}, redis.start],
    ] as const;
    const usual = await usualP99(several, servers);
    let answered = 0;
    let slowest = 0;
    for (const [name, begin, middle, end] of outages) {
      work.tell(`Redis is ${name}`);
      const { key } = await several.newKey(roomy);
      const load = stream({ port: servers.map(({ port }) => port), path, key }, perSecond);
      await wait(500);
      const outcome = await tryOutage(several, servers, { begin, middle, end });
      const books = await load.end();
      const others = othersThan200(books);
      if (others !== "") outcome.broken.push(others);
      const lost = await countsLost(servers[0]!, key, books.sent);
      const lostMax = name === "paused" ? 0 : perSecond * lostSecondsMax;
      if (!(lost <= lostMax)) outcome.broken.push(`${lost} counts lost`);
      const added = quantile(books.milliseconds, 0.99) - usual;
      if (added > addedMillisecondsMax)
        outcome.broken.push(`answers took ${Math.round(added)} ms longer (p99)`);
      broken.push(...outcome.broken.map((sentence) => `${name}: ${sentence}`));
      seen.push(
        `${name}: ${outcome.admitted} of ${counting} × ${minuteQuota} admitted, ${lost} counts lost, shared again after ${outcome.sharedAgain} ms, p99 ${Math.max(0, added).toFixed(1)} ms longer`,
      );
      answered += books.statuses.get(200) ?? 0;
      slowest = Math.max(slowest, ...books.milliseconds);
    }
    const denied = await tryDeny(several, several.servers[counting]!);
    broken.push(...denied.broken);
    await several.end();
    return {
      done: `Redis killed and paused for ${seconds} s each, and killed and restarted, under ${perSecond} requests a second to ${counting} servers`,
      seen: `${answered} × 200, the slowest ${Math.round(slowest)} ms; ${seen.join("; ")}; ${denied.seen}`,
      broken,
    };
  },
};

async function usualP99({ newKey }: SeveralServers, servers: readonly OneOfSeveral[]) {
  const { key } = await newKey(roomy);
  const load = stream({ port: servers.map(({ port }) => port), path, key }, perSecond);
  // The first answers of a process wait for code to be compiled.
  await wait(warmingMilliseconds);
  load.books.milliseconds.length = 0;
  await wait(usualMilliseconds);
  return quantile((await load.end()).milliseconds, 0.99);
}

interface Outage {
  begin(): Promise<void>;
  middle(): Promise<unknown>;
  end(): Promise<void>;
}

/** An account spends a third of its minute before an outage, and asks for far more than the rest on each server meanwhile. */
async function tryOutage(
  { newKey }: SeveralServers,
  servers: readonly OneOfSeveral[],
  { begin, middle, end }: Outage,
) {
  const broken: string[] = [];
  const { key } = await newKey({ minute: minuteQuota });
  const before = (await askEach(servers, key, 5)).get(200) ?? 0;
  await begin();
  await untilAll(servers, isMode("local"));
  const during = (await askEach(servers, key, minuteQuota + 20)).get(200) ?? 0;
  await middle();
  await end();
  const sharedAgain = await untilAll(servers, isMode("shared"));
  if (sharedAgain === null || sharedAgain > sharedAgainMax)
    broken.push(`counts are shared again after ${sharedAgain ?? "more than 30,000"} ms`);
  const admitted = before + during;
  if (admitted > servers.length * minuteQuota) broken.push(`${admitted} admitted`);
  const after = (await askEach(servers, key, 10)).get(200) ?? 0;
  if (during >= minuteQuota && after > 0)
    broken.push(`${after} admitted once counts were shared again, beyond ${admitted}`);
  return { admitted, sharedAgain: Math.round(sharedAgain ?? Infinity), broken };
}

/** Nothing of what was refused is counted, and all is exact afterwards. */
async function tryDeny({ newKey, redis }: SeveralServers, server: OneOfSeveral) {
  const broken: string[] = [];
  const { key } = await newKey({ minute: minuteQuota });
  await redis.end();
  const refused = (await askEach([server], key, minuteQuota + 20)).get(503) ?? 0;
  if (refused !== minuteQuota + 20) broken.push(`deny: ${refused} refused while counts were away`);
  await redis.start();
  await untilAll([server], isMode("shared"));
  const admitted = (await askEach([server], key, minuteQuota + 20)).get(200) ?? 0;
  if (admitted !== minuteQuota) broken.push(`deny: ${admitted} admitted afterwards`);
  return { seen: `with \`deny\` ${refused} × 503, then ${admitted} × 200`, broken };
}

const isMode =
  (mode: string) =>
  async ({ countersMode }: OneOfSeveral) =>
    (await countersMode()) === mode;

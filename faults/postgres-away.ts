/** F5: whatever becomes of PostgreSQL, its servers answer known keys, refuse all else in time, and are well again by themselves. */
import { Agent } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { makeKey } from "#keys/api-key.ts";
import { type Asked, ask, othersThan200, stream } from "../bench/ask.ts";
import type { Fault } from "./fault.ts";
import {
  type OneOfSeveral,
  path,
  type SeveralServers,
  startSeveral,
  untilAll,
  whyNoEngines,
} from "./several-servers.ts";
import { countsLost, roomy } from "./work.ts";

const serverCount = 4;
const perSecond = 200;
const refusedMillisecondsMax = 2000;
/** What a machine that runs four servers and PostgreSQL on few cores may add. */
const busyMilliseconds = 500;
const backMillisecondsMax = 5000;
const sharedAgainMax = 5000;
/** Of keys, counts, datasets and account pages, those under way when it is noticed that PostgreSQL is away. */
const triesUnderWay = 4;
/** What PostgreSQL has not written to its log when its processes are killed. */
const lostSecondsMax = 1;

interface Outage {
  name: string;
  begin(several: SeveralServers): unknown;
  /** Null where it is over as soon as it has begun. */
  end: ((several: SeveralServers) => unknown) | null;
  mayLoseCounts?: boolean;
}

const outages: readonly Outage[] = [
  { name: "stopped", begin: ({ postgres }) => postgres.stop(), end: startAgain },
  {
    name: "frozen",
    begin: ({ postgres }) => postgres.signal("SIGSTOP"),
    end: ({ postgres }) => postgres.signal("SIGCONT"),
  },
  {
    name: "cut off",
    begin: ({ servers }) => servers.forEach(({ way }) => way.cut()),
    end: ({ servers }) => servers.forEach(({ way }) => way.mend()),
  },
  {
    name: "killed",
    begin: ({ postgres }) => postgres.kill(),
    end: startAgain,
    mayLoseCounts: true,
  },
  {
    name: "restarted",
    async begin(several) {
      await several.postgres.stop();
      await startAgain(several);
    },
    end: null,
  },
  {
    name: "connections ended",
    begin: ({ postgres }) =>
      postgres.run(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'serving'",
      ),
    end: null,
  },
];

function startAgain({ postgres }: SeveralServers): Promise<void> {
  return postgres.start();
}

/** Tries are seconds of each outage. */
export const postgresAway: Fault = {
  name: "F5 · PostgreSQL away",
  promise:
    "known keys work; all else is a 503 with `Retry-After` within 2 s; at most one connect a second and server; the same processes are well again within 5 s; no count is lost but of the last second before a kill -9",
  tries: { quick: 3, full: 30 },
  whyNot: whyNoEngines,
  async attempt(work, seconds) {
    const settings = Array.from({ length: serverCount }, () => ({}));
    const several = await startSeveral(work, "PostgreSQL", settings);
    const { servers } = several;
    const broken: string[] = [];
    const seen: string[] = [];
    let answered = 0;
    // The thread of the account pages starts with the first of them.
    await untilAll(servers, isBack);
    for (const outage of outages) {
      work.tell(`PostgreSQL is ${outage.name}`);
      const outcome = await tryOutage(several, outage, seconds);
      broken.push(...outcome.broken.map((sentence) => `${outage.name}: ${sentence}`));
      seen.push(`${outage.name}: ${outcome.seen}`);
      answered += outcome.answered;
    }
    for (const { child } of servers)
      if (child.exitCode !== null || child.signalCode !== null) broken.push("a server ended");
    await several.end();
    return {
      done: `PostgreSQL stopped, frozen, cut off and killed for ${seconds} s each, restarted, and its connections ended, under ${perSecond} requests a second to ${serverCount} servers`,
      seen: `${answered} × 200; ${seen.join("; ")}`,
      broken,
    };
  },
};

async function tryOutage(several: SeveralServers, outage: Outage, seconds: number) {
  const { servers } = several;
  const broken: string[] = [];
  const { key } = await several.newKey(roomy);
  // Known to every server from here on.
  let extra = 0;
  for (const { port } of servers) {
    const { status } = await ask({ port, path, key });
    if (status !== 200) broken.push(`a new key: ${status}`);
    extra++;
  }
  const load = stream({ port: servers.map(({ port }) => port), path, key }, perSecond);
  await wait(500);
  await outage.begin(several);
  const begun = performance.now();
  const triesBefore = servers.map(({ way }) => way.tries.length);
  const refused: Asked[] = [];
  let seenTries = "";
  if (outage.end !== null) {
    await Promise.all(
      servers.map(async (server) => {
        while (performance.now() - begun < 1000 * seconds) {
          refused.push(...(await Promise.all([askUnknown(server), askPage(server)])));
          await wait(200);
        }
      }),
    );
    const awaySeconds = (performance.now() - begun) / 1000;
    const tries = servers.map(({ way }, i) => way.tries.length - triesBefore[i]!);
    const most = Math.max(...tries);
    if (most > Math.ceil(awaySeconds) + triesUnderWay)
      broken.push(`${most} connects in ${awaySeconds.toFixed(1)} s`);
    seenTries = `, ${most} connects at most in ${awaySeconds.toFixed(0)} s`;
    await outage.end(several);
  }
  const back = await untilAll(servers, isBack);
  if (back === null || back > backMillisecondsMax)
    broken.push(`well again after ${Math.round(back ?? Infinity)} ms`);
  const shared = await untilAll(
    servers,
    async ({ countersMode }) => (await countersMode()) === "shared",
  );
  if (shared === null || shared > sharedAgainMax) broken.push("counts are not shared again");
  const books = await load.end();
  const others = othersThan200(books);
  if (others !== "") broken.push(`known key: ${others}`);
  const wrong = refused.filter(({ status, headers }) => {
    return status !== 503 || !/^[1-5]$/.test(String(headers["retry-after"]));
  });
  if (wrong.length > 0)
    broken.push(
      `${wrong.length} of ${refused.length} were ${[...new Set(wrong.map(({ status }) => status))].join(", ")}`,
    );
  const slowest = Math.max(0, ...refused.map(({ milliseconds }) => milliseconds));
  if (slowest > refusedMillisecondsMax + busyMilliseconds)
    broken.push(`a refusal took ${Math.round(slowest)} ms`);
  const lost = await countsLost(servers[0]!, key, books.sent + extra);
  const lostMax = outage.mayLoseCounts === true ? perSecond * lostSecondsMax : 0;
  if (!(lost <= lostMax)) broken.push(`${lost} counts lost`);
  const seenRefused =
    refused.length === 0
      ? ""
      : `${refused.length} × 503, the slowest after ${Math.round(slowest)} ms${seenTries}; `;
  return {
    answered: books.statuses.get(200) ?? 0,
    seen: `${seenRefused}well again after ${Math.round(back ?? Infinity)} ms, ${lost} counts lost`,
    broken,
  };
}

/** It can tell that a key, and a session, is none. */
async function isBack(server: OneOfSeveral): Promise<boolean> {
  const [unknown, page] = await Promise.all([askUnknown(server), askPage(server)]);
  return unknown.status === 401 && page.status === 401;
}

let asked = 0;
/** From an address of its own: one that sends too many wrong keys is answered with a 429 instead. */
async function askUnknown({ port }: OneOfSeveral): Promise<Asked> {
  asked++;
  const agent = new Agent({ localAddress: `127.2.${(asked >> 8) & 255}.${asked & 255}` });
  return ask({ port, path, key: makeKey(), agent });
}

const askPage = ({ port }: OneOfSeveral) =>
  ask({ port, path: "/account/keys", headers: { cookie: `gp_session=${"a".repeat(43)}` } });

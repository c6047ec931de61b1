/** Servers in processes of their own that share accounts, datasets and counts, as on several machines. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { endWithUs } from "../../bench/clean-up.ts";
import { ask } from "../../bench/ask.ts";
import { allCommands } from "./all-commands.ts";
import { cast } from "./cast.ts";
import { eventually } from "./eventually.ts";
import { holdSocket } from "./ports.ts";
import { newKey, roomy } from "./own-process.ts";
import { freshDatabase, whyNoPostgres } from "./postgres.ts";
import { readExposition } from "./read-exposition.ts";
import { startRedis, whyNoRedis } from "./redis.ts";
import { startServer } from "./server-process.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** What instances share, as in their settings; without `countersUrl` the counts are in PostgreSQL. */
export interface Shared {
  databaseUrl: string;
  countersUrl?: string;
}

export type Instance = Awaited<ReturnType<typeof startInstance>>;

interface Place {
  /** How far its wall clock is ahead. */
  aheadMilliseconds?: number;
  /** What its process is started under. */
  under?: readonly string[];
  /** The checkout whose program it is, this one if not given. */
  root?: string;
}

/** An instance with a data folder of its own, once it serves what is published. */
export async function startInstance(
  t: TestContext,
  { databaseUrl, countersUrl }: Shared,
  { aheadMilliseconds = 0, under = [], root }: Place = {},
) {
  const admin = holdSocket();
  const own = holdSocket();
  const startedAt = Date.now();
  const server = await startServer(t, {
    dataDir: temporaryFolder(t),
    under,
    ...(root !== undefined && { root }),
    // Held here, so that they are reached from here wherever the process of the server is.
    sockets: [
      { fd: own.fd, name: "own" },
      { fd: admin.fd, name: "admin" },
    ],
    settings: {
      DATABASE_URL: databaseUrl,
      ...(countersUrl !== undefined && { COUNTERS_URL: countersUrl }),
      ...(aheadMilliseconds > 0 && {
        NODE_OPTIONS: `--import=${join(import.meta.dirname, "clock-ahead.ts")}`,
        CLOCK_AHEAD_MILLISECONDS: String(aheadMilliseconds),
      }),
    },
  });
  t.after(() => [own, admin].forEach((socket) => socket.close()));
  /** Who counts its requests now: `shared`, or during an outage `local`. */
  const countersMode = async (): Promise<string> => {
    const text = await (await fetch(`http://127.0.0.1:${admin.port}/metrics`)).text();
    const { samples } = readExposition(text).get("gp_records_counters_mode")!;
    const [[sample] = [""]] = [...samples].filter(([, value]) => value === 1);
    return /mode="(\w+)"/.exec(sample)![1]!;
  };
  const messages = () =>
    server
      .out()
      .split("\n")
      .flatMap((line) => {
        if (!line.startsWith("{")) return [];
        return [JSON.parse(line) as { time: string; msg: string }];
      });
  await eventually(async () => assert.equal((await server.get("/ready")).status, 200), 60_000);
  // What it wrote may still be on its way through the pipe.
  await eventually(() => assert.ok(messages().length > 0));
  const { time } = messages()[0]!;
  const ahead = Date.parse(time) - aheadMilliseconds;
  assert.ok(ahead >= startedAt && ahead <= Date.now(), `${time} is not ${aheadMilliseconds} ahead`);
  return {
    ...server,
    countersMode,
    /** How often it could not share its counts so far. */
    outages: () => messages().filter(({ msg }) => msg === "counts are not shared").length,
  };
}

/** A key of a new account. */
export const newSharedKey = ({ databaseUrl }: Shared, quotas = {}): Promise<string> =>
  newKey("/nowhere", `account ${process.hrtime.bigint()}`, quotas, databaseUrl);

/** Publishes these records in place of all before, as an operator does on a machine without a server. @returns the version. */
export async function publishShared(
  t: TestContext,
  { databaseUrl }: Shared,
  records: readonly unknown[],
): Promise<string> {
  const folder = temporaryFolder(t);
  const source = join(folder, "records.ndjson");
  writeFileSync(source, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const { json } = allCommands(folder, { DATABASE_URL: databaseUrl });
  const { outcome, version } = await json("import ndjson --source own", source);
  assert.equal(outcome, "published");
  return version as string;
}

/**
 * Asserts that of 400 requests at once 60 are admitted, in turn to each instance and each time on a new account. A round in
 * which an instance could not reach the counts for a moment says nothing of them, and is repeated: one in ten at most.
 */
export async function assertSixtyEachTime(
  t: TestContext,
  shared: Shared,
  instances: readonly Instance[],
  rounds: number,
  cores: "idle" | "busy" = "idle",
): Promise<void> {
  const agents = instances.map(() => new Agent({ keepAlive: true }));
  const admitted: number[] = [];
  const repeatsMax = Math.ceil(rounds / 10);
  const keys: string[] = [];
  for (let round = 0; round < rounds + repeatsMax; round++) keys.push(await newSharedKey(shared));
  if (cores === "busy") keepCoresBusy(t);
  const outages = () => instances.reduce((sum, instance) => sum + instance.outages(), 0);
  for (const key of keys) {
    if (admitted.length === rounds) break;
    await Promise.all(instances.map(untilShared));
    const before = outages();
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, i) => {
        const turn = i % instances.length;
        const { port } = instances[turn]!;
        return ask({ port, path: "/fetch-gp?gp_name=northwind", key, agent: agents[turn]! });
      }),
    );
    const countOf = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
    assert.equal(countOf(200) + countOf(429), 400);
    // An instance is back to shared counts only once it has written of the outage.
    await Promise.all(instances.map(untilShared));
    if (outages() === before) admitted.push(countOf(200));
  }
  for (const agent of agents) agent.destroy();
  t.diagnostic(`admitted: ${admitted.join(", ")}; outages: ${outages()}`);
  assert.deepEqual(admitted, Array<number>(rounds).fill(60));
}

/** Runs an endless loop on every core until the test ends. */
function keepCoresBusy(t: TestContext): void {
  const loops = Array.from({ length: availableParallelism() }, () =>
    endWithUs(spawn(process.execPath, ["--eval", "for (;;);"], { stdio: "ignore" })),
  );
  t.after(() => loops.forEach((loop) => loop.kill("SIGKILL")));
}

export const untilShared = ({ countersMode }: Instance): Promise<unknown> =>
  eventually(async () => assert.equal(await countersMode(), "shared"), 60_000, 20);

/**
 * A client pages over the instances in turn while datasets are published: each time it sees every record of one version once,
 * or is told of another version on the way.
 */
export async function assertWholeVersions(
  t: TestContext,
  shared: Shared,
  instances: readonly Instance[],
  publications: number,
): Promise<void> {
  const key = await newSharedKey(shared, roomy);
  const namesOf = (round: number) =>
    Array.from({ length: 40 }, (_, i) => `Paged ${String(round * 7 + i).padStart(3, "0")}`);
  const publish = (round: number) => {
    const records = namesOf(round).map((name) => ({ record: "gp", id: name, name }));
    return publishShared(t, shared, records);
  };
  const walks: { version: string; names: string[] }[] = [];
  let asked = 0;
  let restarts = 0;
  const walk = async () => {
    const names: string[] = [];
    let version: string | null = null;
    for (let offset = 0; ; offset += 3) {
      const { get } = instances[asked++ % instances.length]!;
      const query = `/fetch-gp?gp_name=paged&limit=3&offset=${offset}`;
      const { status, body } = await get(query, { "x-api-key": key });
      assert.equal(status, 200);
      version ??= body.meta.dataset_version as string;
      if (body.meta.dataset_version !== version) {
        restarts++;
        return;
      }
      names.push(...body.data.map(({ name }: { name: string }) => name));
      if (!body.pagination.has_more) break;
    }
    walks.push({ version, names });
  };
  const published = new Map<string, string[]>();
  let isOver = false;
  const client = async () => {
    while (!isOver) await walk();
  };
  const publisher = async () => {
    for (let round = 0; round <= publications; round++) {
      const version = await publish(round);
      published.set(version, namesOf(round));
      await eventually(() => assert.equal(walks.at(-1)?.version, version), 60_000, 5);
    }
  };
  await Promise.all([client(), publisher().finally(() => (isOver = true))]);
  const paged = walks.filter(({ names }) => names.length > 0);
  for (const { version, names } of paged) assert.deepEqual(names, published.get(version));
  assert.equal(new Set(paged.map(({ version }) => version)).size, publications + 1);
  assert.ok(restarts >= 1, "no publication fell between two pages");
  t.diagnostic(`${paged.length} times all pages, ${restarts} times another version on the way`);
}

/** Tests what four servers whose clocks are apart do together, with either engine of the counts. */
export function testFourServers(times: { idle: number; busy: number; publications: number }): void {
  const skip = whyNoPostgres() ?? whyNoRedis() ?? false;
  void test("four servers on one PostgreSQL and one Redis", { skip }, async (t) => {
    const databaseUrl = await freshDatabase(t);
    const redis = await startRedis();
    t.after(() => redis.end());
    await publishShared(t, { databaseUrl }, cast);
    for (const [engine, shared] of [
      ["Redis", { databaseUrl, countersUrl: redis.url }],
      ["PostgreSQL", { databaseUrl }],
    ] as const)
      await t.test(`counted by ${engine}`, async (own) => {
        const instances = await Promise.all(
          [0, 5, 10, 15].map((seconds) =>
            startInstance(own, shared, { aheadMilliseconds: 1000 * seconds }),
          ),
        );
        const it = (name: string, run: (t: TestContext) => Promise<void>) => own.test(name, run);
        await it("they admit sixty of four hundred requests at once, though their clocks are five seconds apart", (one) =>
          assertSixtyEachTime(one, shared, instances, times.idle));
        await it("they do while every core is busy", (one) =>
          assertSixtyEachTime(one, shared, instances, times.busy, "busy"));
        if (engine === "Redis") return;
        await it("a client that pages over all of them in turn sees each record of a version once, or the new version", (one) =>
          assertWholeVersions(one, shared, instances, times.publications));
      });
  });
}

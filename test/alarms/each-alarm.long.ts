import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { createAccount } from "#accounts/accounts.ts";
import { alarms } from "#alarms/alarms.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { issueKey } from "#keys/keys.ts";
import { quotaMax } from "#limits/policy.ts";
import type { Labels } from "#metrics/metric.ts";
import { migratePostgres } from "#store/postgres-schema.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { openControl } from "#store/stores.ts";
import { cast } from "../support/cast.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { importRecords } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { hasTool } from "../support/installed-tool.ts";
import { hasPostgres, runSql, startPostgres, urlOf } from "../support/postgres.ts";
import { readExposition } from "../support/read-exposition.ts";
import { startServer } from "../support/server-process.ts";
import { bulkyGps } from "../support/shared-datasets.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startReceiver } from "../support/webhook-receiver.ts";

const minute = 60_000;
/** How many times as fast time passes here. */
const hurry = 10;

interface Start {
  dataDir: string;
  settings?: Record<string, string>;
}

/** A server in a process of its own with a webhook of its own. */
async function startTold(t: TestContext, name: string, { dataDir, settings = {} }: Start) {
  const receiver = await startReceiver(t);
  const adminPort = await freePort();
  const all = {
    // What is slow here is not the program's doing.
    EVENT_LOOP_DELAY_MAX_MS: "0",
    LOG_LEVEL: "warn",
    ADMIN_ADDRESS: `127.0.0.1:${adminPort}`,
    OPERATOR_WEBHOOK: receiver.url,
    HURRY: `${hurry}`,
    NODE_OPTIONS: `--import=${import.meta.resolve("../support/hurried-server.ts")}`,
    ...settings,
  };
  const start = () => startServer(t, { dataDir, settings: all });
  return {
    name,
    dataDir,
    adminPort,
    receiver,
    server: await start(),
    start,
    async metric(sample: string) {
      const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
      return readExposition(text).get(sample.replace(/\{.*/, ""))?.samples.get(sample);
    },
  };
}
type Told = Awaited<ReturnType<typeof startTold>>;

async function roomyKey(dataDir: string, databaseUrl: string | null = null): Promise<string> {
  const control = await openControl(dataDir, { databaseUrl });
  try {
    const quotas = { minute: quotaMax, hour: quotaMax, day: quotaMax };
    const account = await createAccount(control, { name: "roomy", quotas, now: Date.now() });
    return (await issueKey(control, { account, name: "a", expiresAt: null, now: Date.now() })).key;
  } finally {
    await control.close();
  }
}

const shortened = (seconds: number) => `${(seconds * 1000) / hurry}ms`;

/** Debian's Prometheus with deploy/alerts.yml, its spans of time as much shorter as the servers are hurried; ends with the test. */
async function startPrometheus(t: TestContext, servers: readonly Told[]) {
  const folder = temporaryFolder(t);
  const configuration = join(folder, "prometheus.yml");
  const rules = readFileSync("deploy/alerts.yml", "utf8").replaceAll(
    /(?<=for: |\[)(\d+)m\b/g,
    (_, minutes) => shortened(60 * Number(minutes)),
  );
  writeFileSync(join(folder, "alerts.yml"), rules);
  const scrape = {
    job_name: "gp-records",
    static_configs: servers.map(({ name, adminPort }) => ({
      targets: [`127.0.0.1:${adminPort}`],
      labels: { instance: name },
    })),
  };
  writeFileSync(
    configuration,
    JSON.stringify({
      global: { scrape_interval: shortened(15), evaluation_interval: shortened(15) },
      rule_files: ["alerts.yml"],
      scrape_configs: [scrape],
    }),
  );
  const port = await freePort();
  const args = [
    // Whatever becomes of this process.
    "1800",
    "prometheus",
    `--config.file=${configuration}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--log.level=error",
  ];
  const prometheus = spawn("timeout", args, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(prometheus, "exit");
  t.after(() => {
    prometheus.kill("SIGTERM");
    return ended;
  });
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    return ((await answer.json()) as { data: any }).data;
  };
  const query = async (text: string): Promise<{ metric: Labels; value: [number, string] }[]> =>
    (await ask(`query?query=${encodeURIComponent(text)}`)).result;
  /** A rule that is about all servers together has no instance. */
  const nameOf = ({ instance, name, alertname }: Labels) => `${instance ?? name} ${alertname}`;
  return {
    /** `server alarm` of what fires now. */
    async firing(): Promise<string[]> {
      const { alerts } = (await ask("alerts")) as { alerts: { state: string; labels: Labels }[] };
      return alerts.filter(({ state }) => state === "firing").map(({ labels }) => nameOf(labels));
    },
    /** The same of all that ever fired. */
    async fired(): Promise<Set<string>> {
      const ever = await query('last_over_time(ALERTS{alertstate="firing"}[1h])');
      return new Set(ever.map(({ metric }) => nameOf(metric)));
    },
    /** How many servers it has read. */
    async up(): Promise<number> {
      const [count] = await query("count(up==1)");
      return Number(count?.value[1] ?? 0);
    },
  };
}

/** A disk of 64 MiB, where this user may make one. */
function smallDisk(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "gp-records-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", folder]);
  t.after(() => {
    execFileSync("umount", ["--lazy", folder]);
    rmdirSync(folder);
  });
  return folder;
}

/** @returns what frees it again. */
function fillDisk(folder: string): () => void {
  const path = join(folder, "ballast");
  const file = openSync(path, "w");
  for (let size = 1 << 20; size >= 1;)
    try {
      writeSync(file, Buffer.alloc(size));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
      size >>= 1;
    }
  closeSync(file);
  return () => rmSync(path);
}

const limitFiles = (pid: number, count: number) =>
  execFileSync("prlimit", ["--pid", String(pid), `--nofile=${count}:`]);

function open(t: TestContext, port: number): Socket {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  return socket;
}

/** Connections that stay open, each with a request every five seconds. @returns what ends them. */
function holdConnections(t: TestContext, port: number, count: number): () => void {
  const sockets = Array.from({ length: count }, () => open(t, port).resume());
  const ask = () => {
    for (const socket of sockets) socket.write("GET /health HTTP/1.1\r\nhost: a\r\n\r\n");
  };
  ask();
  const timer = setInterval(ask, 5000);
  const end = () => {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  };
  t.after(end);
  return end;
}

/** Sends requests that take much room in the request log, until one was lost. */
async function loseUsage(t: TestContext, { server, metric }: Told, key: string): Promise<void> {
  const query = `gp_name=${"%C3%A9".repeat(200)}`;
  let sent = 0;
  const batch = () =>
    Array.from({ length: 100 }, () => {
      const id = String(sent++).padStart(64, "x");
      return `HEAD /fetch-gp?${query} HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\nx-request-id: ${id}\r\n\r\n`;
    }).join("");
  const socket = open(t, server.port);
  const mark = "HTTP/1.1 200";
  let answers = 0;
  let tail = "";
  socket.setEncoding("latin1").on("data", (piece: string) => {
    const text = tail + piece;
    answers += text.split(mark).length - 1;
    // A mark may be cut in two, and none may be counted twice.
    tail = text.slice(-(mark.length - 1));
  });
  while ((await metric("gp_records_usage_lost_total")) === 0) {
    assert.ok(sent < 300_000, "nothing was lost");
    for (let i = 0; i < 20; i++) {
      socket.write(batch());
      while (answers < sent - 5) await wait(1);
    }
  }
  socket.destroy();
}

/** Asks for account pages that wait for a lock. @returns what ends it. */
async function exhaustPool({ server }: Told, databaseUrl: string): Promise<() => Promise<void>> {
  const locker = new pg.Client({ connectionString: databaseUrl });
  await locker.connect();
  await locker.query("begin; lock table session in access exclusive mode");
  const headers = { cookie: `gp_session=${"a".repeat(43)}` };
  let isOver = false;
  const readers = Array.from({ length: 12 }, async () => {
    while (!isOver) await server.get("/account/keys", headers);
  });
  return async () => {
    isOver = true;
    await locker.end();
    await Promise.all(readers);
  };
}

test("each alarm of deploy/alerts.yml fires and clears in Prometheus, and the webhook is told the same, ten times as fast as in life", async (t) => {
  if (!hasTool(t, "prometheus") || !hasPostgres(t)) return;
  if (process.getuid?.() !== 0) return t.skip("skipped: only root may make a small disk");
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  await runSql(postgres.url, "create database records");
  const databaseUrl = urlOf(postgres, "records");
  await migratePostgres({ url: databaseUrl });
  const importing = ["import", "ndjson", "examples/records.ndjson", "--source", "mine"];
  const imported = await outcomeOf(process.execPath, [mainPath, ...importing], {
    DATA_DIR: temporaryFolder(t),
    DATABASE_URL: databaseUrl,
  });
  assert.equal(imported.exitCode, 0, imported.err);
  const importInto = (dataDir: string, records: readonly unknown[], nowMilliseconds = Date.now()) =>
    importRecords(openCatalogue(join(dataDir, "datasets")), records, { nowMilliseconds });

  const disk = smallDisk(t);
  await importInto(disk, cast, Date.now() - 36 * dayMilliseconds);
  const diskKey = await roomyKey(disk);
  const full = await startTold(t, "full", {
    dataDir: disk,
    settings: { USAGE_LOG_PARAMETERS: "on" },
  });

  const database = await startTold(t, "database", {
    dataDir: temporaryFolder(t),
    // A job, so that the thread that does all of them is begun with.
    settings: { DATABASE_URL: databaseUrl, AUDIT_DAYS: "30" },
  });
  const databaseKey = await roomyKey(database.dataDir, databaseUrl);

  const empty = await startTold(t, "empty", {
    dataDir: temporaryFolder(t),
    settings: { MEMORY_MAX_BYTES: "1" },
  });

  const busyFolder = temporaryFolder(t);
  await importInto(busyFolder, bulkyGps(200));
  const busyKey = await roomyKey(busyFolder);
  const busy = await startTold(t, "busy", {
    dataDir: busyFolder,
    settings: { CONNECTIONS_MAX: "80" },
  });

  const goneFolder = temporaryFolder(t);
  await importInto(goneFolder, cast);
  const gone = await startTold(t, "gone", { dataDir: goneFolder });

  const servers = [full, database, empty, busy, gone];
  const prometheus = await startPrometheus(t, servers);
  await eventually(async () => assert.equal(await prometheus.up(), servers.length), minute, 500);
  // Growth is what lies between two readings, here and there.
  await wait(5000);

  const expected = Object.entries({
    full: "CountsUnsaved UsageUnsaved UsageQueueHigh UsageLost DatasetOld DiskLow",
    database: "PoolExhausted KeysUnreadable CountsUnshared DatasetBehind",
    empty: "NotReady Overloaded FilesHigh",
    busy: "Mistakes DatasetNotServed Slow ConnectionsHigh KeysGuessed",
  }).flatMap(([server, names]) => names.split(" ").map((name) => `${server} GpRecords${name}`));
  assert.deepEqual(
    expected.map((one) => one.split(" ")[1]!).toSorted(),
    alarms.map(({ name }) => name).toSorted(),
  );
  /** What no server can tell by itself. */
  const others = ["gone GpRecordsDown", "audit GpRecordsJobIdle", "sessions GpRecordsJobIdle"];
  const told = (event: string) =>
    new Set(
      servers.flatMap(({ name, receiver: { deliveries } }) =>
        deliveries
          .filter(({ body }) => body.event === event)
          .map(({ body }) => `${name} ${body.alarm}`),
      ),
    );
  const untilBegun = (all: readonly string[]) =>
    eventually(
      async () => {
        const [fired, began] = [await prometheus.fired(), told("alarm_began")];
        assert.deepEqual(
          all.filter((one) => !fired.has(one) || !(began.has(one) || others.includes(one))),
          [],
          "have not begun in both",
        );
      },
      5 * minute,
      200,
    );

  const endPages = await exhaustPool(database, databaseUrl);
  await untilBegun(["database GpRecordsPoolExhausted"]);
  await endPages();

  await postgres.stop();
  gone.server.signal("SIGKILL");
  assert.equal((await empty.server.get("/fetch-gp?gp_name=kkr")).status, 503);
  // So many that one more or less, for an import or the webhook, makes no difference.
  const endFiles = holdConnections(t, empty.server.port, 200);
  await eventually(async () =>
    assert.ok((await empty.metric("gp_records_connections_open"))! >= 200),
  );
  limitFiles(empty.server.pid, Math.ceil((await empty.metric("process_open_fds"))! / 0.97));

  const askFor = ({ server }: Told, key: string) =>
    server.get("/fetch-gp?gp_name=kkr", { "x-api-key": key });
  busy.server.signal("SIGUSR2");
  await eventually(async () => assert.equal((await askFor(busy, busyKey)).status, 500));
  for (let i = 0; i < 40; i++)
    await askFor(busy, `${busyKey.slice(0, -1)}${busyKey.endsWith("a") ? "b" : "a"}`);
  const pointer = join(busyFolder, "datasets", "current");
  const current = readFileSync(pointer);
  writeFileSync(pointer, "nonsense\n");
  const endConnections = holdConnections(t, busy.server.port, 74);
  await eventually(async () =>
    assert.ok((await busy.metric("gp_records_connections_open"))! >= 74),
  );
  const slow = setInterval(() => void askFor(busy, busyKey).catch(() => {}), 500);
  t.after(() => clearInterval(slow));

  const freeDisk = fillDisk(disk);
  await loseUsage(t, full, diskKey);
  // What is kept is tried again with the next request.
  const later = setInterval(() => {
    for (const asked of [askFor(full, diskKey), askFor(database, databaseKey)])
      asked.catch(() => {});
  }, 500);
  t.after(() => clearInterval(later));
  await untilBegun([...others, ...expected]);

  await postgres.start();
  gone.server = await gone.start();
  limitFiles(empty.server.pid, 4096);
  endFiles();
  await importInto(empty.dataDir, cast);
  freeDisk();
  await importInto(disk, bulkyGps(10));
  clearInterval(slow);
  busy.server.signal("SIGUSR2");
  endConnections();
  writeFileSync(pointer, current);

  // On a machine that others use any of the servers may be slow for a moment, as one of the two sees it.
  const isSure = (one: string) => !one.endsWith("GpRecordsSlow");
  const untilEnded = (isMeant: (alarm: string) => boolean) =>
    eventually(
      async () => {
        assert.deepEqual((await prometheus.firing()).filter(isMeant), []);
        for (const { receiver, name } of servers)
          assert.deepEqual(receiver.deliveries.at(-1)!.body.active.filter(isMeant), [], name);
      },
      5 * minute,
      200,
    );
  await untilEnded(isSure);
  clearInterval(later);
  await untilEnded(() => true);
  assert.deepEqual(told("alarm_ended"), told("alarm_began"));
  const fired = await prometheus.fired();
  for (const one of others) fired.delete(one);
  assert.deepEqual(
    [...fired].filter(isSure).toSorted(),
    [...told("alarm_began")].filter(isSure).toSorted(),
  );
});

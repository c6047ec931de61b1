import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { timeOf } from "#datasets/generation.ts";
import { startProgram } from "../../bench/program.ts";
import { cast } from "../support/cast.ts";
import { commandDone } from "../support/command-line.ts";
import { importRecords } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import { newKey, type OwnProcess, startOwnProcess } from "../support/own-process.ts";
import { assertProblem } from "../support/problem-answer.ts";
import { canSetLimits, setLimit, whyNoLimits } from "../support/machine.ts";
import { ask } from "../support/raw-client.ts";
import { startServer } from "../support/server-process.ts";
import { fixedClock, startService, type TestClock } from "../support/service.ts";
import { type CaseOf, casesOf, settles } from "../support/still-well.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("C62 · a dataset cut in half, empty or a text file is a 503 and a line of the log with its path, until it is mended", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  await importRecords(catalogue, cast);
  const { version, bytes } = catalogue.current()!;
  const path = catalogue.pathOf(version);
  const sound = readFileSync(path);
  truncateSync(path, Math.floor(bytes / 2));
  const { port, key, log } = await startService(t, { dataDir, records: null });
  const get = () => ask(port, "/fetch-gp?gp_name=kkr", { key });
  const faults = () => log.filter((line) => line.includes('"dataset cannot be served"'));
  const damages = ["", "This is no dataset.\n".repeat(500)];
  for (let told = 1; ; told++) {
    await settles(() => faults().length >= told);
    assert.equal(faults().length, told);
    assert.ok(faults().at(-1)!.includes(path));
    assert.equal(assertProblem(await get(), 503, "unavailable").reason, "no_dataset");
    const damage = damages.shift();
    writeFileSync(path, damage ?? sound);
    // Published anew, so that it is tried anew.
    catalogue.publish(version, timeOf(Date.parse("2026-12-01T00:00:00Z") + told * 1000));
    if (damage === undefined) break;
  }
  await settles(() => log.some((line) => line.includes('"dataset is served"')));
  assert.equal((await get()).status, 200);
});

const path = "/fetch-gp?gp_name=kkr";
const hour = 3_600_000;

/** A stopped clock whose wall time can be set without time passing. */
function settableClock(startMilliseconds: number, bootId?: string) {
  const clock = fixedClock(startMilliseconds);
  let offset = 0;
  const wall = () => clock.now() + offset;
  const settable: TestClock = {
    ...clock,
    bootId: bootId ?? clock.bootId,
    wallMilliseconds: wall,
    now: wall,
  };
  return { clock: settable, set: (by: number) => void (offset += by) };
}

test("C70 · after a reboot with the clock at 1970 it starts and holds what is counted for one window at most, at 2040 the clock is believed; set back while running it changes nothing", async (t) => {
  const dataDir = temporaryFolder(t);
  const right = settableClock(Date.parse("2026-11-21T09:00:00Z")).clock;
  const first = await startService(t, { dataDir, clock: right });
  const { key } = await first.newKey({ quotas: { minute: 3 } });
  for (let i = 0; i < 3; i++) assert.equal((await ask(first.port, path, { key })).status, 200);
  await first.stop();
  for (const [wrong, isBelieved] of [
    ["1970-01-01T00:01:00Z", false],
    ["2040-06-01T00:00:00Z", true],
  ] as const) {
    const folder = join(temporaryFolder(t), "data");
    cpSync(dataDir, folder, { recursive: true });
    const { clock, set } = settableClock(Date.parse(wrong), "another-boot");
    const { port, log } = await startService(t, { dataDir: folder, clock, records: null });
    const get = () => ask(port, path, { key });
    assert.equal((await get()).status, isBelieved ? 200 : 429, wrong);
    clock.advance(60);
    for (let i = 0; i < 3; i++) assert.equal((await get()).status, 200, wrong);
    set(-hour);
    const refused = await get();
    assertProblem(refused, 429, "quota-exceeded");
    assert.equal(refused.headers["retry-after"], "60");
    clock.advance(60);
    assert.equal((await get()).status, 200, wrong);
    assert.doesNotMatch(log.join(""), /"level":[56]0/);
  }
});

/** Connections that say nothing, and more of them than there may be. */
async function silentClientCases(
  t: TestContext,
  it: CaseOf,
  { port, key, pid, log }: OwnProcess,
): Promise<void> {
  async function openSilent(count: number): Promise<Socket[]> {
    const sockets = Array.from({ length: count }, () =>
      connect(port, "127.0.0.1").on("error", () => {}),
    );
    t.after(() => sockets.forEach((socket) => socket.destroy()));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.resume();
    return sockets;
  }
  const gone = async (sockets: readonly Socket[]) => {
    for (const socket of sockets) socket.resetAndDestroy();
    await settles(() => sockets.every(({ closed }) => closed));
  };
  const answered = async () => (await ask(port, path, { key })).status;

  await it("C56 · two hundred connections that say nothing take no answer from others (thousands: npm run faults)", async () => {
    const silent = await openSilent(200);
    for (let i = 0; i < 50; i++) assert.equal(await answered(), 200);
    assert.ok(silent.every(({ closed }) => !closed));
    await gone(silent);
  });

  await it("C56 · beyond the limit of open files connections are closed without a loop in log or processor, and all is well when they are gone (Linux)", async (inner) => {
    if (!canSetLimits) return inner.skip(whyNoLimits);
    const [, before] = /^Max open files +(\d+)/m.exec(limitsOf(pid))!;
    const loggedBefore = log().length;
    setLimit(pid, "nofile", `${readdirSync(`/proc/${pid}/fd`).length + 50}:`);
    const silent = await openSilent(120);
    await settles(() => silent.some(({ closed }) => closed));
    assert.ok(
      silent.some(({ closed }) => closed),
      "all of them were kept",
    );
    await gone(silent);
    setLimit(pid, "nofile", `${before}:`);
    let status = 0;
    for (let tries = 0; tries < 50 && status !== 200; tries++)
      status = await answered().catch(() => 0);
    assert.equal(status, 200);
    const lines = log().slice(loggedBefore).split("\n");
    assert.ok(lines.length < 20, lines.join("\n"));
  });
}

const limitsOf = (pid: number) => readFileSync(`/proc/${pid}/limits`, "utf8");

function accountWithoutRoom(dataDir: string) {
  const under = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"];
  return startProgram(["accounts", "create", "--name", "Late"], { dataDir, under }).ended;
}

/** Requests of an account in the request log, which is written a second behind and made with the first of them. */
async function recordedCount(dataDir: string, account: string): Promise<number> {
  const args = ["requests", "list", "--account", account, "--limit", "1000", "--json"];
  return JSON.parse(await commandDone(dataDir, ...args)).length;
}

/** @returns a check that a server started anew on the folder knows all that was counted. */
async function noRoomCases(
  it: CaseOf,
  server: OwnProcess,
): Promise<(port: number) => Promise<void>> {
  const { dataDir, port, pid } = server;
  const key = await newKey(dataDir, "without room", { minute: 1000 });
  let asked = 0;
  const assertCounted = async (at: number) => {
    const { status, headers } = await ask(at, path, { key });
    asked++;
    assert.equal(status, 200);
    assert.match(headers["ratelimit"]!, new RegExp(`^"minute";r=${1000 - asked};`));
  };

  await it("C61 · without room for a byte answers go on and are counted, a new account is refused in words, and with room again all is kept without a restart (Linux)", async (t) => {
    if (!canSetLimits) return t.skip(whyNoLimits);
    setLimit(pid, "fsize", "0:unlimited");
    while (asked < 100) await assertCounted(port);
    await settles(() => server.log().includes("counts cannot be saved"));
    assert.match(server.log(), /"level":50.*"msg":"counts cannot be saved"/);
    await settles(() => server.log().includes("usage cannot be saved"));
    assert.match(server.log(), /"level":50.*"msg":"usage cannot be saved"/);
    const refused = await accountWithoutRoom(dataDir);
    assert.equal(refused.exitCode, exitCodes.diskFull, refused.err);
    assert.match(
      refused.err,
      /^error: .*\/control\.sqlite\. Check that its disk is neither full .*\n$/,
    );
    setLimit(pid, "fsize", "unlimited:unlimited");
    await assertCounted(port);
    await settles(() => server.log().includes("resolved: counts cannot be saved"));
    assert.match(server.log(), /"msg":"resolved: counts cannot be saved"/);
    await newKey(dataDir, "Late");
    await settles(() => server.log().includes("resolved: usage cannot be saved"));
    await eventually(async () => assert.equal(await recordedCount(dataDir, "without room"), asked));
    assert.doesNotMatch(server.log(), /usage (?:is being|was) lost/);
  });
  return assertCounted;
}

const quota = 200;
const clients = 5;

/** @param assertCounted that another account has its counts, too. */
async function serverKilledCase(
  t: TestContext,
  { dataDir, port, signal, ended }: OwnProcess,
  assertCounted: (port: number) => Promise<void>,
): Promise<void> {
  const key = await newKey(dataDir, "counted", { minute: quota });
  const name =
    "C63 · a server killed under load admits no request beyond the quota afterwards, and refuses no more too early than were under way (once; a hundred times: npm run faults)";
  await t.test(name, async () => {
    let admitted = 0;
    const askOnAndOn = async () => {
      for (;;) {
        const { status } = await ask(port, path, { key });
        if (status !== 200) return;
        if (++admitted === 100) signal("SIGKILL");
      }
    };
    await Promise.allSettled(Array.from({ length: clients }, askOnAndOn));
    assert.deepEqual(await ended, { exitCode: null, signal: "SIGKILL" });
    const again = await startServer(t, { dataDir });
    await assertCounted(again.port);
    let status = 200;
    while (status === 200) {
      ({ status } = await ask(again.port, path, { key }));
      if (status === 200) admitted++;
    }
    assert.equal(status, 429);
    assert.ok(admitted <= quota && admitted >= quota - clients, `${admitted} of ${quota}`);
  });
}

test("a server in a process of its own, at the end of what it may have, and killed", async (t) => {
  const server = await startOwnProcess(t);
  const it = casesOf(t, server);
  await silentClientCases(t, it, server);
  const assertCounted = await noRoomCases(it, server);
  await serverKilledCase(t, server, assertCounted);
});

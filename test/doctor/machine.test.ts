import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { type Check, examine, type Status } from "#doctor/check.ts";
import { judgeLimits, limits } from "#doctor/limits.ts";
import { barred, port } from "#doctor/port.ts";
import { settings } from "#doctor/settings.ts";
import { judgeVersions, versions } from "#doctor/versions.ts";
import { webhook } from "#doctor/webhook.ts";
import { allCommands } from "../support/all-commands.ts";
import { cast } from "../support/cast.ts";
import { outcomeOf } from "../support/command-line.ts";
import { changeFacts } from "../support/damage.ts";
import { importRecords } from "../support/dataset.ts";
import { finding, look } from "../support/doctor.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startReceiver } from "../support/webhook-receiver.ts";

async function portOf(t: TestContext, server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return String((server.address() as AddressInfo).port);
}

test("every wrong setting is named, and the folder is looked at all the same", async (t) => {
  const dataDir = temporaryFolder(t);
  assert.match(
    (await finding("ok", settings, dataDir)).found,
    new RegExp(`DATA_DIR is ${dataDir}$`),
  );
  const found = await look(settings, dataDir, { settings: { PORT: "http", LOG_LEVEL: "loud" } });
  assert.deepEqual(
    found.map(({ status, found: words }) => [status, words.split(" ")[0]]),
    [
      ["fail", "PORT"],
      ["fail", "LOG_LEVEL"],
    ],
  );
  const SMTP_URL = "smtp://mail.example";
  const elsewhere = await look(settings, dataDir, { settings: { SMTP_URL, HOST: "0.0.0.0" } });
  assert.match(elsewhere[0]!.found, /^PUBLIC_URL must be set where SMTP_URL is/);
  assert.equal(elsewhere[0]!.status, "fail");
  const [, here] = await look(settings, dataDir, { settings: { SMTP_URL } });
  assert.equal(here!.status, "warn");
  assert.match(here!.found, /mailed lead to http:\/\/127\.0\.0\.1:8080/);
  assert.match(here!.mend!, /PUBLIC_URL/);
  const unset = await look(settings, dataDir, { settings: { DATA_DIR: "" } });
  assert.match(unset[0]!.found, /DATA_DIR is not set, so it is \/.*data$/);
});

test("a check that cannot be made fails with its reason, and the others are made", async () => {
  const broken: Check = {
    name: "broken",
    look() {
      throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    },
  };
  const given = {
    environment: {},
    environmentFile: null,
    program: "1.2.3",
    now: 0,
    isThorough: false,
  };
  const [first, second] = await examine([broken, versions], given);
  assert.equal(first!.found, "could not be checked: EACCES: permission denied");
  assert.match(first!.mend!, /as the user who owns DATA_DIR/);
  assert.equal(second!.status, "ok");
});

test("a Node or an SQLite that is too old is named", async (t) => {
  assert.match(
    (await finding("ok", versions, temporaryFolder(t))).found,
    /^gp-records 1\.2\.3, Node /,
  );
  const judge = (node: string, sqlite: string) => judgeVersions("1.2.3", { node, sqlite });
  assert.equal(judge("24.15.0", "3.51.3").status, "ok");
  assert.match(judge("24.14.9", "3.51.3").found, /^this is Node 24\.14\.9; .* 24\.15 or newer/);
  assert.match(judge("26.10.0", "3.51.2").found, /SQLite 3\.51\.2, which can lose committed data/);
});

const cliPath = new URL(import.meta.resolve("#cli/main.ts")).pathname;

test("a limit on the size of files is named", async (t) => {
  if (process.platform !== "linux") return t.skip("Linux only");
  const dataDir = temporaryFolder(t);
  await finding("ok", limits, dataDir);
  // In blocks of 512 or 1024 bytes, as the shell has it.
  const script = `ulimit -f 2000; exec "$0" "$@"`;
  const { out } = await outcomeOf(
    "sh",
    ["-c", script, process.execPath, cliPath, "doctor", "--json"],
    { PATH: process.env["PATH"], DATA_DIR: dataDir, PORT: "0" },
  );
  const { checks } = JSON.parse(out) as {
    checks: { check: string; status: string; found: string; mend: string }[];
  };
  const found = checks.filter(({ status }) => status !== "ok");
  assert.deepEqual(
    found.map(({ check }) => check),
    ["limits"],
  );
  assert.match(found[0]!.found, /may write no file over \S+ [KM]iB, but may need one of 64 MiB/);
  assert.match(found[0]!.mend, /ulimit -f unlimited/);
});

test("a limit on open files below CONNECTIONS_MAX is named", () => {
  const fileBytes = Number.POSITIVE_INFINITY;
  const needs = { fileBytes: 0, openFiles: 5100 };
  assert.deepEqual(judgeLimits("it", { fileBytes, openFiles: 5100 }, needs), []);
  const [fault] = judgeLimits("it", { fileBytes, openFiles: 1024 }, needs);
  assert.equal(fault!.found, "it may open 1024 files, but 5100 may be needed");
  assert.match(fault!.mend!, /ulimit -n 5100.*CONNECTIONS_MAX/);
});

test("a port that is free, and one that another program holds, are told apart", async (t) => {
  const dataDir = temporaryFolder(t);
  const lookAt = (status: "ok" | "fail", number: string) =>
    finding(status, port, dataDir, { settings: { PORT: number } });
  const other = createServer((socket) => socket.resume().end("220 ready\r\n"));
  const number = await portOf(t, other);
  const { found, mend } = await lookAt("fail", number);
  assert.match(found, new RegExp(`^127\\.0\\.0\\.1:${number} is held by another program`));
  assert.match(mend, /set PORT to another port/);
  await new Promise((resolve) => other.close(resolve));
  assert.equal((await lookAt("ok", number)).found, `127.0.0.1:${number} is free`);
  assert.match((await lookAt("ok", "0")).found, /takes a free one/);
  const web = createHttpServer((_, answer) => answer.end("hello"));
  assert.match((await lookAt("fail", await portOf(t, web))).found, /it answers with status 200/);
});

test("a HOST that nobody can listen on is not said to be free, nor to be held", async (t) => {
  const dataDir = temporaryFolder(t);
  const lookAt = (HOST: string, PORT: string) =>
    finding("fail", port, dataDir, { settings: { HOST, PORT } });
  // Kept for documentation (RFC 5737), so no machine has it.
  for (const number of ["8080", "0"]) {
    const { found, mend } = await lookAt("192.0.2.1", number);
    assert.equal(found, `nobody can listen on 192.0.2.1:${number} (EADDRNOTAVAIL)`);
    assert.equal(mend, "Set HOST to an address of this machine.");
  }
  // Never a name of anything (RFC 6761).
  const { found, mend } = await lookAt("gp-records.invalid", "8080");
  assert.match(found, /^nobody can listen on gp-records\.invalid:8080 \((ENOTFOUND|EAI_AGAIN)\)$/);
  assert.match(mend, /^Set HOST /);
});

test("a port that only root may listen on is named, if nobody answers there", () => {
  const { found, mend } = barred({ host: "127.0.0.1", port: 80 }, "EACCES", {
    host: "HOST",
    port: "PORT",
  });
  assert.equal(found, "this user may not listen on 127.0.0.1:80 (EACCES)");
  assert.equal(mend, "Set PORT to a port above 1023.");
});

test("an ADMIN_ADDRESS that is free, held by another program, or no address of this machine is told", async (t) => {
  const dataDir = temporaryFolder(t);
  const lookAt = async (status: Status, ADMIN_ADDRESS: string) => {
    const [ofPort, admin] = await look(port, dataDir, { settings: { PORT: "0", ADMIN_ADDRESS } });
    assert.equal(ofPort!.status, "ok");
    assert.equal(admin!.status, status, admin!.found);
    return admin!;
  };
  const other = createServer();
  const place = `127.0.0.1:${await portOf(t, other)}`;
  const held = await lookAt("fail", place);
  assert.equal(held.found, `${place}, the ADMIN_ADDRESS, is held by another program`);
  assert.match(held.mend!, /set ADMIN_ADDRESS to another port/);
  await new Promise((resolve) => other.close(resolve));
  assert.match((await lookAt("ok", place)).found, /is free$/);
  const nowhere = await lookAt("fail", "192.0.2.1:9464");
  assert.equal(nowhere.found, "nobody can listen on 192.0.2.1:9464 (EADDRNOTAVAIL)");
  assert.equal(nowhere.mend, "Set ADMIN_ADDRESS to an address of this machine.");
});

test("an ADMIN_ADDRESS that the server of the folder holds is no fault", async (t) => {
  const service = await startService(t, { settings: { ADMIN_ADDRESS: "127.0.0.1:0" } });
  const lookAt = async (ADMIN_ADDRESS: string) => {
    const settings = { PORT: String(service.port), ADMIN_ADDRESS };
    return (await look(port, service.dataDir, { settings }))[1]!;
  };
  const place = service.adminAddress!.replace("http://", "");
  assert.equal((await lookAt(place)).status, "ok");
  const other = createServer();
  const free = `127.0.0.1:${await portOf(t, other)}`;
  await new Promise((resolve) => other.close(resolve));
  const { status, found } = await lookAt(free);
  assert.equal(status, "warn");
  assert.match(found, /does not listen at .* for its metrics$/);
});

test("the server of the folder is told from one of another folder, and from one that is not ready", async (t) => {
  const ready = await startService(t);
  const empty = await startService(t, { records: null });
  const lookAt = (status: "ok" | "warn" | "fail", dataDir: string, number: number) =>
    finding(status, port, dataDir, { settings: { PORT: String(number) } });
  assert.match((await lookAt("ok", ready.dataDir, ready.port)).found, /, which is ready$/);
  assert.match((await lookAt("warn", empty.dataDir, empty.port)).found, /not ready: no_dataset$/);
  const elsewhere = await lookAt("fail", temporaryFolder(t), ready.port);
  assert.match(elsewhere.found, /held by a gp-records of another data folder/);
  await empty.stop();
  assert.match((await lookAt("warn", ready.dataDir, empty.port)).found, /does not answer at/);
});

test("a server that serves nothing though a dataset is named is a fault, and what doctor says leads to the mend", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { version, hash } = (await importRecords(catalogue, cast)).published!;
  changeFacts(catalogue.folder, version, { hash: "0".repeat(64) });
  const refusing = await startService(t, { dataDir, records: null });
  assert.equal((await refusing.get("/ready")).body.reason, "no_dataset");
  const settings = { PORT: String(refusing.port) };
  const { found, mend } = await finding("fail", port, dataDir, { settings });
  assert.match(found, new RegExp(`serves no dataset, though ${version} is the one to be served$`));
  assert.ok(mend.startsWith("'gp-records datasets verify'"), mend);
  assert.ok(mend.endsWith(`: gp-records datasets publish ${version}`), mend);

  const { text, start } = allCommands(dataDir);
  assert.match((await start("datasets", "verify")).out, /"hash" is "0{64}" instead of/);
  changeFacts(catalogue.folder, version, { hash });
  await text("datasets", "publish", version);
  await refusing.stop();
  const serving = await startService(t, { dataDir, records: null });
  await finding("ok", port, dataDir, { settings: { PORT: String(serving.port) } });
});

test("the host of OPERATOR_WEBHOOK is connected to and told nothing; one that is away, or without a sound certificate, is named", async (t) => {
  const dataDir = temporaryFolder(t);
  assert.deepEqual(await look(webhook, dataDir), []);
  const receiver = await startReceiver(t);
  const given = (OPERATOR_WEBHOOK: string) => ({ settings: { OPERATOR_WEBHOOK } });
  const { host } = new URL(receiver.url);
  const well = await finding("ok", webhook, dataDir, given(receiver.url));
  assert.equal(well.found, `${host}, the host of OPERATOR_WEBHOOK, can be reached`);
  assert.deepEqual(receiver.deliveries, []);
  const plain = await finding(
    "fail",
    webhook,
    dataDir,
    given(receiver.url.replace("http", "https")),
  );
  assert.match(plain.found, new RegExp(`^${host}, .*cannot be reached .*nobody would be told`));
  assert.doesNotMatch(plain.found + plain.mend, /secret/);
  await receiver.stop();
  const away = await finding("fail", webhook, dataDir, given(receiver.url));
  assert.match(away.found, /ECONNREFUSED/);
});

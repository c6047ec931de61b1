import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, Server } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { type Check, examine, type Status } from "#doctor/check.ts";
import { dataFolder, fileSystem, judgeFileSystem, judgeSpace, modes } from "#doctor/folder.ts";
import { port, settings } from "#doctor/settings.ts";
import { cast } from "../support/cast.ts";
import { importRecords } from "../support/dataset.ts";
import { finding, look } from "../support/doctor.ts";
import { listenFor } from "../support/ports.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("every wrong setting is named, and the folder is looked at all the same", async (t) => {
  const dataDir = temporaryFolder(t);
  const { found: whole } = await finding("ok", settings, dataDir);
  assert.match(whole, new RegExp(`DATA_DIR is ${dataDir}$`));
  const wrong = await look(settings, dataDir, { settings: { PORT: "http", LOG_LEVEL: "loud" } });
  const found = wrong.map(({ status, found: words }) => `${status} ${words.split(" ")[0]}`);
  assert.deepEqual(found, ["fail PORT", "fail LOG_LEVEL"]);
  const SMTP_URL = "smtp://mail.example";
  const elsewhere = await look(settings, dataDir, { settings: { SMTP_URL, HOST: "0.0.0.0" } });
  assert.match(elsewhere[0]!.found, /^SMTP_URL is set and PUBLIC_URL is not, /);
  assert.equal(elsewhere[0]!.status, "fail");
  const [, here] = await look(settings, dataDir, { settings: { SMTP_URL } });
  assert.equal(here!.status, "warn");
  assert.match(here!.found, /links in mail lead to http:\/\/127\.0\.0\.1:8080/);
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
  const given = { environment: {}, environmentFile: null };
  const [first, second] = await examine([broken, settings], given);
  assert.equal(first!.found, "could not be checked: EACCES: permission denied");
  assert.match(first!.mend!, /as the user who owns DATA_DIR/);
  assert.equal(second!.status, "ok");
});

/** Looks at a place that one of the two settings names, while the other one takes a free port. */
async function lookAt(t: TestContext, status: Status, given: Record<string, string>) {
  const found = await look(port, temporaryFolder(t), { settings: { PORT: "0", ...given } });
  const one = found.at(-1)!;
  assert.equal(one.status, status, one.found);
  for (const other of found.slice(0, -1)) assert.equal(other.status, "ok");
  return { found: one.found, mend: one.mend ?? "" };
}

test("a place to listen on that is free, and one that another program holds, are told apart", async (t) => {
  for (const [name, settingsFor] of [
    ["PORT", (PORT: string) => ({ PORT })],
    ["ADMIN_ADDRESS", (number: string) => ({ ADMIN_ADDRESS: `127.0.0.1:${number}` })],
  ] as const) {
    const other = createServer((socket) => socket.resume().end("220 ready\r\n"));
    const number = String(await listenFor(t, other));
    const { found, mend } = await lookAt(t, "fail", settingsFor(number));
    assert.equal(found, `127.0.0.1:${number} is held by another program`);
    assert.ok(mend.endsWith(`choose another port in ${name}.`), mend);
    await new Promise((resolve) => other.close(resolve));
    const free = await lookAt(t, "ok", settingsFor(number));
    assert.equal(free.found, `127.0.0.1:${number} is free`);
    const web = createHttpServer((_, answer) => answer.end("hello"));
    const held = await lookAt(t, "fail", settingsFor(String(await listenFor(t, web))));
    assert.match(held.found, /held by another program/);
  }
  assert.match((await lookAt(t, "ok", {})).found, /takes a free port/);
});

test("a host that nobody can listen on is not said to be free, nor to be held", async (t) => {
  // Kept for documentation (RFC 5737), so no machine has it.
  for (const [name, given, place] of [
    ["HOST", { HOST: "192.0.2.1", PORT: "8080" }, "192.0.2.1:8080"],
    ["HOST", { HOST: "192.0.2.1", PORT: "0" }, "192.0.2.1:0"],
    ["ADMIN_ADDRESS", { ADMIN_ADDRESS: "192.0.2.1:9464" }, "192.0.2.1:9464"],
  ] as const) {
    const { found, mend } = await lookAt(t, "fail", given);
    assert.equal(found, `cannot listen on ${place} (EADDRNOTAVAIL)`);
    assert.equal(mend, `Choose an address of this machine in ${name}.`);
  }
  // Never a name of anything (RFC 6761).
  const { found } = await lookAt(t, "fail", { HOST: "gp-records.invalid", PORT: "8080" });
  assert.match(found, /^cannot listen on gp-records\.invalid:8080 \((ENOTFOUND|EAI_AGAIN)\)$/);
});

test("a port that only root may listen on is named", async (t) => {
  // Root may, and tests may run as root.
  t.mock.method(Server.prototype, "listen", function (this: Server) {
    setImmediate(() => this.emit("error", Object.assign(new Error(), { code: "EACCES" })));
  });
  const given = { settings: { PORT: "80" } };
  const { found, mend } = await finding("fail", port, temporaryFolder(t), given);
  assert.equal(found, "this user may not listen on 127.0.0.1:80 (EACCES)");
  assert.equal(mend, "Choose a port above 1023 in PORT.");
});

test("ports that a running gp-records holds are no fault", async (t) => {
  const service = await startService(t, { settings: { ADMIN_ADDRESS: "127.0.0.1:0" } });
  const ADMIN_ADDRESS = service.adminAddress!.replace("http://", "");
  const settings = { PORT: String(service.port), ADMIN_ADDRESS };
  for (const { status, found } of await look(port, service.dataDir, { settings })) {
    assert.equal(status, "ok");
    assert.match(found, /is held by a running gp-records$/);
  }
});

test("a file in place of the folder, or above it, is named", async (t) => {
  const file = join(temporaryFolder(t), "file");
  writeFileSync(file, "");
  const { found, mend } = await finding("fail", dataFolder, file);
  assert.equal(found, `DATA_DIR is ${file}, but ${file} is not a folder`);
  const below = await finding("fail", dataFolder, join(file, "a", "data"));
  assert.match(below.found, new RegExp(`, but ${RegExp.escape(file)} is not a folder$`));
  assert.match(mend, /DATA_DIR/);
  chmodSync(file, 0o644);
  await finding("ok", modes, file);
});

test("a folder that others may read or write is named, and the command that is named mends it", async (t) => {
  const dataDir = temporaryFolder(t);
  await importRecords(openCatalogue(join(dataDir, "datasets")), cast);
  await finding("ok", modes, dataDir);
  for (const [mode, status, words] of [
    [0o755, "warn", "read or search"],
    [0o750, "warn", "read or search"],
    [0o777, "fail", "write to"],
  ] as const) {
    chmodSync(dataDir, mode);
    const { found, mend } = await finding(status, modes, dataDir);
    assert.equal(found, `other users may ${words} ${dataDir} (mode 0${mode.toString(8)})`);
    execFileSync("sh", ["-c", mend]);
    await finding("ok", modes, dataDir);
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  }
});

test("a disk that is nearly full is a fault", () => {
  const mib = 1024 ** 2;
  assert.equal(judgeSpace("/data", 100 * mib).status, "ok");
  const { status, found } = judgeSpace("/data", 63 * mib);
  assert.equal(status, "fail");
  assert.match(found, /^only 63 MiB are free .*; the server needs 64 MiB/);
});

test("file systems of a network are told from those of this machine", async (t) => {
  await finding("ok", fileSystem, temporaryFolder(t));
  if (process.platform !== "linux") return;
  for (const [type, name] of [
    [0x6969, "NFS"],
    [0x517b, "SMB"],
    [0xff534d42, "SMB"],
    [0xff534d42 | 0, "SMB"],
    [0x01021997, "9p"],
  ] as const) {
    const { status, found, mend } = judgeFileSystem("/data", type);
    assert.equal(status, "fail");
    assert.ok(found.includes(name), found);
    assert.match(mend!, /DATA_DIR/);
  }
  assert.equal(judgeFileSystem("/data", 0x65735546).status, "warn");
  assert.equal(judgeFileSystem("/data", 0xef53).status, "ok");
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { withEnvironmentFile } from "#config/environment-file.ts";
import { settings as settingsCheck } from "#doctor/settings.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { finding, look } from "../support/doctor.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function fileWith(t: TestContext, text: string, mode = 0o600): string {
  const name = join(temporaryFolder(t), ".env");
  writeFileSync(name, text);
  chmodSync(name, mode);
  return name;
}

test("known settings of the file are taken, others are left alone", (t) => {
  const name = fileWith(t, "# mine\nPORT=9001\nexport LOG_LEVEL='warn'\nNODE_OPTIONS=--inspect\n");
  const { environment, file } = withEnvironmentFile({ PATH: "/bin" }, { name });
  assert.deepEqual(environment, { PATH: "/bin", PORT: "9001", LOG_LEVEL: "warn" });
  assert.deepEqual(file, {
    path: name,
    used: ["PORT", "LOG_LEVEL"],
    unknown: ["NODE_OPTIONS"],
    ignored: null,
  });
});

test("the environment wins over the file, be it empty, and for a secret in either of its two settings", (t) => {
  const secret = "smtps://user:geheim@mail.example";
  const name = fileWith(t, `PORT=9001\nHOST=::1\nSMTP_URL=${secret}\n`);
  const given = { PORT: "", SMTP_URL_FILE: "/run/secrets/smtp" };
  const { environment, file } = withEnvironmentFile(given, { name });
  assert.deepEqual(environment, { ...given, HOST: "::1" });
  assert.deepEqual(file!.used, ["HOST"]);
  assert.equal(withEnvironmentFile({}, { name }).environment["SMTP_URL"], secret);
});

test("where there is no such file, or a folder of that name, nothing is read and nothing named", (t) => {
  const name = join(temporaryFolder(t), ".env");
  assert.deepEqual(withEnvironmentFile({}, { name }), { environment: {}, file: null });
  mkdirSync(name);
  assert.deepEqual(withEnvironmentFile({}, { name }), { environment: {}, file: null });
});

const ignoredOf = (name: string, user = process.geteuid?.()) => {
  const { environment, file } = withEnvironmentFile({}, { name, user });
  assert.deepEqual(environment, {});
  assert.deepEqual(file!.used, []);
  return file!.ignored!;
};

test("a file that others may write is ignored, and the command that is named mends that", (t) => {
  for (const mode of [0o620, 0o602, 0o666]) {
    const name = fileWith(t, "PORT=9001\n", mode);
    const { found, mend } = ignoredOf(name);
    assert.equal(found, `can be written by others (mode 0${mode.toString(8)})`);
    execFileSync("sh", ["-c", mend.slice(mend.indexOf("chmod"))]);
    assert.equal(withEnvironmentFile({}, { name }).environment["PORT"], "9001");
  }
});

test("a file of another user, or a link that another user made, is ignored; one of root's is read", (t) => {
  const name = fileWith(t, "PORT=9001\n", 0o644);
  const owner = statSync(name).uid;
  if (owner === 0) {
    assert.equal(withEnvironmentFile({}, { name, user: 1234 }).environment["PORT"], "9001");
    chownSync(name, 4321, 4321);
  }
  const foreign = owner === 0 ? 4321 : owner;
  assert.match(ignoredOf(name, 1234).found, new RegExp(`^belongs to user ${foreign}, not to `));
  const link = join(temporaryFolder(t), ".env");
  symlinkSync(name, link);
  assert.match(ignoredOf(link, 1234).found, new RegExp(`^belongs to user ${foreign}, not to `));
});

test("what is no file of settings is ignored without being waited for", (t) => {
  const pipe = join(temporaryFolder(t), ".env");
  execFileSync("mkfifo", ["-m", "600", pipe]);
  assert.match(ignoredOf(pipe).found, /^is no regular file/);
  assert.match(ignoredOf(fileWith(t, "#".repeat(65_537))).found, /at most 64 KiB/);
  const lost = join(temporaryFolder(t), ".env");
  symlinkSync("nowhere", lost);
  assert.equal(ignoredOf(lost).found, "cannot be read (ENOENT)");
});

test("every command reads the file of its working folder, or names it in one line and goes on without", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, ".env");
  writeFileSync(file, "DATA_DIR=from-file\nPORT=many\n", { mode: 0o600 });
  const run = (...args: string[]) =>
    outcomeOf(
      "sh",
      ["-c", `cd '${folder}' && exec "$0" "$@"`, process.execPath, mainPath, ...args],
      {
        PATH: process.env["PATH"],
      },
    );
  const refused = await run("accounts", "list");
  assert.equal(refused.exitCode, 2);
  assert.match(refused.err, /^error: PORT must be .* but is 'many'\.\n$/);
  writeFileSync(file, "DATA_DIR=from-file\n");
  assert.equal((await run("accounts", "create", "--name", "Acme")).exitCode, 0);
  assert.ok(statSync(join(folder, "from-file", "control.sqlite")).isFile());
  const doctor = await run("doctor");
  assert.ok(doctor.out.includes(`${file} sets DATA_DIR\n`), doctor.out);
  chmodSync(file, 0o666);
  const { exitCode, out, err } = await run("accounts", "list", "--json");
  assert.deepEqual([exitCode, out], [0, "[]\n"]);
  assert.match(
    err,
    /^warning: \/\S+\/\.env can be written by others \(mode 0666\): it is ignored\. .*\n$/,
  );
});

test("doctor names the file, what it sets, and what else stands in it", async (t) => {
  const dataDir = temporaryFolder(t);
  const environmentFile = { path: "/srv/.env", used: ["PORT"], unknown: [], ignored: null };
  const judged = async (changes: object, settings = {}) =>
    look(settingsCheck, dataDir, {
      environmentFile: { ...environmentFile, ...changes },
      settings,
    });
  assert.equal((await judged({}))[1]!.found, "/srv/.env sets PORT");
  const unknown = ["PROT", "\u001b[2J"];
  assert.equal(
    (await judged({ unknown, used: [] }))[1]!.found,
    "/srv/.env sets no setting; other names in it are no settings and not read: PROT, 1 more",
  );
  const [wrong] = await judged({}, { PORT: "many" });
  assert.match(wrong!.mend!, /^Correct it in the environment or in \/srv\/\.env; /);
  const ignored = { found: "is ours", mend: "Mend it." };
  const [, warned] = await judged({ ignored });
  assert.deepEqual(warned, {
    check: "settings",
    status: "warn",
    found: "/srv/.env is ours: it is ignored",
    mend: "Mend it.",
  });
  await finding("ok", settingsCheck, dataDir);
});

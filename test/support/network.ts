/** A network of machines for one test: each is a network namespace of Linux, joined to the one that servers run on by a cable of its own. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readlinkSync } from "node:fs";
import type { TestContext } from "node:test";
import { endWithUs } from "../../bench/clean-up.ts";
import { eventually } from "./eventually.ts";

/**
 * Why there can be no such network here; null where there can.
 * @throws Error in CI, where a skipped test would look like one that passed.
 */
export function whyNoNetwork(): string | null {
  const reason = findReason();
  if (reason !== null && process.env["CI"]) throw new Error(reason);
  return reason;
}

function findReason(): string | null {
  for (const [name, debianPackage] of [
    ["unshare", "util-linux"],
    ["nsenter", "util-linux"],
    ["ip", "iproute2"],
    ["iptables", "iptables"],
  ] as const)
    if (spawnSync(name, ["-V"]).error !== undefined)
      return `skipped: no ${name} (apt-get install ${debianPackage})`;
  if (process.getuid?.() !== 0) return "skipped: only root makes network namespaces";
  const { status, stderr } = spawnSync("unshare", ["--net", "true"], { encoding: "utf8" });
  return status === 0 ? null : `skipped: no network namespace can be made here (${stderr.trim()})`;
}

/** Longer than any test. */
const aliveSeconds = "3600";

/** Gone when the test is over, with all that is on it. */
export async function openNetwork(t: TestContext) {
  const open = async () => {
    // A namespace lasts as long as a process in it.
    const holder = endWithUs(
      spawn("unshare", ["--net", "sleep", aliveSeconds], { stdio: "ignore" }),
    );
    t.after(() => void holder.kill("SIGKILL"));
    const file = `/proc/${holder.pid}/ns/net`;
    const ours = readlinkSync("/proc/self/ns/net");
    await eventually(() => {
      if (readlinkSync(file) === ours) throw new Error("There is no namespace yet.");
    });
    const under = ["nsenter", `--net=${file}`];
    const run = (...command: readonly string[]) =>
      void execFileSync(under[0]!, [...under.slice(1), ...command], { stdio: "pipe" });
    run("ip", "link", "set", "lo", "up");
    return { pid: holder.pid!, under, run };
  };
  const servers = await open();
  const spare = await Promise.all([open(), open()]);
  let joined = 0;
  return {
    /** What the servers are started under. */
    under: servers.under,
    /** Adds a machine. */
    join() {
      const { pid, under, run } = spare[joined]!;
      const number = ++joined;
      const [far, near] = [`10.213.${number}.1`, `10.213.${number}.2`];
      const cable = `cable${number}`;
      const ends = ["type", "veth", "peer", "name", "cable", "netns", String(pid)];
      servers.run("ip", "link", "add", cable, ...ends);
      servers.run("ip", "address", "add", `${far}/30`, "dev", cable);
      servers.run("ip", "link", "set", cable, "up");
      run("ip", "address", "add", `${near}/30`, "dev", "cable");
      run("ip", "link", "set", "cable", "up");
      const rule = ["OUTPUT", "--destination", far, "--jump", "DROP"];
      return {
        /** Of the servers' machine, as this one reaches it. */
        serverAddress: far,
        /** What a process is started under to be on it; it may use its files and its inherited sockets as before. */
        under,
        /** Pulls the cable: whoever sends is told at once. */
        unplug: () => run("ip", "link", "set", "cable", "down"),
        plugIn: () => run("ip", "link", "set", "cable", "up"),
        /** What it sends to the servers vanishes, and nobody is told. */
        drop: () => run("iptables", "--append", ...rule),
        passAgain: () => run("iptables", "--delete", ...rule),
      };
    },
  };
}

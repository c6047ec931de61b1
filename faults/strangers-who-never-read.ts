/** F17: strangers on a thousand connections, who send what they like and read nothing, delay nobody and fill no memory, with and without a proxy in front. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ask } from "../bench/ask.ts";
import { endWithUs } from "../bench/clean-up.ts";
import { findProgram, whyNot } from "../bench/not-installed.ts";
import type { Server } from "../bench/program.ts";
import { residentBytes } from "../bench/servers.ts";
import { canConnect } from "../test/support/ports.ts";
import { type ProxyName, proxyNames, startProxy } from "../test/support/proxies.ts";
import type { Fault, Finding } from "./fault.ts";
import { type Attack, requestsToWarmUp, ways } from "./strangers.ts";
import { publishedFolder, serveQuietly, type Work } from "./work.ts";

const mebibyte = 2 ** 20;
const growthMax = 64 * mebibyte;
const healthMaxMilliseconds = 100;
const askEveryMilliseconds = 20;
const warmingClients = 64;
const warmingMilliseconds = 4000;
const attackMilliseconds = 2500;
const afterMilliseconds = 1000;

const connections = 1000;

const promise =
  "whatever the connections of one address send without reading, `/health` is answered within 100 ms on a connection that stands, and the server takes at most 64 MiB more";

/** Tries are ways, the first ones. */
export const strangersWhoNeverRead: Fault = {
  name: "F17 · strangers who never read",
  promise,
  tries: { quick: ways.length, full: ways.length },
  attempt: (work, count) => tryWays(work, count, null),
};

/** Tries are ways through each proxy; `/health` is asked of the server itself, as by a monitor beside it. */
export const strangersBehindProxies: readonly Fault[] = proxyNames.map((name) => ({
  name: `F17 · strangers behind ${name}`,
  promise,
  tries: { quick: 3, full: ways.length },
  whyNot: () => whyNot(() => findProgram(name, name)),
  attempt: (work, count) => tryWays(work, count, name),
}));

async function tryWays(work: Work, count: number, proxyName: ProxyName | null): Promise<Finding> {
  const dataDir = await publishedFolder(work, 5000);
  const settings = proxyName === null ? {} : { TRUSTED_PROXIES: "127.0.0.1" };
  const seen: string[] = [];
  const broken: string[] = [];
  for (const way of ways.slice(0, count)) {
    work.tell(way.name);
    const server = await serveQuietly({ dataDir, settings });
    await warm(server);
    const proxy = proxyName && (await startProxy(proxyName, work.folder(), [server.port]));
    if (proxy !== null) {
      endWithUs(proxy.child);
      await untilListening(proxy.port);
    }
    const { port } = proxy ?? server;
    const order = { port, isBehindProxy: proxy !== null, way, connections };
    const { worst, growth, unanswered } = await beside(server, order);
    const figures = `${way.name} ${worst.toFixed(0)} ms, ${Math.round(growth / mebibyte)} MiB`;
    seen.push(figures);
    if (worst > healthMaxMilliseconds || growth > growthMax || unanswered > 0)
      broken.push(`${figures}, ${unanswered} unanswered`);
    proxy?.child.kill("SIGKILL");
    await server.stop();
  }
  return {
    done: `${connections} connections from one address in each of ${seen.length} ways, a server for each`,
    seen: `/health at worst, and memory: ${seen.join("; ")}`,
    broken,
  };
}

/** Neither proxy says when it is ready. */
async function untilListening(port: number): Promise<void> {
  while (!(await canConnect("127.0.0.1", port))) await wait(20);
}

/** Another client network than that of the strangers, of whose connections the last ones may linger for two seconds. */
const warmingAddress = "127.0.0.2";

/**
 * Loads and compiles what the ways ask for, and lets V8 take the room for new objects that it gives any busy server, so
 * that only what is held grows. A body that is refused before its end may reset its connection (RFC 9112 §9.6).
 */
async function warm({ port }: Server): Promise<void> {
  const until = performance.now() + warmingMilliseconds;
  const agent = new Agent({ keepAlive: true, localAddress: warmingAddress });
  const askOnAndOn = async (_: unknown, first: number) => {
    for (let i = first; performance.now() < until; i++) {
      const { body, ...options } = requestsToWarmUp[i % requestsToWarmUp.length]!;
      const sent = request({ host: "127.0.0.1", port, agent, ...options });
      sent.on("response", (response) => response.resume());
      sent.on("error", () => {});
      sent.end(body);
      await new Promise((resolve) => sent.once("close", resolve));
    }
  };
  await Promise.all(Array.from({ length: warmingClients }, askOnAndOn));
  agent.destroy();
}

async function beside({ port, pid }: Server, order: Attack) {
  const strangers = endWithUs(fork(join(import.meta.dirname, "strangers.ts"), { execArgv: [] }));
  await once(strangers, "spawn");
  // Elsewhere they have machines of their own.
  setPriority(strangers.pid!, 10);
  const before = residentBytes(pid);
  // Resets the peak (proc(5)).
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const asked: Promise<void>[] = [];
  const processes = [pid, process.pid];
  // One that stands, as a proxy's or a monitor's does: a turn of libuv accepts one new connection.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await ask({ port, path: "/health", agent });
  let worst = 0;
  let unanswered = 0;
  const askOnce = async () => {
    const before = processes.map(waitedForCore);
    const { status, milliseconds } = await ask({ port, path: "/health", agent });
    const waits = processes.map((one, i) => waitedForCore(one) - before[i]!);
    if (status !== 200) unanswered++;
    // Waiting for a core that another program has says nothing about this one.
    worst = Math.max(worst, milliseconds - Math.max(...waits));
  };
  const asking = setInterval(() => asked.push(askOnce()), askEveryMilliseconds);
  strangers.send(order);
  await wait(attackMilliseconds);
  strangers.kill("SIGKILL");
  await wait(afterMilliseconds);
  clearInterval(asking);
  await Promise.all(asked);
  agent.destroy();
  return { worst, unanswered, growth: residentBytes(pid, "VmHWM") - before };
}

/**
 * Returns how long the first thread of a process has been ready to run without a core, in ms: the second number of its
 * `schedstat` (Linux, Documentation/scheduler/sched-stats.rst).
 */
const waitedForCore = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6;

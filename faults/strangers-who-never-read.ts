/** F17: strangers on a thousand connections, who send what they like and read nothing, delay nobody and fill no memory. */
import { fork } from "node:child_process";
import { Agent } from "node:http";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ask, warmUp } from "./ask.ts";
import type { Fault } from "./fault.ts";
import { serve, stop, type Server } from "./program.ts";
import { publishedFolder } from "./published-folder.ts";
import { type Attack, requestsToWarmUp, ways } from "./strangers.ts";
import type { Work } from "./work.ts";

const mebibyte = 2 ** 20;
const growthMax = 64 * mebibyte;
const healthMaxMilliseconds = 100;
const askEveryMilliseconds = 20;
const attackMilliseconds = 2500;
const afterMilliseconds = 1000;

/** Tries are connections. */
export const strangersWhoNeverRead: Fault = {
  name: "F17 · strangers who never read",
  promise:
    "whatever the connections of one address send without reading, `/health` is answered within 100 ms on a connection that stands, and the server takes at most 64 MiB more",
  tries: { quick: 1000, full: 1000 },
  async attempt(work, connections) {
    const dataDir = await publishedFolder(work, 5000);
    const seen: string[] = [];
    const broken: string[] = [];
    for (const way of ways) {
      work.tell(way.name);
      const server = await serve(work, { dataDir });
      await warm(server);
      const { worst, growth, unanswered } = await beside(work, server, { way, connections });
      const figures = `${way.name} ${worst.toFixed(0)} ms, ${Math.round(growth / mebibyte)} MiB`;
      seen.push(figures);
      if (worst > healthMaxMilliseconds || growth > growthMax || unanswered > 0)
        broken.push(`${figures}, ${unanswered} unanswered`);
      await stop(server);
    }
    return {
      done: `${connections} connections from one address in each of ${seen.length} ways, a server for each`,
      seen: `/health at worst, and memory: ${seen.join("; ")}`,
      broken,
    };
  },
};

/** Loads and compiles what the ways ask for, so that only what is held grows. */
async function warm({ port }: Server): Promise<void> {
  for (const [path, init] of requestsToWarmUp)
    for (let i = 0; i < 20; i++)
      await (await fetch(`http://127.0.0.1:${port}${path}`, init)).arrayBuffer();
  await warmUp({ port, path: "/openapi.json" });
}

async function beside(work: Work, { port, pid }: Server, order: Omit<Attack, "port">) {
  const strangers = work.adopt(fork(join(import.meta.dirname, "strangers.ts"), { execArgv: [] }));
  await once(strangers, "spawn");
  // Elsewhere they have machines of their own.
  setPriority(strangers.pid!, 10);
  const before = residentBytes(pid, "VmRSS");
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
  strangers.send({ port, ...order } satisfies Attack);
  await wait(attackMilliseconds);
  strangers.kill("SIGKILL");
  await wait(afterMilliseconds);
  clearInterval(asking);
  await Promise.all(asked);
  agent.destroy();
  return { worst, unanswered, growth: residentBytes(pid, "VmHWM") - before };
}

function residentBytes(pid: number, row: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${row}:\\s+(\\d+)`).exec(status)![1]) * 1024;
}

/**
 * Returns how long the first thread of a process has been ready to run without a core, in ms: the second number of its
 * `schedstat` (Linux, Documentation/scheduler/sched-stats.rst).
 */
const waitedForCore = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6;

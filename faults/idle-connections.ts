/** F6: thousands of connections that say nothing cost others nothing, and more than there are descriptors do no harm. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Server } from "../bench/program.ts";
import { residentBytes } from "../bench/servers.ts";
import { quantile } from "../bench/statistics.ts";
import { newKey } from "../test/support/own-process.ts";
import { ask, othersThan200, stream, warmUp, type Books } from "../bench/ask.ts";
import type { Fault } from "./fault.ts";
import { errorsOf, publishedFolder, roomy, serveQuietly, type Work } from "./work.ts";

const perSecond = 100;
const measuredMilliseconds = 3000;
const mebibyte = 2 ** 20;
const path = "/fetch-projects?limit=5";
const goneSecondsMax = 20;
/** All are opened from here. */
const fromOneAddress = { CONNECTIONS_PER_CLIENT_MAX: "1000000" };
const growthMax = 150 * mebibyte;

/** Tries are connections. */
export const idleConnections: Fault = {
  name: "F6 · idle connections",
  promise:
    "other clients get every answer, within 150 MiB more memory; the silent ones are gone in 20 s; well again within 5 s",
  tries: { quick: 2000, full: 10_000 },
  async attempt(work, tries) {
    const dataDir = await publishedFolder(work, 5000);
    const key = await newKey(dataDir, "client", roomy);
    const within = await withinDescriptors(work, dataDir, key, tries);
    const beyond = await beyondDescriptors(dataDir, key, tries);
    return {
      done: `${tries} silent connections; then as many to a server that may open ${Math.floor(tries / 2)} files`,
      seen: `${within.seen}; ${beyond.seen}`,
      broken: [...within.broken, ...beyond.broken],
    };
  },
};

async function withinDescriptors(work: Work, dataDir: string, key: string, count: number) {
  const settings = { CONNECTIONS_MAX: String(count + 500), ...fromOneAddress };
  const server = await serveQuietly({ dataDir, settings });
  await warmUp({ port: server.port, path, key });
  const alone = await measured(server, key);
  const residentBefore = residentBytes(server.pid);
  work.tell(`opening ${count} connections`);
  const opened = performance.now();
  const sockets = await openSilent(server.port, count);
  const beside = await measured(server, key);
  const growth = residentBytes(server.pid) - residentBefore;
  const closed = await secondsUntil(opened, () => sockets.every((socket) => socket.destroyed));
  const broken: string[] = [];
  const others = othersThan200(beside);
  if (others !== "") broken.push(`beside ${count} silent connections: ${others}`);
  if (growth > growthMax) broken.push(`memory grew by ${Math.round(growth / mebibyte)} MiB`);
  if (closed > goneSecondsMax + 2)
    broken.push(`silent connections stood for ${closed.toFixed(0)} s`);
  const [error] = errorsOf(server);
  if (error !== undefined) broken.push(`log: ${error}`);
  await server.stop();
  const p99 = (books: Books) => quantile(books.milliseconds, 0.99).toFixed(1);
  return {
    seen: `p99 ${p99(alone)} ms alone, ${p99(beside)} ms beside them; ${Math.round(growth / mebibyte)} MiB more; gone after ${closed.toFixed(0)} s`,
    broken,
  };
}

async function beyondDescriptors(dataDir: string, key: string, count: number) {
  const under = ["prlimit", `--nofile=${Math.floor(count / 2)}`];
  const server = await serveQuietly({ dataDir, under, settings: fromOneAddress });
  const sockets = await openSilent(server.port, count);
  const kept = sockets.filter((socket) => !socket.destroyed).length;
  for (const socket of sockets) socket.destroy();
  const freed = performance.now();
  const well = await secondsUntil(freed, async () => {
    const { status } = await ask({ port: server.port, path, key });
    return status === 200;
  });
  const broken: string[] = [];
  if (server.child.exitCode !== null) broken.push("the server ended");
  if (well > 5) broken.push(`well again only after ${well.toFixed(1)} s`);
  await server.stop();
  return { seen: `${kept} of ${count} kept, well again after ${well.toFixed(1)} s`, broken };
}

/** Connections that send nothing; those that are refused count as destroyed. */
async function openSilent(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.resume();
    sockets.push(socket);
    if (i % 200 === 199) await Promise.race([once(socket, "connect"), once(socket, "close")]);
  }
  return sockets;
}

async function measured({ port }: Server, key: string): Promise<Books> {
  const load = stream({ port, path, key }, perSecond);
  await wait(measuredMilliseconds);
  return load.end();
}

async function secondsUntil(since: number, isSo: () => boolean | Promise<boolean>) {
  const seconds = () => (performance.now() - since) / 1000;
  while (!(await isSo()) && seconds() < 60) await wait(50);
  return seconds();
}

/** F8: SIGTERM under load with awkward clients loses no answer that has begun, and is over in five seconds. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { usageFile } from "#store/sqlite-file.ts";
import { whenDone } from "../bench/clean-up.ts";
import { quantile } from "../bench/statistics.ts";
import { holdDatabase } from "../test/support/holder-process.ts";
import { newKey } from "../test/support/own-process.ts";
import { stream } from "../bench/ask.ts";
import type { Fault } from "./fault.ts";
import { publishedFolder, roomy, serveQuietly } from "./work.ts";

const recordCount = 5000;
const perSecond = 300;
const endMillisecondsMax = 5000;
const path = "/fetch-signals?limit=100";
/** At every fifth stop what was asked cannot be written, for another process holds `usage.sqlite`. */
const heldEvery = 5;

export const serverStopped: Fault = {
  name: "F8 · server stopped under load",
  promise: "every answer that has begun is finished; exit code 0 within 5 s",
  tries: { quick: 10, full: 100 },
  async attempt(work, tries) {
    const dataDir = await publishedFolder(work, recordCount);
    const key = await newKey(dataDir, "client", roomy);
    const broken: string[] = [];
    const endMilliseconds: number[] = [];
    let [answered, cut] = [0, 0];
    for (let i = 0; i < tries; i++) {
      const server = await serveQuietly({ dataDir });
      const load = stream({ port: server.port, path, key }, perSecond);
      const awkward = await awkwardClients(server.port, key);
      await wait(100 + 200 * work.chance());
      const free =
        i % heldEvery === 0
          ? await holdDatabase({ after: whenDone }, usageFile(dataDir), "begin immediate")
          : async () => {};
      const stoppedAt = performance.now();
      server.child.kill("SIGTERM");
      const slow = awkward.readAll();
      const { exitCode, signal } = await server.ended;
      endMilliseconds.push(performance.now() - stoppedAt);
      const books = await load.end();
      answered += books.statuses.get(200) ?? 0;
      if (exitCode !== 0) broken.push(`run ${i + 1}: exit code ${exitCode ?? signal}`);
      const cutHere = books.cut + ((await slow) ? 0 : 1);
      if (cutHere > 0) broken.push(`run ${i + 1}: ${cutHere} answers cut off`);
      cut += cutHere;
      awkward.end();
      await free();
      work.tell(`${i + 1} of ${tries} servers stopped`);
    }
    const slowest = Math.max(...endMilliseconds);
    if (slowest > endMillisecondsMax) broken.push(`one took ${Math.round(slowest)} ms to end`);
    return {
      done: `${tries} servers stopped under ${perSecond} requests a second, beside silent, idle, half-sent and slowly read connections, every fifth while \`usage.sqlite\` is held`,
      seen: `${answered} answers, ${cut} cut off; ended after ${Math.round(quantile(endMilliseconds, 0.5))} ms (slowest ${Math.round(slowest)} ms)`,
      broken,
    };
  },
};

/** One that says nothing, one that stays idle after an answer, one in the middle of its headers, one that reads late. */
async function awkwardClients(port: number, key: string) {
  const open = async (text: string) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    if (text !== "") socket.write(text);
    return socket;
  };
  const request = (connection: string) =>
    `GET ${path} HTTP/1.1\r\nHost: here\r\nx-api-key: ${key}\r\nConnection: ${connection}\r\n\r\n`;
  const silent = await open("");
  const idle = await open(request("keep-alive"));
  idle.resume();
  const half = await open(request("keep-alive").slice(0, 40));
  const slow = await open(request("close"));
  slow.pause();
  const sockets: Socket[] = [silent, idle, half, slow];
  return {
    /** Reads only now; true where the whole answer came. */
    async readAll(): Promise<boolean> {
      const chunks: Buffer[] = [];
      slow.on("data", (chunk: Buffer) => chunks.push(chunk)).resume();
      if (!slow.readableEnded) await once(slow, "close");
      const text = Buffer.concat(chunks).toString("latin1");
      const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
      const bodyAt = text.indexOf("\r\n\r\n") + 4;
      return length !== undefined && text.length - bodyAt === Number(length);
    },
    end: () => sockets.forEach((socket) => socket.destroy()),
  };
}

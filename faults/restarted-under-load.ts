/** F16: a server on a passed socket is restarted under load, and no request fails. */
import { holdSocket } from "../test/support/ports.ts";
import { newKey } from "../test/support/own-process.ts";
import { askOn } from "../test/support/persistent-clients.ts";
import { quantile } from "../bench/statistics.ts";
import type { Fault } from "./fault.ts";
import { publishedFolder, roomy, serveQuietly } from "./work.ts";

const recordCount = 5000;
const path = "/fetch-signals?limit=100";
const busyClients = 4;
/** Idle for up to a fifth of a second between two requests, so that some of them ask while their connection is being closed. */
const idlingClients = 40;
const idleMillisecondsMax = 200;

export const restartedUnderLoad: Fault = {
  name: "F16 · server restarted on a passed socket",
  promise:
    "every request is answered with 200: connections wait in the socket until the next server is ready",
  tries: { quick: 10, full: 100 },
  async attempt(work, tries) {
    const dataDir = await publishedFolder(work, recordCount);
    const key = await newKey(dataDir, "client", roomy);
    const socket = holdSocket();
    const start = () => serveQuietly({ dataDir, sockets: [{ ...socket, name: "main" }] });
    let server = await start();
    const asked = { port: socket.port, path, headers: { "x-api-key": key } };
    const loads = [
      askOn({ ...asked, clients: busyClients }),
      askOn({
        ...asked,
        clients: idlingClients,
        gapMilliseconds: () => idleMillisecondsMax * work.chance(),
      }),
    ];
    const broken: string[] = [];
    const gapMilliseconds: number[] = [];
    for (let i = 0; i < tries; i++) {
      await Promise.all(loads.map((load) => load.answered(50)));
      const stoppedAt = performance.now();
      const { exitCode, signal } = await server.stop();
      if (exitCode !== 0) broken.push(`run ${i + 1}: exit code ${exitCode ?? signal}`);
      server = await start();
      gapMilliseconds.push(performance.now() - stoppedAt);
      work.tell(`${i + 1} of ${tries} restarts`);
    }
    await Promise.all(loads.map((load) => load.answered(50)));
    const books = await Promise.all(loads.map((load) => load.end()));
    await server.stop();
    socket.close();
    for (const { statuses, failures } of books) {
      broken.push(...failures);
      for (const [status, count] of Object.entries(statuses))
        if (status !== "200") broken.push(`${count} answers with ${status}`);
    }
    const sum = (of: (one: (typeof books)[number]) => number) =>
      books.reduce((total, one) => total + of(one), 0);
    const milliseconds = Math.round(Math.max(...books.map((one) => one.longestMilliseconds)));
    return {
      done: `${tries} restarts under ${busyClients} clients that ask without pause and ${idlingClients} that idle up to ${idleMillisecondsMax} ms`,
      seen: `${sum(({ statuses }) => statuses[200] ?? 0)} × 200, ${broken.length} failed; ${sum(({ sentAgain }) => sentAgain)} sent once more as RFC 9112 §9.3.1 says; a restart took ${Math.round(quantile(gapMilliseconds, 0.5))} ms, the slowest answer ${milliseconds} ms`,
      broken,
    };
  },
};

/** What Node itself needs to send the same answers: `node:http` and nothing else. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { SentAnswer } from "./servers.ts";

/** Node writes these by itself. */
const ownHeaders = new Set(["date", "connection", "keep-alive"]);

function serve(sent: readonly SentAnswer[]): void {
  // A body for each question: parts of a single one would stay in the processor's caches, as no answers do.
  const answers = new Map(
    sent.map(({ target, headers, bodyBytes }) => [
      target,
      {
        headers: headers.filter(([name]) => !ownHeaders.has(name.toLowerCase())).flat(),
        body: Buffer.alloc(bodyBytes, "x"),
      },
    ]),
  );
  const server = createServer((request, response) => {
    const { headers, body } = answers.get(request.url!)!;
    response.writeHead(200, headers);
    response.end(body);
  });
  const keepAlive = sent[0]?.headers.find(([name]) => name.toLowerCase() === "keep-alive");
  const [, seconds] = /timeout=(\d+)/.exec(keepAlive?.[1] ?? "") ?? [];
  if (seconds !== undefined) server.keepAliveTimeout = Number(seconds) * 1000;
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
}

process.once("message", serve);
// Whoever watches it has let go of the channel, which is all that keeps it until it listens.
process.channel!.ref();
// Node keeps what it has compiled only where a process ends by itself.
for (const end of ["disconnect", "SIGTERM"]) process.on(end, () => process.exit());

/** What Node itself needs to put such bodies on the wire: `node:http` and nothing else. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BareOrder } from "./servers.ts";

/** What the status line and the headers that are no filler take. */
const ownHeaderBytes = 190;

function serve({ bodyBytes, order, headerBytes }: BareOrder): void {
  // One for each question: parts of a single one would stay in the processor's own memory, as no answers do.
  const bodies = bodyBytes.map((length) => Buffer.alloc(length, "x"));
  // As many bytes as the program's headers have, but not as many headers: those are the program's own choice.
  const filler = "x".repeat(Math.max(1, headerBytes - ownHeaderBytes));
  let asked = 0;
  const server = createServer((_, response) => {
    const body = bodies[order[asked++ % order.length]!]!;
    response.writeHead(200, {
      "content-type": "application/json; charset=utf-8",
      "content-length": body.length,
      "x-filler": filler,
    });
    response.end(body);
  });
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
}

process.once("message", serve);
// Whoever watches it has let go of the channel, which is all that keeps it until it listens.
process.channel!.ref();
// Node keeps what it has compiled only where a process ends by itself.
for (const end of ["disconnect", "SIGTERM"]) process.on(end, () => process.exit());

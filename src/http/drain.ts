/** Ends a server without losing an answer it has begun: no new connections, idle ones closed, the rest in time. */
import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

/** Whatever is not finished by then is cut, so that the process ends within five seconds. */
const patienceMilliseconds = 4000;
const sweepEveryMilliseconds = 50;

/**
 * Watches the server from now on, because Node counts an answer as finished while most of it still waits to be sent.
 * @returns what drains it, and resolves when the last connection is closed.
 */
export function prepareDrain(server: Server): () => Promise<void> {
  const unsentOf = watchAnswers(server);
  return () =>
    new Promise((resolve) => {
      // The first sweep comes late enough for what had arrived when the signal came.
      const sweep = setInterval(() => {
        for (const [socket, unsent] of unsentOf) if (unsent === 0) socket.destroySoon();
      }, sweepEveryMilliseconds);
      const cut = setTimeout(() => server.closeAllConnections(), patienceMilliseconds);
      // That of HTTP servers would close connections whose answer is not sent yet.
      NetServer.prototype.close.call(server, () => {
        clearInterval(sweep);
        clearTimeout(cut);
        resolve();
      });
    });
}

/** How many answers each open connection still has to send. */
function watchAnswers(server: Server): ReadonlyMap<Socket, number> {
  const unsentOf = new Map<Socket, number>();
  const add = (socket: Socket, count: number) => {
    const unsent = unsentOf.get(socket);
    if (unsent !== undefined) unsentOf.set(socket, unsent + count);
  };
  server.on("connection", (socket: Socket) => {
    unsentOf.set(socket, 0);
    socket.once("close", () => unsentOf.delete(socket));
  });
  server.on("request", ({ socket }, response: ServerResponse) => {
    add(socket, 1);
    response.once("close", () => add(socket, -1));
  });
  return unsentOf;
}

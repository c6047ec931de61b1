/** Ends a server without losing an answer it has begun: no new connections, idle ones closed, the rest in time. */
import type { Server } from "node:http";
import { Server as NetServer } from "node:net";
import { type Connections, owes } from "./connections.ts";

/** Whatever is not finished by then is cut: with what is written and mailed behind it, the process ends within five seconds. */
const patienceMilliseconds = 3000;
const sweepEveryMilliseconds = 50;

/** Resolves when the last connection is closed. */
export function drain(server: Server, { open }: Connections): Promise<void> {
  return new Promise((resolve) => {
    // The first sweep comes late enough for what had arrived when the signal came.
    const sweep = setInterval(() => {
      for (const connection of open.values())
        if (!owes(connection)) connection.socket.destroySoon();
    }, sweepEveryMilliseconds);
    // That of HTTP servers forgets a connection once it was asked to CONNECT, which may still owe answers.
    const cut = setTimeout(() => {
      for (const { socket } of open.values()) socket.destroy();
    }, patienceMilliseconds);
    // That of HTTP servers would close connections whose answer is not sent yet.
    NetServer.prototype.close.call(server, () => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
  });
}

/** Ports of this machine: held and passed on as systemd does, free ones, and whether anything listens. */
import { once } from "node:events";
import { Server as HttpServer } from "node:http";
import {
  type AddressInfo,
  BoundSocket,
  connect,
  createServer,
  type Server,
  type Socket,
} from "node:net";
import type { TestContext } from "node:test";

export type HeldSocket = ReturnType<typeof holdSocket>;

/**
 * Where it listens, a server passed it has listened before; until then, connections are refused. `close` closes it here; a
 * server that it was passed to keeps it.
 */
export function holdSocket() {
  const socket = new BoundSocket({ host: "127.0.0.1", port: 0 });
  return { fd: socket.fd(), port: socket.address().port, close: () => socket.close() };
}

/** One that is passed on. */
export interface Passed {
  fd: number;
  /** FileDescriptorName= of its unit. */
  name: string;
}

/** What `spawn` takes to pass sockets to a program; LISTEN_PID is known only to the process that becomes the program. */
export function passing(sockets: readonly Passed[]) {
  return {
    under: sockets.length === 0 ? [] : ["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh"],
    settings: {
      ...(sockets.length > 0 && {
        LISTEN_FDS: String(sockets.length),
        LISTEN_FDNAMES: sockets.map(({ name }) => name).join(":"),
      }),
    },
    stdio: ["ignore", "pipe", "pipe", ...sockets.map(({ fd }) => fd)] as ["ignore", "pipe", "pipe"],
  };
}

/** Does this with each connection to a port, until the test ends. @returns the port. */
export const listen = (t: TestContext, each: (socket: Socket) => void): Promise<number> =>
  listenFor(
    t,
    createServer((socket) => each(socket.on("error", () => {}))),
  );

/** Resolves to one that nobody listened on a moment ago, on 127.0.0.1. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Has a server listen on 127.0.0.1 until the test ends. @returns its port. */
export async function listenFor(t: Pick<TestContext, "after">, server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    if (server instanceof HttpServer) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Within a second. */
export function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const end = (isReached: boolean) => {
      socket.destroy();
      resolve(isReached);
    };
    socket.once("connect", () => end(true));
    for (const event of ["error", "timeout"]) socket.once(event, () => end(false));
  });
}

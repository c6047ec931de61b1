/**
 * Listens at an address, or on a socket that a service manager such as systemd opened and passes on. Connections wait in
 * that socket between two processes.
 */
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { isLoopback } from "#config.ts";

/** Descriptors of sockets that were passed to this process; null for one to open here. */
export interface PassedSockets {
  main: number | null;
  /** Replaces ADMIN_ADDRESS. */
  admin: number | null;
}

/** Longest queue of connections; the system lowers it to net.core.somaxconn. The latest listener of a socket sets it. */
const queueMax = 65_535;

/**
 * Resolves to the address of the server.
 * @throws the system's error if it cannot listen there.
 */
export async function listenAt(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<AddressInfo> {
  server.listen({ host, port, backlog: queueMax });
  await once(server, "listening");
  return server.address() as AddressInfo;
}

/**
 * Resolves to the address of the socket.
 * @param fd descriptor of a TCP socket, which may already be listening.
 * @param host the setting HOST, for a server that must not be more open than that; null if it may.
 * @throws PassedSocketFault if it is another kind of descriptor, or more open than `host`.
 */
export async function listenPassed(
  server: Server,
  fd: number,
  host: string | null,
): Promise<AddressInfo> {
  try {
    server.listen({ fd }, queueMax);
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new PassedSocketFault(
      `Descriptor ${fd}, which LISTEN_FDS announces, cannot be used to listen (${code ?? message}). ${remedy}`,
    );
  }
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new PassedSocketFault(
      `Descriptor ${fd}, which LISTEN_FDS announces, is not TCP. ${remedy}`,
    );
  if (host !== null && isLoopback(host) && !isLoopback(address.address))
    throw new PassedSocketFault(
      `The passed socket listens on ${address.address}, but HOST is '${host}', and HOST decides what is served without TLS. Set HOST to ${address.address}, or ListenStream= in the .socket unit to ${host}:${address.port}.`,
    );
  return address;
}

const remedy = "ListenStream= in the .socket unit must be an address and a port.";

export const addressText = ({ address, family, port }: AddressInfo) =>
  `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;

/** A passed socket that cannot be served. The message says what to do. */
export class PassedSocketFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PassedSocketFault";
  }
}

/** An address where it cannot listen, with the setting that names it. */
export class ListenFault extends Error {
  readonly setting: string;
  readonly place: { host: string; port: number };

  constructor(setting: string, place: ListenFault["place"], cause: unknown) {
    super(`cannot listen at ${setting}`, { cause });
    this.name = "ListenFault";
    this.setting = setting;
    this.place = place;
  }
}

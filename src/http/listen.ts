/** Listening: at an address, or on a socket that a service manager opened and passes on, as systemd does: connections wait in it between two processes. */
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { isLoopback } from "#config.ts";

/** Descriptors of sockets that were passed to this process; null for one that is to be opened here. */
export interface PassedSockets {
  main: number | null;
  /** In place of ADMIN_ADDRESS. */
  admin: number | null;
}

/** As many as the system allows (net.core.somaxconn): the queue of the socket is as long as who listened last has asked for. */
const queueMax = 65_535;

/**
 * Resolves to the address of the server.
 * @throws the system's error where it cannot be listened on.
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
 * @param fd of a TCP socket, whether or not somebody has listened on it already.
 * @param host what HOST says, for a server that may be as open as this and no more; null where that does not matter.
 * @throws PassedSocketFault where it is another kind of descriptor, or open to more than `host` is.
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
      `Descriptor ${fd}, which LISTEN_FDS announces, cannot be listened on (${code ?? message}). ${remedy}`,
    );
  }
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new PassedSocketFault(
      `Descriptor ${fd}, which LISTEN_FDS announces, is not TCP. ${remedy}`,
    );
  if (host !== null && isLoopback(host) && !isLoopback(address.address))
    throw new PassedSocketFault(
      `The socket that was passed listens on ${address.address}, but HOST is '${host}', which decides what is served without TLS. Set HOST to ${address.address}, or ListenStream= in the .socket unit to ${host}:${address.port}.`,
    );
  return address;
}

const remedy = "ListenStream= in the .socket unit has to be an address and a port.";

export const addressText = ({ address, family, port }: AddressInfo) =>
  `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;

/** A passed socket that cannot be served; the message says what to do. */
export class PassedSocketFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PassedSocketFault";
  }
}

/** An address that cannot be listened on, with the setting that names it. */
export class ListenFault extends Error {
  readonly setting: string;
  readonly place: { host: string; port: number };

  constructor(setting: string, place: ListenFault["place"], cause: unknown) {
    super(`${setting} cannot be listened on`, { cause });
    this.name = "ListenFault";
    this.setting = setting;
    this.place = place;
  }
}

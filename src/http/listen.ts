/**
 * Listens on an address, or on a socket that a service manager such as systemd has opened and passed in. Connections
 * queue in a passed socket while one process replaces another.
 */
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { isLoopback } from "#config.ts";

/** Descriptors of the sockets passed to this process; null for a socket that was not passed. */
export interface PassedSockets {
  main: number | null;
  /** Socket used instead of ADMIN_ADDRESS. */
  admin: number | null;
}

/**
 * Maximum number of connections that wait to be accepted; Linux caps it at net.core.somaxconn. The last process
 * to listen sets the number if several share a socket.
 */
const queueMax = 65_535;

/**
 * Listens on an address. Resolves to the address, with the actual port.
 * @param setting name of the setting that holds the whole address, for messages; HOST and PORT if omitted.
 * @throws ListenFault if listening fails.
 */
export async function listenAt(
  server: Server,
  { host, port }: { host: string; port: number },
  setting?: string,
): Promise<AddressInfo> {
  server.listen({ host, port, backlog: queueMax });
  try {
    await once(server, "listening");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const place = withPort(host, port);
    if (code === "EADDRINUSE")
      throw new ListenFault(
        `${place} is in use by another program. Stop that program, or choose another port in ${setting ?? "PORT"}.`,
        true,
      );
    throw new ListenFault(
      code === "EACCES"
        ? `This user may not listen on ${place}. Choose a port above 1023 in ${setting ?? "PORT"}.`
        : `Cannot listen on ${place} (${code}). Set ${setting ?? "HOST"} to an address of this machine.`,
    );
  }
  return server.address() as AddressInfo;
}

/**
 * Listens on a passed socket. Resolves to its address.
 * @param fd descriptor of a TCP socket, which may already be listening.
 * @param host value of HOST; null accepts any socket. If `host` is a loopback address, the socket's must be one.
 * @throws ListenFault if the descriptor is not a TCP socket, if listening fails, or if `host` is a loopback address but
 *   the socket's address is not.
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
    throw new ListenFault(
      `Descriptor ${fd}, which LISTEN_FDS announces, cannot be used to listen (${code ?? message}). ${remedy}`,
    );
  }
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new ListenFault(`Descriptor ${fd}, which LISTEN_FDS announces, is not TCP. ${remedy}`);
  if (host !== null && isLoopback(host) && !isLoopback(address.address))
    throw new ListenFault(
      `The passed socket listens on ${address.address}, but HOST is '${host}', and HOST decides what is served without TLS. Set HOST to ${address.address}, or ListenStream= in the .socket unit to ${withPort(host, address.port)}.`,
    );
  return address;
}

const withPort = (host: string, port: number) =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

const remedy = "ListenStream= in the .socket unit must be an address and a port.";

export const addressText = ({ address, port }: AddressInfo) => `http://${withPort(address, port)}`;

/** Error for an address or a passed socket that cannot be used. The message says what to do. */
export class ListenFault extends Error {
  /** True if the address is already in use. */
  readonly isBusy: boolean;

  constructor(message: string, isBusy = false) {
    super(message);
    this.name = "ListenFault";
    this.isBusy = isBusy;
  }
}

/** A port for a server that cannot be asked which one it took. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** Resolves to one that nobody listened on a moment ago, on 127.0.0.1. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

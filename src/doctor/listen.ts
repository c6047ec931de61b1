/** Can an address be listened on, as a server would? What is taken is given back at once. */
import { once } from "node:events";
import { createServer } from "node:net";

export interface Place {
  host: string;
  port: number;
}

/** `127.0.0.1:8080`, `[::1]:8080`. */
export const placeText = ({ host, port }: Place) =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** The system's code for why not, such as EADDRINUSE; null where it can. */
export async function whyNotListen({ host, port }: Place): Promise<string | null> {
  const server = createServer((socket) => socket.destroy());
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
  const closed = once(server, "close");
  server.close();
  await closed;
  return null;
}

/** A receiver of webhooks on this machine, which answers what a test says and keeps what came. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { TestContext } from "node:test";

interface Message {
  id: string;
  event: string;
  at: string;
  text: string;
  alarm?: string;
  remedy?: string;
  documentation?: string;
  active: string[];
  instance: { host: string; pid: number; program: string };
}

interface Delivery {
  headers: IncomingHttpHeaders;
  path: string;
  body: Message;
}

export interface WebhookReceiver {
  url: string;
  deliveries: readonly Delivery[];
  /** `alarm_began GpRecordsNotReady` and the like, of what was answered with 2xx. */
  taken(): string[];
  stop(): Promise<void>;
}

/** @param statusOf what to answer the delivery of this number, from 0 on; in place of it the connection may be cut, or nothing said. */
export async function startReceiver(
  t: TestContext,
  statusOf: (number: number) => number | "cut" | "silence" = () => 204,
  port = 0,
): Promise<WebhookReceiver> {
  const deliveries: Delivery[] = [];
  const taken: Message[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const message = body as Message;
      const status = statusOf(deliveries.length);
      deliveries.push({ headers: request.headers, path: request.url!, body: message });
      if (status === "silence") return;
      if (status === "cut") return void request.socket.destroy();
      if (status < 300) taken.push(message);
      const location = { location: `http://127.0.0.1:${port}/elsewhere` };
      response.writeHead(status, status < 400 && status >= 300 ? location : {}).end();
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  t.after(stop);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/secret-path`,
    deliveries,
    taken: () =>
      taken.map(({ event, alarm }) => (alarm === undefined ? event : `${event} ${alarm}`)),
    stop,
  };
}

/** Serves metrics, health and readiness to the operator, without a key. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { type Config, isLoopback } from "#config.ts";
import { exposition, expositionType, type Metric } from "#metrics/metric.ts";
import { openEventLoopMetrics } from "#metrics/process-metrics.ts";
import { type HttpDependencies, whyNotReady } from "./dependencies.ts";
import { addressText, listenAt, listenPassed } from "./listen.ts";
import { createServer } from "./node-http.ts";

/**
 * Returns the admin server, which does not listen yet. The server does nothing if it has neither address nor socket.
 * @param place address to listen on; null for none.
 * @param passed descriptor of a socket to listen on instead; null for none.
 * @param wantedDataset returns the version that should be served; null if there is none, or if it cannot be read.
 */
export function openAdmin(
  place: Config["adminAddress"],
  passed: number | null,
  http: HttpDependencies,
  metrics: readonly Metric[],
  wantedDataset: () => string | null,
) {
  if (place === null && passed === null)
    return { address: () => null, async listen() {}, async close() {} };
  const eventLoop = openEventLoopMetrics();
  const all = [...metrics, ...eventLoop.metrics];
  const paths: Readonly<Record<string, () => AdminAnswer>> = {
    "/metrics": () => ({ status: 200, type: expositionType, body: exposition(all) }),
    "/health": () => json(200, { status: "ok" }),
    "/ready": () => {
      const reason = whyNotReady(http);
      const dataset = { served: http.model()?.parts.version ?? null, wanted: wantedDataset() };
      return reason === undefined
        ? json(200, { status: "ok", dataset })
        : json(503, { status: "unavailable", reason, dataset });
    },
  };
  const answerOf = ({ method, url = "/" }: IncomingMessage): AdminAnswer => {
    const answerPath = paths[url.split("?", 1)[0]!];
    if (answerPath === undefined)
      return plain(404, `There is nothing at this path. Try ${Object.keys(paths).join(", ")}.\n`);
    if (method !== "GET" && method !== "HEAD")
      return plain(405, "Only GET and HEAD are allowed here.\n");
    return answerPath();
  };
  const server = createServer(
    {
      headersTimeout: waitMilliseconds,
      requestTimeout: waitMilliseconds,
      connectionsCheckingInterval: waitMilliseconds,
    },
    (request, response) => {
      try {
        const { status, type, body } = answerOf(request);
        response.writeHead(status, {
          "content-type": type,
          "content-length": Buffer.byteLength(body),
          "cache-control": "no-store",
          ...(status === 405 && { allow: "GET, HEAD" }),
        });
        response.end(body);
      } catch (error) {
        http.log.error({ err: error }, "admin request cannot be answered");
        response.writeHead(500).end();
      }
    },
  );
  server.maxConnections = connectionsMax;
  let address: string | null = null;
  return {
    /** Returns the server's URL. Returns null until the server listens. */
    address: () => address,
    /** Starts listening. @throws ListenFault if that fails. */
    async listen() {
      const found =
        passed === null
          ? await listenAt(server, place!, "ADMIN_ADDRESS")
          : await listenPassed(server, passed, null);
      address = addressText(found);
      http.log.info({ address }, "metrics are served");
      if (!isLoopback(found.address))
        http.log.warn(
          { address },
          "metrics are served without a key at an address that other machines may reach: make sure that only your monitoring can, or set ADMIN_ADDRESS to a loopback address",
        );
    },
    async close() {
      eventLoop.close();
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const waitMilliseconds = 5000;
/** Maximum number of connections. Monitoring needs a few, and nobody else should connect. */
const connectionsMax = 64;

type AdminAnswer = ReturnType<typeof plain>;

const json = (status: number, body: object): AdminAnswer => ({
  status,
  type: "application/json; charset=utf-8",
  body: JSON.stringify(body),
});

const plain = (status: number, body: string) => ({
  status,
  type: "text/plain; charset=utf-8",
  body,
});

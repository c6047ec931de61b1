/** Builds the HTTP server: the table of its routes, and the way of a request through it. Its builder closes it. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { formType, type PageHeader, pageRequestHeaders } from "#dashboard/messages.ts";
import type { Caller } from "#gateway/gateway.ts";
import { headerLines } from "#gateway/headers.ts";
import type { AskedHeaders, Read, Reply } from "#gateway/reads.ts";
import { clientNetwork } from "#limits/client-network.ts";
import { internalError, Problem } from "#problems.ts";
import { openBodyBudget, readBody, bodyBytesMax, otherType, sentType } from "./bodies.ts";
import { checkRequest, headerBytesMax, headerLinesMax } from "./check-request.ts";
import { drain, guardConnections } from "./connections.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { openFairQueue } from "./fair-queue.ts";
import { healthRoutes } from "./health.ts";
import { mcpRoute } from "./mcp-route.ts";
import { createServer } from "./node-http.ts";
import { answerParserFaults } from "./parser-faults.ts";
import { publicRoutes } from "./public-routes.ts";
import {
  clientAddress,
  clientOf,
  presentedKey,
  presentedKeyOrBearer,
  beginExchange,
  type Exchange,
  openRouter,
  otherPaths,
  pathBelow,
  queryText,
  readMethods,
  type Route,
  sentPath,
} from "./routes.ts";
import { answerWithProblem, sendAnswer, pageHeaders } from "./send-answer.ts";

/** Limits of every wait, in ms. */
export const timeouts = {
  headers: 10_000,
  request: 15_000,
  /** Longer than a reverse proxy keeps idle connections, so that it never writes into a closing one. */
  keepAlive: 10_000,
  checkEvery: 2000,
  /** Time for a client to read the last response and close its side. */
  linger: 2000,
};

/** Returns the table of routes. */
export const tableOfRoutes = (http: HttpDependencies): Route[] => [
  ...readRoutes(http),
  mcpRoute(http),
  ...publicRoutes(http),
  ...healthRoutes(http),
  ...accountRoutes(http),
];

/** @param waits shorter in tests. */
export function buildServer(http: HttpDependencies, waits = timeouts) {
  const router = openRouter(tableOfRoutes(http));
  const fairQueue = openFairQueue();
  const bodyBudget = openBodyBudget(http.config.trustedProxies);

  const fail = (exchange: Exchange, error: unknown) => {
    if (exchange.isAnswered)
      return http.log.error({ err: error, request_id: exchange.id }, "an answer was cut short");
    if (error instanceof Problem) answerWithProblem(http, exchange, error);
    else answerWithProblem(http, exchange, internalError(), error);
  };
  const answer = async (exchange: Exchange, { body, handle }: Route) => {
    const { request } = exchange;
    if (request.method === "POST") exchange.body = await readBody(request, body!.bytesMax);
    await handle(exchange);
  };
  const enter = (whose: string | number, exchange: Exchange) =>
    fairQueue.enter(whose, () => {
      const { request, route } = exchange;
      // The client left while it was waiting.
      if (request.socket.destroyed) return;
      try {
        if (checkRequest(http, router, exchange)) return;
        if (hasBody(request)) bodyBudget.check(request);
        const answered =
          route!.body === undefined ? route!.handle(exchange) : answer(exchange, route!);
        answered?.catch((error: unknown) => fail(exchange, error));
      } catch (error) {
        fail(exchange, error);
      }
    });
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    if (hasBody(request)) bodyBudget.take(request, response);
    const exchange = beginExchange(request, response);
    const route = exchange.path === null ? null : router.find(exchange.path);
    exchange.route = route;
    if (route?.who !== "key") {
      const network = clientNetwork(clientAddress(request, http.config.trustedProxies));
      // Health checks do not wait for other questions from the same network.
      return enter(route?.isAlwaysOpen === true ? `watch ${network}` : network, exchange);
    }
    const identified = (caller: Caller) => {
      exchange.caller = caller;
      enter(queueOf(caller), exchange);
    };
    const presented = route.takesBearer === true ? presentedKeyOrBearer : presentedKey;
    const caller = http.gateway.identify(presented(request), clientOf(http.config, request));
    if (caller instanceof Promise)
      caller.then(identified, (error: unknown) => fail(exchange, error));
    else identified(caller);
  };

  const server: Server = createServer(
    {
      maxHeaderSize: headerBytesMax,
      // Node would send an empty 400. check-request.ts sends a problem.
      requireHostHeader: false,
      headersTimeout: waits.headers,
      requestTimeout: waits.request,
      keepAliveTimeout: waits.keepAlive,
      connectionsCheckingInterval: waits.checkEvery,
    },
    begin,
  );
  // A client may close its side once its request is sent (RFC 9112 §9.6). Node would drop a pending response.
  (server as typeof server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  // One more than allowed is enough to see that there are too many.
  server.maxHeadersCount = headerLinesMax + 1;
  const connections = guardConnections(server, http.config, waits.linger);
  answerParserFaults(server, http, connections.open, fairQueue);
  return {
    server,
    connections,
    /** Resolves when the last connection is closed. */
    async drain() {
      await drain(server, connections);
      connections.stopWatching();
    },
  };
}

/** Reports whether a request has a body (RFC 9112 §6.3). */
const hasBody = ({ headers }: IncomingMessage) =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

/** Returns the client whose share of the fair queue a request uses: its account, or its network if it has no valid key. */
const queueOf = ({ key, client }: Caller) =>
  key === null || key instanceof Problem ? clientNetwork(client.address()) : key.accountNumber;

/** Returns the routes of the gateway's reads. They turn requests into questions, and replies into responses. */
const readRoutes = (http: HttpDependencies): Route[] =>
  http.reads.flatMap((read) => {
    const { path, name, hasAlias } = read;
    return [path, ...(hasAlias ? [`/v1${path}`] : [])].map((one): Route => ({
      path: one,
      methods: readMethods,
      who: "key",
      name,
      handle: (exchange) => ask(http, read, exchange),
    }));
  });

function ask(http: HttpDependencies, read: Read, exchange: Exchange): void | Promise<void> {
  const { request, caller } = exchange;
  const reply = read.ask({
    caller: caller!,
    text: queryText(exchange),
    below: pathBelow(exchange),
    isHead: request.method === "HEAD",
    headers: request.headers as AskedHeaders,
  });
  return reply instanceof Promise
    ? reply.then((settled) => sendReply(http, exchange, settled))
    : sendReply(http, exchange, reply);
}

function sendReply(
  http: HttpDependencies,
  exchange: Exchange,
  { asker, quotaHeaders, datasetVersion, result }: Reply,
): void {
  exchange.asker = asker;
  exchange.quotaHeaders = quotaHeaders;
  exchange.datasetVersion = datasetVersion;
  if (result.kind === "problem") answerWithProblem(http, exchange, result.problem, result.cause);
  else sendAnswer(http, exchange, result);
}

/** Headers of account pages, which are never stored, never framed, and never named in a `Referer`. */
const accountHeaders =
  pageHeaders +
  headerLines({
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });

/** HSTS for two years, the least that preload lists accept (RFC 6797). */
const secureTransport = headerLines({ "strict-transport-security": "max-age=63072000" });

/** Form of a media type (RFC 9110 §8.3.1). */
const mediaType = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/;

function accountRoutes(http: HttpDependencies): Route[] {
  const { publicUrl, trustedProxies } = http.config;
  const headers = accountHeaders + (publicUrl?.startsWith("https:") ? secureTransport : "");
  const route = (path: string): Route => ({
    path,
    methods: ["GET", "HEAD", "POST"],
    who: "person",
    name: otherPaths,
    body: { type: formType, bytesMax: bodyBytesMax },
    async handle(exchange) {
      const { request, target, body } = exchange;
      // The worker checks the origin of a form before its type. Content without a media type is no form.
      const hasType = request.method === "POST" && request.headers["content-type"] !== undefined;
      if (hasType && !mediaType.test(sentType(exchange))) throw otherType(exchange);
      const answer = await http.accountWorker({
        path: sentPath(target),
        query: queryText(exchange),
        method: request.method as "GET" | "HEAD" | "POST",
        form: body.toString(),
        headers: headersOf(exchange),
        address: clientAddress(request, trustedProxies),
        now: http.now(),
        monotonicMicroseconds: http.clock.monotonicMicroseconds(),
      });
      // Never compressed: its length would leak the secrets in it (BREACH; docs/running.md).
      sendAnswer(http, exchange, {
        status: answer.status,
        headers: headers + headerLines(answer.headers),
        body: Buffer.from(answer.body),
      });
    },
  });
  return [route("/account"), route("/account/*")];
}

/** Returns the headers for the page. One that was sent twice is ambiguous and left out; Node joins only cookies. */
function headersOf({ request }: Exchange): Partial<Record<PageHeader, string>> {
  const found: Partial<Record<PageHeader, string>> = {};
  for (const name of pageRequestHeaders) {
    const value = request.headers[name];
    if (typeof value === "string") found[name] = value;
  }
  return found;
}

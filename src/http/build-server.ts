/**
 * Builds the HTTP server: its routes, and the path of a request through them. Also answers bytes that are not a valid
 * request. The caller closes the server.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  formType,
  type PageRequest,
  pageRequestHeaders,
  uploadBytesMax,
  uploadPath,
  uploadType,
} from "#dashboard/messages.ts";
import { type Caller, refusalOf } from "#gateway/gateway.ts";
import { headerLines } from "#gateway/headers.ts";
import type { AskedHeaders, Read, Reply } from "#gateway/reads.ts";
import { clientNetwork } from "#limits/client-network.ts";
import { malformed, Problem } from "#problems.ts";
import { bodyMaximum, openBodyBudget } from "./bodies.ts";
import {
  answerOptions,
  checkRequest,
  headerBytesMax,
  headerLinesMax,
  headersTooLarge,
} from "./check-request.ts";
import { type Connections, drain, guardConnections } from "./connections.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { mcpRoute } from "./mcp-route.ts";
import { createServer, METHODS, STATUS_CODES } from "./node-http.ts";
import { publicRoutes } from "./public-routes.ts";
import { logUnrouted } from "./record-requests.ts";
import {
  clientAddress,
  clientOf,
  presentedKey,
  presentedKeyOrBearer,
  beginExchange,
  type Exchange,
  makeRequestId,
  openRouter,
  otherPaths,
  pathBelow,
  queryText,
  readMethods,
  type Route,
  sentOnce,
  sentPath,
} from "./routes.ts";
import {
  answerWithProblem,
  commonHeaders,
  pageHeaders,
  problemAnswer,
  sendAnswer,
} from "./send-answer.ts";

/** Time limits, in ms. */
export const timeouts = {
  headers: 10_000,
  request: 15_000,
  /**
   * Longest idle time of a connection. The proxies configured in `deploy` close idle connections after 5 s, so that
   * they never write to a connection that is closing.
   */
  keepAlive: 10_000,
  checkEvery: 2000,
  /** Time for a client to read the last response and close its side. */
  linger: 2000,
};

export const tableOfRoutes = (http: HttpDependencies): Route[] => [
  ...readRoutes(http),
  mcpRoute(http),
  ...publicRoutes(http),
  ...accountRoutes(http),
];

/** Builds a server that does not listen yet. @param waits time limits; tests use shorter ones. */
export function buildServer(http: HttpDependencies, waits = timeouts) {
  const router = openRouter(tableOfRoutes(http));
  const fairQueue = openFairQueue();
  const takeBody = openBodyBudget(http.config.trustedProxies);

  const fail = (exchange: Exchange, error: unknown) => {
    if (exchange.isAnswered)
      return http.log.error(
        { err: error, request_id: exchange.id },
        "an error cut an answer short",
      );
    const { problem, cause } = refusalOf(error);
    answerWithProblem(http, exchange, problem, cause);
  };
  const enter = (whose: string | number, exchange: Exchange) =>
    fairQueue.enter(whose, () => {
      const { request } = exchange;
      // The client may have left while its request was waiting.
      if (request.socket.destroyed) return;
      try {
        const route = checkRequest(http, router, exchange);
        if (request.method === "OPTIONS" && route.who !== "person")
          answerOptions(http, exchange, route);
        else route.handle(exchange)?.catch((error: unknown) => fail(exchange, error));
      } catch (error) {
        fail(exchange, error);
      }
    });
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    const exchange = beginExchange(request, response);
    const route = exchange.path === null ? null : router.find(exchange.path);
    if (hasBody(request)) {
      exchange.body = takeBody(request, response, bodyMaximum(route));
      // Nobody waits for the body of a request that is refused.
      exchange.body.catch(() => {});
    }
    exchange.route = route;
    if (route?.who !== "key") {
      const network = clientNetwork(clientAddress(request, http.config.trustedProxies));
      // Health checks do not wait for other requests from the same network.
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

  const server: Server = createServer({
    maxHeaderSize: headerBytesMax,
    // Otherwise Node would answer a missing Host header with an empty 400. check-request.ts sends a problem instead.
    requireHostHeader: false,
    headersTimeout: waits.headers,
    requestTimeout: waits.request,
    keepAliveTimeout: waits.keepAlive,
    connectionsCheckingInterval: waits.checkEvery,
  });
  // A client may close its side once it has sent its request. By default, Node would then drop the pending response.
  (server as typeof server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  // One more than allowed is enough to see that there are too many.
  server.maxHeadersCount = headerLinesMax + 1;
  const connections = guardConnections(server, begin, http.config, waits.linger);
  answerParserFaults(server, http, connections.open, fairQueue);
  return {
    server,
    connections,
    /** Closes the server and its connections. Resolves when the last one is closed. */
    drain: () => drain(server, connections),
  };
}

/** Reports whether a request announces a body, which may be empty (RFC 9112 §6). */
const hasBody = ({ headers }: IncomingMessage) =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

/** Returns the caller's name in the fair queue: the account number, or the network if the caller has no valid key. */
const queueOf = ({ key, client }: Caller) =>
  key === null || key instanceof Problem ? clientNetwork(client.address()) : key.accountNumber;

/**
 * Returns the routes of the gateway's reads. Each route turns a request into a question, and the reply into a response.
 */
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
  const send = ({ asker, quotaHeaders, datasetVersion, result }: Reply): void => {
    exchange.asker = asker;
    exchange.quotaHeaders = quotaHeaders;
    exchange.datasetVersion = datasetVersion;
    if (result.kind === "problem") answerWithProblem(http, exchange, result.problem, result.cause);
    else sendAnswer(http, exchange, result);
  };
  const reply = read.ask({
    caller: caller!,
    text: queryText(exchange),
    below: pathBelow(exchange),
    isHead: request.method === "HEAD",
    headers: request.headers as AskedHeaders,
  });
  return reply instanceof Promise ? reply.then(send) : send(reply);
}

/** Headers of pages for people, which are never stored, never framed, and never named in a `Referer`. */
const accountHeaders =
  pageHeaders +
  headerLines({
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });

/** HSTS policy for two years (RFC 6797). */
const secureTransport = headerLines({ "strict-transport-security": "max-age=63072000" });

/** Returns the routes of the pages that the account worker answers. */
function accountRoutes(http: HttpDependencies): Route[] {
  const { publicUrl, trustedProxies } = http.config;
  const headers = accountHeaders + (publicUrl?.startsWith("https:") ? secureTransport : "");
  const route = (
    path: string,
    bodyType: PageRequest["bodyType"] = formType,
    { methods = METHODS, ...others }: Partial<Route> = {},
  ): Route => ({
    path,
    methods,
    who: "person",
    name: otherPaths,
    ...others,
    async handle(exchange) {
      const { request, target } = exchange;
      const answer = await http.accountWorker({
        path: sentPath(target),
        query: queryText(exchange),
        method: request.method!,
        // A copy, because posting a small buffer to a thread would also send the memory that it shares with other
        // buffers.
        body: Uint8Array.from(await exchange.body),
        bodyType,
        headers: sentOnce(request, pageRequestHeaders),
        address: clientAddress(request, trustedProxies),
        now: http.now(),
        monotonicMicroseconds: http.clock.monotonicMicroseconds(),
      });
      // Account pages are never compressed, because the compressed length could reveal secrets (BREACH;
      // docs/running.md).
      sendAnswer(http, exchange, {
        status: answer.status,
        headers: headers + headerLines(answer.headers),
        body: Buffer.from(answer.body),
      });
    },
  });
  const pages = ["/account", "/browse", "/search"].flatMap((path) => [path, `${path}/*`]);
  return [
    ...pages.map((path) => route(path)),
    route(uploadPath, uploadType, { bodyBytesMax: uploadBytesMax }),
    route("/feeds/*", formType, { methods: ["GET", "HEAD"] }),
  ];
}

/**
 * Answers bytes that the HTTP parser refuses, requests that are not complete in time, and requests that Node would
 * otherwise handle itself.
 */
function answerParserFaults(
  server: Server,
  http: HttpDependencies,
  connections: Connections["open"],
  fairQueue: FairQueue,
): void {
  const endWith = (socket: Socket, problem: Problem) => {
    // Bytes after the last response are not a fault. They are discarded.
    if (!socket.writable) return;
    const requestId = makeRequestId();
    logUnrouted(http, requestId, problem);
    socket.write(wholeAnswer(problem, requestId, http));
    // Nothing more can be read from this connection, so it ends with this response.
    socket.destroySoon();
  };
  const faulty = new WeakSet<Socket>();
  /**
   * Calls `act` after a pending response, unless that response ends the connection. Calls `act` through the
   * fair queue if no response is pending, because thousands of faults can arrive at once.
   * @param response the connection's previous response, sent or not; undefined if there is none.
   */
  const inTurn = (socket: Socket, response: ServerResponse | undefined, act: () => void) => {
    if (response === undefined || response.writableFinished)
      fairQueue.enter(`faults ${clientNetwork(socket.remoteAddress ?? "unknown")}`, act);
    else
      // This must run before Node's own listener, which ends the connection if the client has closed its side.
      response.prependOnceListener("finish", () => {
        // Nothing follows a response that announces the end of its connection.
        if (response.shouldKeepAlive) act();
      });
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === "ECONNRESET") return void socket.destroy();
    // The first fault ends the connection. Bytes that arrive until then are not another fault.
    if (faulty.has(socket)) return;
    faulty.add(socket);
    const { latest, previous } = connections.get(socket) ?? {};
    const isInBody = latest?.req.complete === false;
    // The rest of the body cannot arrive, so a response that needs it never comes.
    const before = isInBody && !isAnsweredAnyway(latest) ? previous : latest;
    inTurn(socket, before, () => {
      // A request that has its response must not get a second one because of a fault in its body.
      if (isInBody && isAnsweredAnyway(latest)) socket.destroySoon();
      else endWith(socket, problemOf(error.code, isInBody));
    });
  });
  // The request is handled like any other. check-request.ts refuses an expectation that cannot be met.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response);
  });
}

/**
 * Reports whether a request has got, or will get, a response without the rest of its body. Only the response to a POST
 * may have to wait for the body.
 */
const isAnsweredAnyway = ({ req, headersSent }: ServerResponse) =>
  req.method !== "POST" || headersSent;

function problemOf(code: string | undefined, isInBody: boolean): Problem {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return headersTooLarge();
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Problem(
        "request-timeout",
        isInBody
          ? `The whole request must arrive within ${timeouts.request / 1000} seconds. Send it again on a new connection.`
          : `The headers of a request must arrive within ${timeouts.headers / 1000} seconds. Send the request again on a new connection.`,
      );
    default:
      return malformed(
        "The request is not valid HTTP/1.1. Percent-encode characters such as spaces and é in the address, and send the request with an HTTP library.",
      );
  }
}

function wholeAnswer(problem: Problem, requestId: string, http: HttpDependencies): Buffer {
  const { status, headers, body } = problemAnswer(problem, requestId);
  const own = headerLines({
    "x-request-id": requestId,
    date: new Date().toUTCString(),
    "content-length": String(body.length),
    connection: "close",
  });
  const all = commonHeaders(http.config.corsOrigins, undefined) + headers + own;
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${all}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

type FairQueue = ReturnType<typeof openFairQueue>;

interface Share {
  served: number;
  readonly waiting: (() => void)[];
}

/** Maximum number of one client's requests in a turn of the event loop. Few, so that none delays others for long. */
export const sharePerTurn = 2;

/**
 * Opens a queue that shares the event loop fairly. Each turn handles a few requests of each client, and the rest wait.
 * A client with a thousand connections delays others no more than a client with two.
 */
export function openFairQueue(share = sharePerTurn) {
  let clients = new Map<string | number, Share>();
  const serveNext = (client: Share) => {
    while (client.served < share && client.waiting.length > 0) {
      client.served++;
      client.waiting.shift()!();
    }
  };
  const beginTurn = () => {
    const left = [...clients].filter(([, { waiting }]) => waiting.length > 0);
    // A new map is needed: one that is emptied again and again keeps its former tables alive until a full garbage
    // collection.
    clients = new Map(left);
    for (const [, client] of left) client.served = 0;
    for (const [, client] of left) serveNext(client);
    if (clients.size > 0) setImmediate(beginTurn);
  };
  return {
    /**
     * Runs a request at once, or in a later turn if its client has no share left in the current turn.
     * @param name account number, or a name that contains the client's network.
     */
    enter(name: string | number, run: () => void): void {
      let client = clients.get(name);
      if (client === undefined) {
        if (clients.size === 0) setImmediate(beginTurn);
        clients.set(name, (client = { served: 0, waiting: [] }));
      }
      if (client.served === share) return void client.waiting.push(run);
      client.served++;
      run();
    },
  };
}

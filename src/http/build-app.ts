/** Builds the HTTP server: one Fastify application with all its routes. Whoever builds it closes it. */
import Fastify, { type FastifyError, type FastifyInstance } from "fastify";
import { formType } from "#account/messages.ts";
import type { KeyHolder } from "#api/caller.ts";
import { internalError, Problem } from "#problems.ts";
import {
  bodyTooLarge,
  checkRequest,
  factsByPath,
  headerBytesMax,
  headerLinesMax,
  openBodyBudget,
  targetBytesMax,
} from "./check-request.ts";
import { clientAddress, clientOf, presentedKey, presentedKeyOrBearer } from "./client-address.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { openFairQueue } from "./fair-queue.ts";
import { guardConnections, type GuardedConnections } from "./guard-connections.ts";
import { mountHealth } from "./health.ts";
import { logUnrouted } from "./log-requests.ts";
import { mountAccount } from "./mount-account.ts";
import { mountChanges } from "./mount-changes.ts";
import { messageType, mountMcp } from "./mount-mcp.ts";
import { mountOperation } from "./mount-operation.ts";
import { mountPublicPaths } from "./mount-public-paths.ts";
import { mountVocabulary } from "./mount-vocabulary.ts";
import { answerParserFaults } from "./parser-faults.ts";
import { requestIdOf } from "./request-id.ts";
import { otherPaths } from "./request-metrics.ts";
import { mountOtherMethods, type RouteFacts } from "./routes.ts";
import { refuse, sendProblem } from "./send-answer.ts";

/** Every wait is bounded; milliseconds. */
export const timeouts = {
  headers: 10_000,
  request: 15_000,
  /** Longer than a reverse proxy keeps idle connections, so that it never writes into one that is closing. */
  keepAlive: 10_000,
  checkEvery: 2000,
  /** How long a client has to read the last response and close its side. */
  linger: 2000,
};

interface App {
  app: FastifyInstance;
  connections: GuardedConnections;
}

/** @param waits shorter ones, for tests. */
export function buildApp(http: HttpDependencies, waits = timeouts): App {
  const app = Fastify({
    http: {
      maxHeaderSize: headerBytesMax,
      // Node would send an empty 400; check-request.ts sends a problem.
      requireHostHeader: false,
      headersTimeout: waits.headers,
      connectionsCheckingInterval: waits.checkEvery,
    },
    requestTimeout: waits.request,
    keepAliveTimeout: waits.keepAlive,
    // See answerParserFaults; Fastify's own response has another format.
    clientErrorHandler: () => {},
    frameworkErrors(error, request, reply) {
      const problem = problemOf(error);
      // No hook runs for these, the logging one included, and nothing has checked where the request ends.
      request.isLast = true;
      logUnrouted(http, request.id, problem);
      sendProblem(http, request, reply, problem);
    },
    genReqId: (request) => requestIdOf(request),
    requestIdHeader: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: false,
    // No route has a schema. By default Fastify loads the schema compilers, a third of all the code a server loads.
    schemaController: {
      compilersFactory: { buildValidator: compileNothing, buildSerializer: compileNothing },
    },
    // No part of a path is too long by itself: Fastify's own limit of 100 characters has no answer but an error.
    routerOptions: { querystringParser: () => ({}), maxParamLength: targetBytesMax },
    rewriteUrl: ({ url = "/" }) => withoutAuthority(url),
  });
  app.server.removeAllListeners("clientError");
  // A client may close its side once its request is sent (RFC 9112 §9.6); Node would drop a pending response.
  (app.server as typeof app.server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  // One more is enough to tell that there are too many.
  app.server.maxHeadersCount = headerLinesMax + 1;
  const connections = guardConnections(app, http.config, waits.linger);
  const fairQueue = openFairQueue();
  const bodyBudget = openBodyBudget(http.config.trustedProxies);
  app.server.prependListener("request", bodyBudget.take);
  answerParserFaults(app.server, http, connections.open, fairQueue);
  app.decorateRequest("caller", null);
  app.decorateRequest("asker", null);
  app.decorateRequest("problemCode", null);
  app.decorateRequest("datasetVersion", null);
  app.decorateRequest("operation", otherPaths);
  app.decorateRequest("quotaHeaders", null);
  app.decorateRequest("isLast", false);
  app.decorateRequest("isPrivate", false);
  app.decorateRequest("path", "unknown");
  app.decorateRequest("arrivedAt", 0);

  const known = new Map<string, RouteFacts>();
  app.addHook("onRoute", ({ url, config }) => {
    if (config?.facts !== undefined) known.set(url, config.facts);
    for (const [path, facts] of config?.factsByPath ?? []) known.set(path, facts);
  });
  app.addHook("onRequest", (request, reply, done) => {
    request.arrivedAt = performance.now();
    const { config } = request.routeOptions;
    if (config.facts !== undefined) request.path = config.url!;
    const facts = config.facts ?? factsByPath(request, config.factsByPath ?? known);
    request.isPrivate = facts?.isPrivate === true;
    const enter = (whose: string | number) =>
      fairQueue.enter(whose, () => {
        // Its client has left while it was waiting.
        if (request.socket.destroyed) return;
        try {
          if (checkRequest(http, known, request, reply, facts)) return;
          bodyBudget.check(request);
          done();
        } catch (error) {
          done(error as Error);
        }
      });
    if (facts?.operation === undefined) {
      const address = clientAddress(request.raw, http.config.trustedProxies);
      // A client's own questions do not keep whoever watches this process from the same address waiting.
      return enter(facts?.isAlwaysOpen === true ? `watch ${address}` : address);
    }
    request.operation = facts.operation;
    const identified = (caller: KeyHolder) => {
      request.caller = caller;
      enter(queueOf(caller));
    };
    const presented = facts.takesBearer === true ? presentedKeyOrBearer : presentedKey;
    const caller = http.api.identify(presented(request.raw), clientOf(http.config, request.raw));
    if (caller instanceof Promise) caller.then(identified, done);
    else identified(caller);
  });
  app.setErrorHandler((error: FastifyError | Problem, request, reply) => {
    const bodyType = request.operation === "mcp" ? messageType : formType;
    refuse(http, request, reply, problemOf(error, bodyType), error);
  });
  // onRequest has thrown by then; this makes sure that Fastify's own 404 is never sent.
  const neverReached = () => {
    throw internalError();
  };
  app.setNotFoundHandler(neverReached);
  mountOtherMethods(app, neverReached);

  for (const operation of http.operations) mountOperation(app, http, operation);
  mountVocabulary(app, http);
  mountMcp(app, http);
  mountChanges(app, http);
  mountPublicPaths(app, http);
  mountHealth(app, http);
  mountAccount(app, http);
  return { app, connections };
}

/** The client whose share of the fair queue a request uses: its account, or its address without a valid key. */
const queueOf = ({ key, client }: KeyHolder) =>
  key === null || key instanceof Problem ? client.address() : key.accountNumber;

function compileNothing(): never {
  throw new Error("Routes have no schema here: parameters.ts reads the query.");
}

/** `GET http://host/path` is a valid request line (RFC 9112 §3.2.2); the host in it is ignored. */
function withoutAuthority(url: string): string {
  if (url.startsWith("/")) return url;
  const target = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  // The router takes any first character for a slash, so `*fetch-gp` would be an alias of `/fetch-gp`.
  return target.startsWith("/") ? target : `/${target}`;
}

/** @param bodyType what its path reads. */
function problemOf(error: FastifyError | Problem | Error, bodyType = formType): Problem {
  if (error instanceof Problem) return error;
  const { code } = error as FastifyError;
  if (code === "FST_ERR_BAD_URL" || code === "FST_ERR_MAX_LENGTH_PARAM_EXCEEDED")
    return new Problem("malformed-request", "The path is not valid percent-encoded UTF-8.");
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return bodyTooLarge();
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new Problem(
      "unsupported-media-type",
      `The Content-Type header names no media type; this path reads ${bodyType}.`,
      { available: [bodyType] },
    );
  // The client disconnected in the middle of a body: nobody receives this, but it is no internal error either.
  if (code === "ECONNRESET")
    return new Problem("malformed-request", "The connection ended before the body did.");
  // Every other method has a route; PRI is known to the parser, but missing from Node's list of methods.
  if (code === "FST_ERR_NOT_FOUND")
    return new Problem(
      "malformed-request",
      "PRI begins HTTP/2 (RFC 9113), which is not spoken here.",
    );
  return internalError();
}

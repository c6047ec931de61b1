/** The front door: one application, its routes in sight. Whoever builds it closes it. */
import { METHODS } from "node:http";
import Fastify, { type FastifyError, type FastifyInstance } from "fastify";
import { Problem } from "#problems.ts";
import type { AnswerCache } from "./answer-cache.ts";
import { checkRequest } from "./check-request.ts";
import type { FrontDoor } from "./front-door.ts";
import { mountHealth } from "./health.ts";
import { logRequests } from "./log-requests.ts";
import { mountOperation } from "./mount-operation.ts";
import { mountPublicPaths } from "./mount-public-paths.ts";
import { answerParserFaults, headerBytesMax } from "./parser-faults.ts";
import { requestIdOf } from "./request-id.ts";
import { internalError, sendProblem } from "./send-problem.ts";

/** Every wait has an end; milliseconds. */
export const timeouts = {
  headers: 10_000,
  request: 15_000,
  /** Longer than a proxy in front keeps its own side idle, so that it never writes into a closing connection. */
  keepAlive: 10_000,
  checkEvery: 2000,
} as const;

export function buildApp(door: FrontDoor, cache: AnswerCache): FastifyInstance {
  const app = Fastify({
    http: {
      maxHeaderSize: headerBytesMax,
      // Node would answer with an empty 400; check-request.ts answers with a problem.
      requireHostHeader: false,
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: timeouts.checkEvery,
    },
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.keepAlive,
    // Parser faults are answered by us; Fastify's own answer would be another shape.
    clientErrorHandler: () => {},
    frameworkErrors: (error, _request, reply) => void sendProblem(reply, problemOf(error)),
    genReqId: (request) => requestIdOf(request),
    requestIdHeader: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: false,
    routerOptions: { querystringParser: () => ({}) },
    rewriteUrl: ({ url = "/" }) => withoutAuthority(url),
  });
  app.server.removeAllListeners("clientError");
  // A client may close its side once it has asked (RFC 9112 §9.6); Node would drop an answer still under way.
  (app.server as typeof app.server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  answerParserFaults(app.server, door);
  acceptEveryMethod(app);
  app.decorateRequest("keyId", null);
  app.decorateRequest("problemCode", null);
  logRequests(app, door.log);

  const paths: string[] = [];
  app.addHook("onRoute", ({ url }) => void paths.push(url));
  app.addHook("onRequest", (request, reply, done) => {
    if (!checkRequest(door, paths, request, reply)) done();
  });
  app.setErrorHandler((error: FastifyError | Problem, request, reply) => {
    const problem = problemOf(error);
    request.problemCode = problem.code;
    if (problem.code === "internal-error")
      door.log.error({ err: error, request_id: request.id }, "internal error");
    return sendProblem(reply, problem);
  });
  // Reached through onRequest, which has thrown by then; kept so that Fastify's own 404 can never be sent.
  app.setNotFoundHandler(() => {
    throw internalError();
  });

  for (const operation of door.operations) mountOperation(app, door, cache, operation);
  mountPublicPaths(app, door);
  mountHealth(app, door);
  return app;
}

/** Methods that Fastify does not know would be 404s; here they are 405s like all others. */
function acceptEveryMethod(app: FastifyInstance): void {
  for (const method of METHODS)
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
}

/** `GET http://host/path` is a valid request line (RFC 9112 §3.2.2); the host in it means nothing to us. */
function withoutAuthority(url: string): string {
  return url.startsWith("/") ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "") || "/";
}

function problemOf(error: FastifyError | Problem | Error): Problem {
  if (error instanceof Problem) return error;
  const { code } = error as FastifyError;
  if (code === "FST_ERR_BAD_URL" || code === "FST_ERR_MAX_LENGTH_PARAM_EXCEEDED")
    return new Problem("malformed-request", "The path is not valid percent-encoded UTF-8.");
  return internalError();
}

/** What the HTTP server knows of each path beside its handler. */
import type { FastifyInstance, HTTPMethods } from "fastify";
import type { Asker, KeyHolder } from "#api/caller.ts";
import type { Operation } from "#operations/operation.ts";
import type { HeaderLines } from "./common-headers.ts";
import type { CountedOperation } from "./request-metrics.ts";

export interface RouteFacts {
  /** Methods the path answers; any other is a 405. */
  methods: readonly string[];
  /** Set on the paths that need a key. */
  operation?: Operation["name"];
  /** For one person's eyes: no other site may read it. */
  isPrivate?: boolean;
  /** Answers also while the service starts or drains. */
  isAlwaysOpen?: boolean;
}

declare module "fastify" {
  interface FastifyContextConfig {
    facts?: RouteFacts;
  }
  interface FastifyRequest {
    /** Who sent it; null on paths that need no key. */
    caller: KeyHolder | null;
    /** For whom it was counted, once it was accepted. */
    asker: Asker | null;
    /** What its answer is counted under. */
    operation: CountedOperation;
    /** Code of the problem it was answered with. */
    problemCode: string | null;
    /** Version of the dataset it was answered from. */
    datasetVersion: string | null;
    /** What its answer says of the quota, once it was counted. */
    quotaHeaders: HeaderLines | null;
    /** No other site may read its answer. */
    isPrivate: boolean;
    /** No other request can follow on its connection. */
    isLast: boolean;
    /** Size of the content it was answered with. */
    bodyBytes: number;
  }
}

export const routeConfig = (facts: RouteFacts) => ({ facts });

/** What every path answers. */
export const answeredMethods: HTTPMethods[] = ["GET", "HEAD", "OPTIONS"];

/**
 * Takes every other method, so that a wrong one is a 405 and not a 404: by one route for all paths, because one for
 * each path would take longer to make than all else of the HTTP server.
 * @param neverReached what `factsOf` leads to is decided before any handler runs.
 */
export function mountOtherMethods(app: FastifyInstance, neverReached: () => never): void {
  for (const method of http.METHODS)
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const others = app.supportedMethods.filter((one) => !answeredMethods.includes(one));
  app.route({ method: others, url: "/*", handler: neverReached });
}

/** What the HTTP server needs of node:http, without all that an `import` of it loads. */
// To import a module of Node reads each of its names, and one of these is a getter that loads a whole WebSocket
// client: 15 MB and as much time as a third of a start.
const http = process.getBuiltinModule("node:http");
export const { STATUS_CODES, createServer } = http;

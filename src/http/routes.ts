/** What the HTTP server knows of each path, and what it attaches to a request. */
import type { FastifyInstance, HTTPMethods } from "fastify";
import type { Asker, KeyHolder } from "#api/caller.ts";
import type { ReadName } from "#operations/reads.ts";
import type { HeaderLines } from "./common-headers.ts";
import { METHODS } from "./node-http.ts";
import type { CountedOperation } from "./request-metrics.ts";

export interface RouteFacts {
  /** Methods the path answers; any other is a 405. */
  methods: readonly string[];
  /** Set on the paths that need a key. */
  operation?: ReadName;
  /** Whether the key may come in `Authorization`, too. */
  takesBearer?: boolean;
  /** No other origin may read it. */
  isPrivate?: boolean;
  /** Also served while the service starts or drains. */
  isAlwaysOpen?: boolean;
}

declare module "fastify" {
  interface FastifyContextConfig {
    facts?: RouteFacts;
    /** By path, where one route serves many. */
    factsByPath?: ReadonlyMap<string, RouteFacts>;
  }
  interface FastifyRequest {
    /** Who sent it; null on paths that need no key. */
    caller: KeyHolder | null;
    /** For whom it was counted; null until then. */
    asker: Asker | null;
    /** What its metrics are labelled with. */
    operation: CountedOperation;
    /** Code of the problem that was sent. */
    problemCode: string | null;
    /** Version of the dataset that the response was made from. */
    datasetVersion: string | null;
    /** When its headers had arrived; `performance.now()`. */
    arrivedAt: number;
    /** `RateLimit` fields, once it was counted. */
    quotaHeaders: HeaderLines | null;
    /** No other origin may read the response. */
    isPrivate: boolean;
    /** No other request can follow on its connection. */
    isLast: boolean;
    /** The path of its route. */
    path: string;
  }
}

export const routeConfig = (facts: RouteFacts) => ({ facts });

/** Methods that have a route on every path. */
export const answeredMethods: HTTPMethods[] = ["GET", "HEAD", "OPTIONS"];

/**
 * Routes every other method, so that a wrong one is a 405 and not a 404. One route serves all paths: to add one for
 * each would take longer than building the rest of the HTTP server.
 * @param neverReached the check of the request refuses the method before any handler runs.
 */
export function mountOtherMethods(app: FastifyInstance, neverReached: () => never): void {
  for (const method of METHODS)
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const others = app.supportedMethods.filter((one) => !answeredMethods.includes(one));
  app.route({ method: others, url: "/*", handler: neverReached });
}

/** What the front door knows of each path beside its handler. */
import type { FastifyInstance, HTTPMethods } from "fastify";
import type { Operation } from "#operations/operation.ts";

export interface RouteFacts {
  /** Methods the path answers; any other is a 405. */
  methods: readonly string[];
  /** Set on the paths that need a key. */
  operation?: Operation["name"];
  /** Answers also while the service starts or drains. */
  isAlwaysOpen?: boolean;
}

declare module "fastify" {
  interface FastifyContextConfig {
    facts?: RouteFacts;
  }
  interface FastifyRequest {
    /** Id of the key the request came with, once it was accepted. */
    keyId: string | null;
    /** Code of the problem it was answered with. */
    problemCode: string | null;
  }
}

export const routeConfig = (facts: RouteFacts) => ({ facts });

/** A path takes every method, so that a wrong one is a 405 and not a 404. */
export const anyMethod = (app: FastifyInstance) => app.supportedMethods as HTTPMethods[];

/** State and dependencies of the HTTP server, which accesses no store itself. */
import type { Logger } from "pino";
import type { Config } from "#config.ts";
import type { PageAnswer, PageRequest } from "#dashboard/messages.ts";
import type { FindAnswer } from "#gateway/read-operation.ts";
import type { Content, Read, ReadDependencies } from "#gateway/reads.ts";
import type { Clock } from "#limits/clocks.ts";
import type { notReadyDetails } from "#problems.ts";
import type { RequestMetrics } from "./record-requests.ts";
import type { OverloadCause } from "./overload.ts";
import type { Exchange } from "./routes.ts";

export interface HttpDependencies extends Pick<
  ReadDependencies,
  "gateway" | "operations" | "model" | "changes"
> {
  config: Config;
  /** Reads that need a key. */
  reads: readonly Read[];
  /** Answers operations for `/mcp`. */
  findAnswer: FindAnswer;
  /** Logs, counts and records a request after its response of `bytes` bytes is sent. */
  recordRequest(exchange: Exchange, status: number, bytes: number): void;
  /**
   * Sends a response once the counts of this turn of the event loop are committed. Refuses the request if they cannot
   * be.
   */
  afterCommit(response: Outgoing): void;
  /** Serves `/account` and the paths below it. */
  accountWorker(request: PageRequest): Promise<PageAnswer>;
  /** Returns milliseconds since 1970. */
  now(): number;
  clock: Clock;
  /** State of the service. A property rather than a function, because every request reads it. */
  life: { readonly state: ServiceState };
  overload: { readonly cause: OverloadCause | null };
  metrics: RequestMetrics;
  log: Logger;
}

/**
 * State of the service. While `closing`, the service accepts no connections and gives each open one a last response.
 * While `draining`, it finishes requests in progress and refuses others.
 */
export type ServiceState = "starting" | "running" | "closing" | "draining";

/**
 * Returns the reason why queries cannot be answered. Returns undefined if they can. A store outage after the start is
 * no reason: known keys keep working.
 */
export function whyNotReady({
  life,
  model,
}: HttpDependencies): keyof typeof notReadyDetails | undefined {
  const now = life.state;
  if (now === "closing") return "draining";
  if (now !== "running") return now;
  return model() === null ? "no_dataset" : undefined;
}

/** A response ready to send, with all its headers. */
export interface Outgoing extends Pick<Content, "status" | "headers" | "body"> {
  http: HttpDependencies;
  exchange: Exchange;
  file: Content["file"];
}

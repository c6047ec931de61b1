/** Dependencies of the HTTP server, which accesses no store and no file, and its state. */
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
  /** Everything that is read with a key. */
  reads: readonly Read[];
  /** Answers operations for `/mcp`. */
  findAnswer: FindAnswer;
  /** Logs, counts and records a request once its response, of this many bytes, is sent. */
  recordRequest(exchange: Exchange, status: number, bytes: number): void;
  /** Sends a response, or refuses the request, once the counts of this turn of the event loop are committed, or cannot be. */
  afterCommit(response: Outgoing): void;
  /** Serves `/account` and the paths below it. */
  accountWorker(request: PageRequest): Promise<PageAnswer>;
  /** Returns milliseconds since 1970. */
  now(): number;
  clock: Clock;
  /** State of the service, as data and not a call: every request reads it. */
  life: { readonly state: ServiceState };
  overload: { readonly cause: OverloadCause | null };
  metrics: RequestMetrics;
  log: Logger;
}

/**
 * State of the service. While `closing`, it accepts no connection, and gives each open one a last answer. While `draining`,
 * it finishes the requests in progress and refuses others.
 */
export type ServiceState = "starting" | "running" | "closing" | "draining";

/** Returns why queries cannot be answered, if so. A store outage after the start is no reason: known keys keep working. */
export function whyNotReady({
  life,
  model,
}: HttpDependencies): keyof typeof notReadyDetails | undefined {
  const now = life.state;
  if (now === "closing") return "draining";
  if (now !== "running") return now;
  return model() === null ? "no_dataset" : undefined;
}

/** A response, complete with the headers of every response. */
export interface Outgoing extends Pick<Content, "status" | "headers" | "body"> {
  http: HttpDependencies;
  exchange: Exchange;
  file: Content["file"];
}

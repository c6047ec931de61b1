/** State and dependencies of the HTTP server, which accesses no store itself. */
import type { Logger } from "pino";
import type { Config } from "#config.ts";
import type { PageAnswer, PageRequest } from "#dashboard/messages.ts";
import type { AnswerSource } from "#gateway/read-operation.ts";
import type { Content, Read, ReadDependencies } from "#gateway/reads.ts";
import type { Clock } from "#limits/clocks.ts";
import type { notReadyDetails } from "#problems.ts";
import type { RequestMetrics } from "./record-requests.ts";
import type { OverloadCause } from "./overload.ts";
import type { Exchange } from "./routes.ts";

export interface HttpDependencies extends Pick<
  ReadDependencies,
  "gateway" | "operations" | "model" | "changes" | "explain"
> {
  config: Config;
  /** The gateway's reads, which all need a key. */
  reads: readonly Read[];
  /** Source of the operations' answers, for the tools of `/mcp`. */
  answers: AnswerSource;
  /** Logs and counts an answered request. Records it if it has an `asker`. @param bytes size of the body sent. */
  recordRequest(exchange: Exchange, status: number, bytes: number): void;
  /** Sends a response once the counts of this turn of the event loop are committed. */
  afterCommit(response: Outgoing): void;
  accountWorker(request: PageRequest): Promise<PageAnswer>;
  /** Returns who may see the served records on pages. */
  browse(): Config["browse"];
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
 * State of the service. While `closing`, the service accepts no new connections, closes idle ones, and answers each
 * further request as the last of its connection. While `draining`, it finishes requests in progress and refuses new
 * ones.
 */
export type ServiceState = "starting" | "running" | "closing" | "draining";

/**
 * Returns the reason why the service is not ready to answer queries. Returns undefined if it is ready. A store outage
 * after the start is not a reason, because known keys stay valid.
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

/** A response that is ready to send. Node adds headers such as `Date` and `Connection`. */
export interface Outgoing extends Pick<Content, "status" | "headers" | "body"> {
  http: HttpDependencies;
  exchange: Exchange;
  file: Content["file"];
}

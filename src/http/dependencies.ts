/** What the HTTP server is handed: it sees no store and no file. */
import type { Logger } from "pino";
import type { PageAnswer, PageRequest } from "#account/messages.ts";
import type { Api } from "#api/ask.ts";
import type { Config } from "#config.ts";
import type { Clock } from "#limits/clock.ts";
import type { Operation } from "#operations/operation.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { AnsweredRequest } from "#usage/recorder.ts";
import type { AfterCommit } from "./commit-barrier.ts";
import type { OverloadGuard } from "./overload.ts";
import type { RequestMetrics } from "./request-metrics.ts";

export interface HttpDependencies {
  config: Config;
  operations: readonly Operation[];
  /** The one way to the records. */
  api: Api;
  /** The dataset that is served; null while there is none. */
  model(): ReadModel | null;
  /** Takes down a request that passed the key check, once it is answered. */
  recordRequest(request: AnsweredRequest): void;
  /** For answers to what was counted. */
  afterCommit: AfterCommit;
  /** Answers `/account` and what is below it. */
  accountWorker(request: PageRequest): Promise<PageAnswer>;
  /** Milliseconds since 1970. */
  now(): number;
  clock: Clock;
  state(): ServiceState;
  overload: Pick<OverloadGuard, "cause">;
  metrics: RequestMetrics;
  log: Logger;
}

/** `draining`: the process was told to stop and finishes what it has begun. */
export type ServiceState = "starting" | "running" | "draining";

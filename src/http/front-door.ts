/** What the front door is handed: it sees no store and no file. */
import type { Logger } from "pino";
import type { Config } from "#config.ts";
import type { LiveKey } from "#keys/live-key.ts";
import type { Clock } from "#limits/clock.ts";
import type { Counters } from "#limits/counters.ts";
import type { FailedKeys } from "#limits/failed-keys.ts";
import type { OfficeAnswer, OfficeRequest } from "#office/message.ts";
import type { Operation } from "#operations/operation.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { AnsweredRequest } from "#usage/recorder.ts";
import type { HoldAnswer } from "./held-answers.ts";
import type { OverloadGuard } from "./overload.ts";
import type { RequestMetrics } from "./request-metrics.ts";

export interface FrontDoor {
  config: Config;
  operations: readonly Operation[];
  /** The dataset to answer from; null while there is none. */
  model(): ReadModel | null;
  verifyKey(presented: string): LiveKey;
  /** @param addressOf the client's; asked for only now and then. */
  noteKeyUse(key: LiveKey, addressOf: () => string): void;
  /** Takes down a request that passed the key check, once it is answered. */
  recordRequest(request: AnsweredRequest): void;
  counters: Counters;
  /** For answers to what was counted. */
  hold: HoldAnswer;
  failedKeys: FailedKeys;
  /** Answers `/account` and what is below it. */
  office(request: OfficeRequest): Promise<OfficeAnswer>;
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

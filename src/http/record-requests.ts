/** Logs, counts and records each request once its response is sent. */
import { type Logger, symbols } from "pino";
import type { Config } from "#config.ts";
import type { Asker } from "#gateway/gateway.ts";
import { failedKeys, mcpMessages } from "#limits/keyed-limit.ts";
import { windows } from "#limits/policy.ts";
import { type Metric, openHistogram, openTally } from "#metrics/metric.ts";
import { type ReadName, readNames } from "#operations/reads.ts";
import { maskKeys, type Problem } from "#problems.ts";
import type { AnsweredRequest } from "#usage/recording.ts";
import { type OverloadCause, overloadCauses } from "./overload.ts";

export interface FinishedRequest extends Omit<AnsweredRequest, "account" | "key" | "query"> {
  /** Account and key that it was counted for; null if it was not. */
  asker: Asker | null;
  operation: CountedOperation;
  method: string;
  /** Path of the route, never the one that was sent: that could contain a key. */
  path: string;
  /** Target as it was sent, for its query. */
  target: string;
}

export interface RequestSinks {
  config: Pick<Config, "usageLogParameters" | "usageLogDays">;
  log: Logger;
  metrics: RequestMetrics;
  /** Records a request in the usage store. */
  record(request: AnsweredRequest): void;
}

/** Logs and counts every request. Records in the usage store only those that a quota counted. */
export function openRequestRecorder({ config, log, metrics, record }: RequestSinks) {
  const write = openAccessLog(log);
  const keepsQuery = config.usageLogParameters && config.usageLogDays > 0;
  // Member by member: it runs for every request, and a spread is slow.
  return (finished: FinishedRequest): void => {
    const { asker, operation, status, milliseconds, bytes, problem, requestId } = finished;
    metrics.answered(operation, status, milliseconds);
    write(finished);
    if (asker === null) return;
    record({
      account: asker.accountNumber,
      key: asker.id,
      operation,
      status,
      milliseconds,
      bytes,
      dataset: finished.dataset,
      problem,
      requestId,
      query: keepsQuery ? recordedQuery(finished.target) : null,
    });
  };
}

/** Logs a request that reached no route, because its bytes or its path could not be read. */
export function logUnrouted(
  { log, metrics }: Pick<RequestSinks, "log" | "metrics">,
  requestId: string,
  { status, code }: Problem,
): void {
  metrics.answeredUnrouted(status);
  log.info({ request_id: requestId, status, problem: code }, "request");
}

/** Returns the query as it was sent, with keys masked; empty if there is none. */
function recordedQuery(url: string): string {
  const mark = url.indexOf("?");
  const text = mark === -1 ? "" : url.slice(mark + 1);
  return maskKeys(text);
}

/** The stream that pino writes its own lines to. */
export interface LogStream {
  write(lines: string): void;
  /** Writes a line a little later, together with the next ones. If it is missing, each line is written by itself. */
  gather?(line: string): void;
}

/**
 * Writes one line for each request. It has named fields only, so nothing else gets into the log. None can contain a
 * character that JSON escapes: request ids are of `[A-Za-z0-9._-]`, even if the client chose them, and methods are those
 * of Node's parser.
 */
export function openAccessLog(log: Logger): (request: FinishedRequest) => void {
  const stream = (log as unknown as Record<symbol, LogStream>)[symbols.streamSym]!;
  const write = (stream.gather ?? stream.write).bind(stream);
  const level = log.levels.values["info"]!;
  return ({ requestId, method, path, status, milliseconds, bytes, asker, problem }) => {
    if (!log.isLevelEnabled("info")) return;
    const hundredths = Math.round(milliseconds * 100) / 100;
    const keyMember = asker === null ? "" : `,"key":"${asker.id}"`;
    const problemMember = problem === null ? "" : `,"problem":"${problem}"`;
    write(
      `{"level":${level},"time":"${timeText()}","request_id":"${requestId}","method":"${method}","path":"${path}","status":${status},"ms":${hundredths},"bytes":${bytes}${keyMember}${problemMember},"msg":"request"}\n`,
    );
  };
}

let textMilliseconds = 0;
let text = "";

/** Returns the time as text, cached, as many requests share a millisecond. */
function timeText(): string {
  const now = Date.now();
  if (now !== textMilliseconds) {
    textMilliseconds = now;
    text = new Date(now).toISOString();
  }
  return text;
}

/** Label of pages, health, unknown paths, and unreadable requests. */
export const otherPaths = "other";
export type CountedOperation = ReadName | typeof otherPaths;

export interface RequestMetrics {
  metrics: readonly Metric[];
  answered(operation: CountedOperation, status: number, milliseconds: number): void;
  /** Counts a response without a route. Its duration is not measured. */
  answeredUnrouted(status: number): void;
  /** Counts a problem if a quota caused it. Called with every problem that is sent. */
  refused(problem: Problem): void;
  overloaded(cause: OverloadCause): void;
}

/** Buckets in seconds, from an answer out of the cache to one that nobody should wait for. */
const durationBounds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
];

export function openRequestMetrics(): RequestMetrics {
  const requests = openTally(
    "gp_records_requests_total",
    "Requests answered",
    ["operation", "status"],
    [...readNames, otherPaths].map((name) => [name, 500]),
  );
  const durations = openHistogram(
    "gp_records_request_duration_seconds",
    "Time from a request's headers to the last byte handed to the system",
    "operation",
    durationBounds,
  );
  const policies = [...windows.map(({ name }) => name), failedKeys.name, mcpMessages.name];
  const quotas = openTally(
    "gp_records_quota_refusals_total",
    "Requests refused because this quota was used up",
    ["policy"],
    policies.map((policy) => [policy]),
  );
  const overload = openTally(
    "gp_records_overload_refusals_total",
    "Requests refused because the process had too much to do",
    ["cause"],
    overloadCauses.map((cause) => [cause]),
  );
  return {
    metrics: [requests, durations, quotas, overload],
    answered(operation, status, milliseconds) {
      requests.add(operation, status);
      durations.observe(operation, milliseconds / 1000);
    },
    answeredUnrouted: (status) => requests.add(otherPaths, status),
    refused({ code, members }) {
      if (code !== "quota-exceeded") return;
      for (const policy of members["violated-policies"] as readonly string[]) quotas.add(policy);
    },
    overloaded: (cause) => overload.add(cause),
  };
}

/** Logs and counts requests once their responses are handed to Node. Records some of them in the usage store. */
import { type Logger, symbols } from "pino";
import type { Config } from "#config.ts";
import { failedKeys, mcpMessages } from "#limits/keyed-limit.ts";
import { windows } from "#limits/policy.ts";
import { openHistogram, openTally } from "#metrics/metric.ts";
import { readNames } from "#operations/reads.ts";
import { maskKeys, type Problem } from "#problems.ts";
import type { AnsweredRequest } from "#usage/recording.ts";
import { type OverloadCause, overloadCauses } from "./overload.ts";
import { type Exchange, otherPaths, queryText, type Route } from "./routes.ts";

export interface RequestSinks {
  config: Pick<Config, "usageLogParameters" | "usageLogDays">;
  log: Logger;
  metrics: RequestMetrics;
  /** Records a request in the usage store. */
  record(request: AnsweredRequest): void;
}

/**
 * Returns a function that logs and counts each request. It also records a request in the usage store if the key was
 * accepted, except a message to `/mcp` that calls no tool.
 */
export function openRequestRecorder({ config, log, metrics, record }: RequestSinks) {
  const write = openAccessLog(log);
  const keepsQuery = config.usageLogParameters && config.usageLogDays > 0;
  return (exchange: Exchange, status: number, bytes: number): void => {
    const milliseconds = performance.now() - exchange.arrivedAt;
    const operation = exchange.route?.name ?? otherPaths;
    metrics.answered(operation, status, milliseconds);
    write(exchange, status, bytes, milliseconds);
    const { asker } = exchange;
    if (asker === null) return;
    record({
      account: asker.accountNumber,
      key: asker.id,
      operation,
      status,
      milliseconds,
      bytes,
      dataset: exchange.datasetVersion,
      problem: exchange.problemCode,
      requestId: exchange.id,
      query: keepsQuery ? maskKeys(queryText(exchange)) : null,
    });
  };
}

/** Logs and counts a response to bytes that the parser refuses, or to an incomplete request. */
export function logUnrouted(
  { log, metrics }: Pick<RequestSinks, "log" | "metrics">,
  requestId: string,
  { status, code }: Problem,
): void {
  metrics.answeredUnrouted(status);
  log.info({ request_id: requestId, status, problem: code }, "request");
}

export interface LogStream {
  write(lines: string): void;
  /** Buffers a line, to be written together with the next ones. Each line is written at once if this is undefined. */
  gather?(line: string): void;
}

/**
 * Returns a function that logs a line for each request at the level `info`. The line has only the fields named below.
 * Its path is the route's, because the request's own could contain a key. No field needs JSON escapes: request
 * ids consist of `[A-Za-z0-9._-]`, even if the client chose them, and methods come from Node's parser.
 */
export function openAccessLog(log: Logger) {
  const stream = (log as unknown as Record<symbol, LogStream>)[symbols.streamSym]!;
  const write = (stream.gather ?? stream.write).bind(stream);
  const level = log.levels.values["info"]!;
  return (
    { id, request, route, asker, problemCode }: Exchange,
    status: number,
    bytes: number,
    milliseconds: number,
  ): void => {
    if (!log.isLevelEnabled("info")) return;
    const hundredths = Math.round(milliseconds * 100) / 100;
    const keyMember = asker === null ? "" : `,"key":"${asker.id}"`;
    const problemMember = problemCode === null ? "" : `,"problem":"${problemCode}"`;
    write(
      `{"level":${level},"time":"${timeText()}","request_id":"${id}","method":"${request.method}","path":"${route?.path ?? "unknown"}","status":${status},"ms":${hundredths},"bytes":${bytes}${keyMember}${problemMember},"msg":"request"}\n`,
    );
  };
}

let textMilliseconds = 0;
let text = "";

/** Returns the current time as ISO text. Cached, because many requests share a millisecond. */
function timeText(): string {
  const now = Date.now();
  if (now !== textMilliseconds) {
    textMilliseconds = now;
    text = new Date(now).toISOString();
  }
  return text;
}

export type RequestMetrics = ReturnType<typeof openRequestMetrics>;

/** Upper bounds of the duration buckets, in seconds, from a cached answer to one that takes too long. */
const durationBounds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
];

export function openRequestMetrics() {
  const requests = openTally(
    "gp_records_requests_total",
    "Requests answered",
    ["operation", "status"],
    [...readNames, otherPaths].flatMap((name) => [
      [name, 500],
      [name, 503],
    ]),
  );
  const durations = openHistogram(
    "gp_records_request_duration_seconds",
    "Time from the arrival of a request's headers until its answer is handed to the operating system",
    "operation",
    durationBounds,
  );
  const policies = [...windows.map(({ name }) => name), failedKeys.name, mcpMessages.name];
  const quotas = openTally(
    "gp_records_quota_refusals_total",
    "Requests refused because a quota was used up, by quota",
    ["policy"],
    policies.map((policy) => [policy]),
  );
  const overload = openTally(
    "gp_records_overload_refusals_total",
    "Requests refused because the service was overloaded, by cause",
    ["cause"],
    overloadCauses.map((cause) => [cause]),
  );
  return {
    metrics: [requests, durations, quotas, overload],
    answered(operation: Route["name"], status: number, milliseconds: number): void {
      requests.add(operation, status);
      durations.observe(operation, milliseconds / 1000);
    },
    /** Counts a response without a route. Its duration is not measured. */
    answeredUnrouted: (status: number) => requests.add(otherPaths, status),
    /** Counts a problem once for each quota that is used up. Ignores problems that no quota caused. */
    refused({ code, members }: Problem): void {
      if (code !== "quota-exceeded") return;
      for (const policy of members["violated-policies"] as readonly string[]) quotas.add(policy);
    },
    overloaded: (cause: OverloadCause) => overload.add(cause),
  };
}

/** Logs, counts and records each request once its response is sent. */
import type { FastifyInstance } from "fastify";
import { type Logger, symbols } from "pino";
import type { Asker } from "#api/caller.ts";
import { maskKeys, type Problem } from "#problems.ts";
import type { AnsweredRequest } from "#usage/request-chunk.ts";
import type { HttpDependencies } from "./dependencies.ts";
import type { CountedOperation } from "./request-metrics.ts";

interface FinishedRequest extends Omit<AnsweredRequest, "account" | "key" | "query"> {
  /** For whom it was counted; null where it was not. */
  asker: Asker | null;
  operation: CountedOperation;
  method: string;
  /** The path of the route, never as it was sent: that could contain a key. */
  path: string;
  /** As it was sent, for its query. */
  target: string;
}

/** Records in the usage store only what was counted against a quota. */
export function openRequestRecorder({ config, log, metrics, recordRequest }: HttpDependencies) {
  const write = openRequestLog(log);
  const keepsQuery = config.usageLogParameters && config.usageLogDays > 0;
  // Member by member, since it runs for every request and a spread is slow.
  return (finished: FinishedRequest): void => {
    const { asker, operation, status, milliseconds, bytes, problem, requestId } = finished;
    metrics.answered(operation, status, milliseconds);
    write({
      requestId,
      method: finished.method,
      path: finished.path,
      status,
      milliseconds,
      bodyBytes: bytes,
      keyId: asker?.id ?? null,
      problemCode: problem,
    });
    if (asker === null) return;
    recordRequest({
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

export function logRequests(app: FastifyInstance, http: HttpDependencies): void {
  const record = openRequestRecorder(http);
  app.addHook("onResponse", (request, reply, done) => {
    record({
      asker: request.asker,
      operation: request.operation,
      method: request.method,
      path: request.routeOptions.url ?? "unknown",
      target: request.raw.url!,
      status: reply.statusCode,
      milliseconds: reply.elapsedTime,
      bytes: request.bodyBytes,
      dataset: request.datasetVersion,
      problem: request.problemCode,
      requestId: request.id,
    });
    done();
  });
}

/** Logs a request that reached no route, because its bytes or its path could not be read. */
export function logUnrouted(
  { log, metrics }: HttpDependencies,
  requestId: string,
  { status, code }: Problem,
): void {
  metrics.answeredUnrouted(status);
  log.info({ request_id: requestId, status, problem: code }, "request");
}

/** As it was sent, with keys masked; empty where there is none. */
function recordedQuery(url: string): string {
  const mark = url.indexOf("?");
  const text = mark === -1 ? "" : url.slice(mark + 1);
  return maskKeys(text);
}

/** Named fields only, so that nothing else gets into the log; none can contain a character that JSON escapes. */
interface RequestLine {
  /** Of `[A-Za-z0-9._-]`, also where the client chose it. */
  requestId: string;
  /** One that Node's parser knows. */
  method: string;
  /** The path of the route. */
  path: string;
  status: number;
  milliseconds: number;
  bodyBytes: number;
  keyId: string | null;
  problemCode: string | null;
}

/** The stream that pino writes its own lines to. */
interface LogStream {
  write(line: string): void;
}

export function openRequestLog(log: Logger): (line: RequestLine) => void {
  const stream = (log as unknown as Record<symbol, LogStream>)[symbols.streamSym]!;
  const level = log.levels.values["info"]!;
  return (line) => {
    if (!log.isLevelEnabled("info")) return;
    const { requestId, method, path, status, bodyBytes, keyId, problemCode } = line;
    const hundredths = Math.round(line.milliseconds * 100) / 100;
    const key = keyId === null ? "" : `,"key":"${keyId}"`;
    const problem = problemCode === null ? "" : `,"problem":"${problemCode}"`;
    stream.write(
      `{"level":${level},"time":"${timeText()}","request_id":"${requestId}","method":"${method}","path":"${path}","status":${status},"ms":${hundredths},"bytes":${bodyBytes}${key}${problem},"msg":"request"}\n`,
    );
  };
}

let textMilliseconds = 0;
let text = "";

/** Cached, since many requests share a millisecond. */
function timeText(): string {
  const now = Date.now();
  if (now !== textMilliseconds) {
    textMilliseconds = now;
    text = new Date(now).toISOString();
  }
  return text;
}

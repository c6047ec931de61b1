/** One lean line for each request, which is counted with it: fields by name, so that nothing else gets into a log. */
import type { FastifyInstance } from "fastify";
import type { Asker } from "#api/caller.ts";
import type { Problem } from "#problems.ts";
import type { AnsweredRequest } from "#usage/recorder.ts";
import type { FrontDoor } from "./front-door.ts";
import { recordedQuery } from "./recorded-query.ts";
import { openRequestLog } from "./request-log.ts";
import type { CountedOperation } from "./request-metrics.ts";

/** A request once it is answered. */
interface FinishedRequest extends Omit<AnsweredRequest, "account" | "key" | "query"> {
  /** For whom it was counted; null where it was not. */
  asker: Asker | null;
  operation: CountedOperation;
  method: string;
  /** As it is known here, never as it was sent: that could hold a key. */
  path: string;
  /** As it was sent, for its query. */
  target: string;
}

/** Counts, logs and, where somebody's quota was counted, records a request that was answered. */
export function openRequestRecorder({ config, log, metrics, recordRequest }: FrontDoor) {
  const write = openRequestLog(log);
  const keepsQuery = config.usageLogParameters && config.usageLogDays > 0;
  return ({ asker, method, path, target, ...answered }: FinishedRequest): void => {
    const { operation, status, milliseconds, bytes, problem, requestId } = answered;
    metrics.answered(operation, status, milliseconds);
    const keyId = asker?.id ?? null;
    write({
      requestId,
      method,
      path,
      status,
      milliseconds,
      bodyBytes: bytes,
      keyId,
      problemCode: problem,
    });
    if (asker === null) return;
    const query = keepsQuery ? recordedQuery(target) : null;
    recordRequest({ ...answered, account: asker.accountNumber, key: asker.id, query });
  };
}

export function logRequests(app: FastifyInstance, door: FrontDoor): void {
  const record = openRequestRecorder(door);
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

/** The line of a request that found no route: its bytes or its path could not be read. */
export function logUnrouted(
  { log, metrics }: FrontDoor,
  requestId: string,
  { status, code }: Problem,
): void {
  metrics.answeredUnrouted(status);
  log.info({ request_id: requestId, status, problem: code }, "request");
}

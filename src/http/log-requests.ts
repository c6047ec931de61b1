/** One lean line for each request, which is counted with it: fields by name, so that nothing else gets into a log. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { LiveKey } from "#keys/live-key.ts";
import type { Problem } from "#problems.ts";
import type { FrontDoor } from "./front-door.ts";
import { recordedQuery } from "./recorded-query.ts";
import { openRequestLog } from "./request-log.ts";

export function logRequests(app: FastifyInstance, door: FrontDoor): void {
  const { log, metrics } = door;
  const write = openRequestLog(log);
  const record = recorderOf(door);
  app.addHook("onResponse", (request, reply, done) => {
    const milliseconds = reply.elapsedTime;
    metrics.answered(request.operation, reply.statusCode, milliseconds);
    write({
      requestId: request.id,
      method: request.method,
      path: request.routeOptions.url ?? "unknown",
      status: reply.statusCode,
      milliseconds,
      bodyBytes: request.bodyBytes,
      keyId: request.keyId,
      problemCode: request.problemCode,
    });
    if (request.keyId !== null) record(request, reply.statusCode, milliseconds);
    done();
  });
}

/** For requests whose key was accepted: they count, whatever their answer. */
function recorderOf({ config, recordRequest }: FrontDoor) {
  const keepsQuery = config.usageLogParameters && config.usageLogDays > 0;
  return (request: FastifyRequest, status: number, milliseconds: number) =>
    recordRequest({
      account: (request.caller as LiveKey).accountNumber,
      key: request.keyId!,
      operation: request.operation,
      status,
      milliseconds,
      bytes: request.bodyBytes,
      dataset: request.datasetVersion,
      problem: request.problemCode,
      requestId: request.id,
      query: keepsQuery ? recordedQuery(request.raw.url!) : null,
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

/** One lean line for each request, which is counted with it: fields by name, so that nothing else gets into a log. */
import type { FastifyInstance } from "fastify";
import type { Problem } from "#problems.ts";
import type { FrontDoor } from "./front-door.ts";
import { openRequestLog } from "./request-log.ts";

export function logRequests(app: FastifyInstance, { log, metrics }: FrontDoor): void {
  const write = openRequestLog(log);
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

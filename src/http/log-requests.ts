/** One lean line for each request: fields by name, so that nothing else of a request can get into a log. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";

export function logRequests(app: FastifyInstance, log: Logger): void {
  app.addHook("onResponse", (request, reply, done) => {
    log.info(
      {
        request_id: request.id,
        method: request.method,
        path: pathOf(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 100) / 100,
        bytes: Number(reply.getHeader("content-length") ?? 0),
        key: request.keyId ?? undefined,
        problem: request.problemCode ?? undefined,
      },
      "request",
    );
    done();
  });
}

/** The path as it is known here, never as it was sent: that could hold a key. */
const pathOf = ({ routeOptions: { url } }: FastifyRequest) => url ?? "unknown";

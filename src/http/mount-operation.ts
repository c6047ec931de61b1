/** Serves one operation: the stages of a request in their order, each of which may refuse it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Operation, Query } from "#operations/operation.ts";
import { answer } from "#operations/page.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import { Problem } from "#problems.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { AnswerCache, FinishedAnswer } from "./answer-cache.ts";
import { countRequest, refuseOverQuota } from "./enforce-limits.ts";
import { answerTag, isUnchanged } from "./entity-tag.ts";
import type { FrontDoor } from "./front-door.ts";
import { preferredEncoding, preferredType } from "./negotiate.ts";
import { pageLinks } from "./page-links.ts";
import { requireKey } from "./require-key.ts";
import { anyMethod, routeConfig } from "./routes.ts";

export const operationFormats = ["application/json"] as const;

/** Under its own path, and under `/v1` with identical answers. */
export function mountOperation(
  app: FastifyInstance,
  door: FrontDoor,
  cache: AnswerCache,
  operation: Operation,
): void {
  for (const url of [operation.path, `/v1${operation.path}`])
    app.route({
      method: anyMethod(app),
      url,
      config: routeConfig({ methods: ["GET", "HEAD", "OPTIONS"], operation: operation.name }),
      handler: (request, reply) => serve(door, cache, operation, request, reply),
    });
}

function serve(
  door: FrontDoor,
  cache: AnswerCache,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  const key = requireKey(door, request.raw);
  request.keyId = key.id;
  const counted = countRequest(door.counters, key);
  reply.headers(counted.headers);
  refuseOverQuota(counted);
  requireFormat(request);
  const query = readQuery(operation, queryText(request), door.config.pageSizeMax, door.operations);
  const model = door.model() ?? noDataset();
  const canonical = canonicalQuery(query);
  const { version } = model.parts;
  const etag = answerTag(version, operation.name, canonical, "json");
  reply.headers({ etag, "dataset-version": version, "cache-control": "private, no-cache" });
  if (isUnchanged(request.headers["if-none-match"], etag)) return reply.code(304).send();
  const finished = cache.find(etag) ?? finish(door, cache, operation, model, query, etag);
  reply.headers(finished.headers);
  return sendEncoded(cache, etag, finished, request, reply);
}

const queryText = ({ raw: { url = "" } }: FastifyRequest) => {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
};

function requireFormat({ headers }: FastifyRequest): void {
  if (preferredType(headers.accept, operationFormats) !== undefined) return;
  throw new Problem("not-acceptable", `This path answers in ${operationFormats.join(", ")}.`, {
    available: operationFormats,
  });
}

function noDataset(): never {
  throw new Problem("unavailable", "No records have been published yet.", {
    reason: "no_dataset",
    retry_after: 5,
  });
}

/** The tag names dataset, operation, query and format, so it is the cache's key too. */
function finish(
  { config }: FrontDoor,
  cache: AnswerCache,
  operation: Operation,
  model: ReadModel,
  query: Query,
  etag: string,
): FinishedAnswer {
  const { body, total } = answer(operation, model, query);
  const finished: FinishedAnswer = {
    identity: body,
    encoded: {},
    headers: {
      "content-type": "application/json; charset=utf-8",
      "x-total-count": String(total),
      link: pageLinks(operation, query, total, config.publicUrl),
    },
  };
  cache.add(etag, finished);
  return finished;
}

function sendEncoded(
  cache: AnswerCache,
  etag: string,
  finished: FinishedAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  const encoding = preferredEncoding(request.headers["accept-encoding"] as string | undefined);
  if (encoding === null) return reply.send(finished.identity);
  const body = cache.bodyOf(etag, finished, encoding);
  const send = (encoded: Buffer) => {
    if (encoded !== finished.identity) reply.header("content-encoding", encoding);
    return reply.send(encoded);
  };
  return body instanceof Promise ? body.then(send) : send(body);
}

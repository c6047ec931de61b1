/** Serves one operation: the stages of a request in their order, each of which may refuse it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Operation, Query } from "#operations/operation.ts";
import { answer } from "#operations/page.ts";
import { Problem } from "#problems.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { AnswerCache, FinishedAnswer } from "./answer-cache.ts";
import { countRequest, refuseOverQuota } from "./enforce-limits.ts";
import { isUnchanged } from "./entity-tag.ts";
import type { FrontDoor } from "./front-door.ts";
import { headerLines } from "./header-lines.ts";
import { openKnownQuestions, type ReadQuestion } from "./known-questions.ts";
import { preferredEncoding, preferredType } from "./negotiate.ts";
import { pageLinks } from "./page-links.ts";
import { requireKey } from "./require-key.ts";
import { answeredMethods, routeConfig } from "./routes.ts";
import { sendAnswer } from "./send-answer.ts";

export const operationFormats = ["application/json"] as const;

/** What the requests of one operation share. */
interface Mounted {
  door: FrontDoor;
  cache: AnswerCache;
  operation: Operation;
  readQuestion: ReadQuestion;
}

/** Under its own path, and under `/v1` with identical answers. */
export function mountOperation(
  app: FastifyInstance,
  door: FrontDoor,
  cache: AnswerCache,
  operation: Operation,
): void {
  const { config, operations } = door;
  const readQuestion = openKnownQuestions(operation, config.pageSizeMax, operations);
  const mounted: Mounted = { door, cache, operation, readQuestion };
  for (const url of [operation.path, `/v1${operation.path}`])
    app.route({
      method: answeredMethods,
      url,
      config: routeConfig({ methods: ["GET", "HEAD", "OPTIONS"], operation: operation.name }),
      handler: (request, reply) => serve(mounted, request, reply),
    });
}

function serve(
  mounted: Mounted,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const { door, cache, readQuestion } = mounted;
  const key = requireKey(door, request.raw, request.caller);
  request.keyId = key.id;
  const counted = countRequest(door.counters, key);
  request.quotaHeaders = counted.headers;
  refuseOverQuota(counted);
  requireFormat(request);
  const question = readQuestion(queryText(request));
  const model = door.model() ?? noDataset();
  const { version } = model.parts;
  request.datasetVersion = version;
  const etag = question.tagFor(version, "json");
  if (isUnchanged(request.headers["if-none-match"], etag)) {
    const headers = headerLines(validators(etag, version));
    return sendAnswer(door, request, reply, { status: 304, headers, body: null });
  }
  const finished = cache.find(etag) ?? finish(mounted, model, question.query, etag);
  return sendEncoded(mounted, etag, finished, request, reply);
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

export function noDataset(): never {
  throw new Problem("unavailable", "No records have been published yet.", {
    reason: "no_dataset",
    retry_after: 5,
  });
}

/** By these a client tells whether what it has is still what it would get. */
const validators = (etag: string, version: string) => ({
  etag,
  "dataset-version": version,
  "cache-control": "private, no-cache",
});

/** The tag names dataset, operation, query and format, so it is the cache's key too. */
function finish(
  { door: { config }, cache, operation }: Mounted,
  model: ReadModel,
  query: Query,
  etag: string,
): FinishedAnswer {
  const { body, total } = answer(operation, model, query);
  const finished: FinishedAnswer = {
    identity: body,
    encoded: {},
    headers: headerLines({
      ...validators(etag, model.parts.version),
      "content-type": "application/json; charset=utf-8",
      "x-total-count": String(total),
      link: pageLinks(operation, query, total, config.publicUrl),
    }),
  };
  cache.add(etag, finished);
  return finished;
}

function sendEncoded(
  { door, cache }: Mounted,
  etag: string,
  finished: FinishedAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const encoding = preferredEncoding(request.headers["accept-encoding"] as string | undefined);
  const send = (body: Buffer) => {
    const isEncoded = body !== finished.identity;
    const headers = isEncoded
      ? [...finished.headers, "content-encoding", encoding!]
      : finished.headers;
    sendAnswer(door, request, reply, { status: 200, headers, body });
  };
  const body = encoding === null ? finished.identity : cache.bodyOf(etag, finished, encoding);
  return body instanceof Promise ? body.then(send) : send(body);
}

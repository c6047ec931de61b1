/** Serves one operation over HTTP: turns a request into a question, and its outcome into a response. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Answer, SentBody } from "#api/answer-cache.ts";
import type { Outcome } from "#api/ask.ts";
import { rateLimitField, rateLimitPolicyField } from "#limits/rate-limit-fields.ts";
import { type Format, formats } from "#operations/formats.ts";
import { type Operation, parameterBounds } from "#operations/operation.ts";
import { filterText, pageQuery } from "#operations/parameters.ts";
import { maskKeys } from "#problems.ts";
import { headerLines, type HeaderLines } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { preferredEncoding, preferredType } from "./negotiate.ts";
import { answeredMethods, routeConfig } from "./routes.ts";
import { refuse, sendAnswer } from "./send-answer.ts";

/** Serves it under its own path, and under `/v1` with identical answers. */
export function mountOperation(
  app: FastifyInstance,
  http: HttpDependencies,
  operation: Operation,
): void {
  for (const url of [operation.path, `/v1${operation.path}`])
    app.route({
      method: answeredMethods,
      url,
      config: routeConfig({ methods: ["GET", "HEAD", "OPTIONS"], operation: operation.name }),
      handler: (request, reply) => serve(http, operation, request, reply),
    });
}

function serve(
  http: HttpDependencies,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const outcome = http.api.ask({
    caller: request.caller!,
    operation,
    text: queryText(request),
    chooseFormat: () => acceptedFormat(request),
    knownTags: request.headers["if-none-match"],
  });
  return outcome instanceof Promise
    ? outcome.then((settled) => sendOutcome(http, settled, answerHeaders, request, reply))
    : sendOutcome(http, outcome, answerHeaders, request, reply);
}

/** The query as it was sent, without the `?`. */
export const queryText = ({ raw: { url = "" } }: FastifyRequest): string => {
  const mark = url.indexOf("?");
  return mark === -1 ? "" : url.slice(mark + 1);
};

const mediaTypes = formats.map(({ mediaType }) => mediaType);

function acceptedFormat({ headers }: FastifyRequest): Format | undefined {
  const preferred = preferredType(headers.accept, mediaTypes);
  return formats.find(({ mediaType }) => mediaType === preferred);
}

/** @param headersOf the headers of a 200 that are the same for every client; they are kept with the answer. */
export function sendOutcome<A extends SentBody>(
  http: HttpDependencies,
  { asker, counted, result }: Outcome<A>,
  headersOf: (http: HttpDependencies, answer: A) => HeaderLines,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  request.asker = asker;
  if (counted !== null) request.quotaHeaders = quotaHeaders(counted);
  switch (result.kind) {
    case "problem":
      return refuse(http, request, reply, result.problem, result.cause);
    case "unchanged": {
      request.datasetVersion = result.datasetVersion;
      const headers = headerLines(validators(result));
      return sendAnswer(http, request, reply, { status: 304, headers, body: null });
    }
    case "answer":
      request.datasetVersion = result.answer.datasetVersion;
      result.answer.headers ??= headersOf(http, result.answer);
      return sendEncoded(http, result.answer, result.answer.headers, request, reply);
  }
}

/** Of numbers and names that are ours, so nothing in them needs to be checked. */
export const quotaHeaders = ({ quotas, status }: NonNullable<Outcome["counted"]>): HeaderLines =>
  `ratelimit-policy: ${rateLimitPolicyField(quotas)}\r\nratelimit: ${rateLimitField(status)}\r\n`;

/** Headers by which a client revalidates a cached response. */
export const validators = ({ tag, datasetVersion }: { tag: string; datasetVersion: string }) => ({
  etag: tag,
  "dataset-version": datasetVersion,
  "cache-control": "private, no-cache",
});

function sendEncoded(
  http: HttpDependencies,
  answer: SentBody,
  identityHeaders: HeaderLines,
  request: FastifyRequest,
  reply: FastifyReply,
): void | Promise<void> {
  const encoding = preferredEncoding(request.headers["accept-encoding"] as string | undefined);
  const sendBody = (body: Buffer) => {
    const headers =
      body === answer.body
        ? identityHeaders
        : `${identityHeaders}content-encoding: ${encoding}\r\n`;
    sendAnswer(http, request, reply, { status: 200, headers, body });
  };
  const body = encoding === null ? answer.body : http.api.encode(answer, encoding);
  return body instanceof Promise ? body.then(sendBody) : sendBody(body);
}

/** The headers of an answer that are the same for every client. */
const answerHeaders = ({ config }: HttpDependencies, answer: Answer): HeaderLines =>
  headerLines({
    ...validators(answer),
    "content-type": answer.format.contentType,
    "x-total-count": String(answer.total),
    link: pageLinks(answer, config.publicUrl),
  });

/** @param publicUrl null for references relative to the request's host. */
export function pageLinks(
  {
    operation,
    query,
    total,
  }: Pick<Answer, "query" | "total"> & {
    operation: Pick<Operation, "filters"> & { readonly path: string };
  },
  publicUrl: string | null,
): string {
  const base = publicUrl ?? "";
  const { limit, offset } = query;
  // A key that was put into the query by mistake must not be sent back. Masked value by value, links stay well-formed.
  const filter = filterText(operation, query.filter, maskKeys);
  const to = (target: number, rel: string) =>
    `<${base}${operation.path}?${pageQuery(filter, limit, target)}>; rel="${rel}"`;
  const links = [to(0, "first")];
  // Pages are aligned to the current offset, so that prev leads back from next.
  const last = total === 0 ? 0 : lastOffset(offset % limit, limit, total);
  if (offset > 0) links.push(to(Math.max(0, Math.min(offset - limit, last)), "prev"));
  if (offset + limit < total && offset + limit <= parameterBounds.offsetMax)
    links.push(to(offset + limit, "next"));
  links.push(to(last, "last"));
  links.push(descriptionLink(publicUrl));
  return links.join(", ");
}

/** @param publicUrl null for a reference relative to the request's host. */
export const descriptionLink = (publicUrl: string | null): string =>
  `<${publicUrl ?? ""}/openapi.json>; rel="service-desc"`;

function lastOffset(first: number, limit: number, total: number): number {
  if (total <= first) return 0;
  return first + Math.floor((total - 1 - first) / limit) * limit;
}

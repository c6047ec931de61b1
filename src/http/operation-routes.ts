/** Serves one operation over HTTP: turns a request into a question, and its outcome into a response. */
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
import {
  acceptedEncodings,
  type Exchange,
  queryText,
  readMethods,
  type Route,
  withAlias,
} from "./routes.ts";
import { refuse, sendAnswer } from "./send-answer.ts";

/** Serves it under its own path, and under `/v1` with identical answers. */
export const operationRoutes = (http: HttpDependencies, operation: Operation): Route[] =>
  withAlias({
    path: operation.path,
    methods: readMethods,
    who: "key",
    name: operation.name,
    handle: (exchange) => serve(http, operation, exchange),
  });

function serve(
  http: HttpDependencies,
  operation: Operation,
  exchange: Exchange,
): void | Promise<void> {
  const outcome = http.api.ask({
    caller: exchange.caller!,
    operation,
    text: queryText(exchange),
    chooseFormat: () => acceptedFormat(exchange),
    knownTags: exchange.request.headers["if-none-match"],
  });
  return outcome instanceof Promise
    ? outcome.then((settled) => sendOutcome(http, settled, answerHeaders, exchange))
    : sendOutcome(http, outcome, answerHeaders, exchange);
}

const mediaTypes = formats.map(({ mediaType }) => mediaType);

function acceptedFormat({ request }: Exchange): Format | undefined {
  const preferred = preferredType(request.headers.accept, mediaTypes);
  return formats.find(({ mediaType }) => mediaType === preferred);
}

/** @param headersOf the headers of a 200 that are the same for every client; they are kept with the answer. */
export function sendOutcome<A extends SentBody>(
  http: HttpDependencies,
  { asker, counted, result }: Outcome<A>,
  headersOf: (http: HttpDependencies, answer: A) => HeaderLines,
  exchange: Exchange,
): void | Promise<void> {
  exchange.asker = asker;
  if (counted !== null) exchange.quotaHeaders = quotaHeaders(counted);
  switch (result.kind) {
    case "problem":
      return refuse(http, exchange, result.problem, result.cause);
    case "unchanged": {
      exchange.datasetVersion = result.datasetVersion;
      const headers = headerLines(validators(result));
      return sendAnswer(http, exchange, { status: 304, headers, body: null });
    }
    case "answer":
      exchange.datasetVersion = result.answer.datasetVersion;
      result.answer.headers ??= headersOf(http, result.answer);
      return sendEncoded(http, result.answer, result.answer.headers, exchange);
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
  exchange: Exchange,
): void | Promise<void> {
  const encoding = preferredEncoding(acceptedEncodings(exchange));
  const sendBody = (body: Buffer) => {
    const headers =
      body === answer.body
        ? identityHeaders
        : `${identityHeaders}content-encoding: ${encoding}\r\n`;
    sendAnswer(http, exchange, { status: 200, headers, body });
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

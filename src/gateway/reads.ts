/** Defines reads. A read takes a question as plain data, and returns a reply with content or a refusal. */
import type { ExportOffers } from "#exports/offers.ts";
import type { ChangesSource } from "#operations/changes.ts";
import { json } from "#operations/formats.ts";
import type { Operation } from "#operations/operation.ts";
import { refuseParameters } from "#operations/parameters.ts";
import type { ReadName } from "#operations/reads.ts";
import { notReadyDetails, Problem, unavailable } from "#problems.ts";
import type { Explanation } from "#records/explanation.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { AnswerCache, SentBody } from "./answer-cache.ts";
import type { Asker, Caller, Found, Gateway, Outcome, Refusal } from "./gateway.ts";
import {
  headerLines,
  type HeaderLines,
  matchesTag,
  quotaHeaders,
  validators,
  type Encoding,
  preferredEncoding,
  preferredType,
} from "./headers.ts";

/** A question as the client sent it. */
export interface Question {
  readonly caller: Caller;
  /** Query string, percent-encoded, without the `?`. */
  readonly text: string;
  /** Decoded rest of the path, for a read that serves all paths below its own; otherwise empty. */
  readonly below: string;
  /** True if the client wants only the headers. */
  readonly isHead: boolean;
  readonly headers: AskedHeaders;
}

/** Request headers that reads use, by lower-case name. */
export type AskedHeaders = { readonly [name in HeaderName]?: string | undefined };
type HeaderName = "accept" | "accept-encoding" | "if-none-match" | "if-range" | "range";

/** Reply to a question, and the account that asked it. */
export interface Reply {
  /** Account and key; null if the caller was refused. */
  asker: Asker | null;
  /** `RateLimit` fields; null if the quota status is unknown. */
  quotaHeaders: HeaderLines | null;
  /** Version of the dataset that the result comes from; null if it comes from none. */
  datasetVersion: string | null;
  result: Content | Refusal;
}

/** Status and headers, with finished bytes, a part of a file, or no body. */
export interface Content {
  kind: "content";
  status: number;
  headers: HeaderLines;
  /** Body; null if there is none, or if a file is sent. */
  body: Buffer | null;
  file?: FilePart;
}

/** Bytes of a file, from `start` up to but excluding `end`. */
interface FilePart {
  path: string;
  start: number;
  end: number;
  /** Encoding in which the bytes are sent; null for none. */
  encoding: Encoding | null;
}

export interface Read {
  /** Path. A `/*` at its end stands for all paths below it. */
  path: string;
  name: ReadName;
  /** True if the read is also served under `/v1`, with identical answers. */
  hasAlias: boolean;
  ask(asked: Question): Reply | Promise<Reply>;
}

export interface ReadDependencies {
  gateway: Gateway;
  cache: AnswerCache;
  operations: readonly Operation[];
  pageSizeMax: number;
  /** URL that links begin with; null for references relative to the request's host. */
  publicUrl: string | null;
  /** Returns the dataset to answer from, or null while there is none. */
  model(): ReadModel | null;
  changes: ChangesSource;
  /**
   * Explains a record of the served dataset. Resolves to null if no GP, principal or project has the id, and to
   * undefined if its stored evidence is damaged.
   */
  explain(id: string): Promise<Explanation | null | undefined>;
  /** Exports of whole datasets; null if they are not offered. */
  offers: ExportOffers | null;
  /** Reports whether the service is stopping, which ends exports in progress. */
  isStopping(): boolean;
}

type Tagged = Pick<SentBody, "tag" | "datasetVersion">;

/**
 * Returns a dataset's answer from the cache, or only its tag if the client has the answer; null if neither has it.
 * @param knownTags `If-None-Match` of the client; undefined if it sent none.
 */
export function knownAnswer(
  { cache }: Pick<ReadDependencies, "cache">,
  knownTags: string | undefined,
  { tag, datasetVersion }: Tagged,
): Found<SentBody> | null {
  if (matchesTag(knownTags, tag)) return { kind: "unchanged", tag, datasetVersion };
  const answer = cache.find(tag);
  return answer === undefined ? null : { kind: "answer", answer };
}

/** Caches an answer that was just made, and returns it. @param own headers besides those of every answer. */
export function newAnswer(
  { cache }: Pick<ReadDependencies, "cache">,
  { tag, datasetVersion }: Tagged,
  body: Buffer,
  own: Readonly<Record<string, string>>,
): Found<SentBody> {
  const headers = headerLines({ ...validators({ tag, datasetVersion }), ...own });
  const answer: SentBody = { tag, datasetVersion, body, encoded: {}, headers };
  cache.add(answer);
  return { kind: "answer", answer };
}

/** Returns a dataset's JSON document, or only its tag if the client has it. Makes the document if it is not cached. */
export const foundJson = (
  dependencies: Pick<ReadDependencies, "cache">,
  { headers }: Question,
  of: Tagged,
  more: Readonly<Record<string, string>>,
  make: () => string,
): Found<SentBody> =>
  knownAnswer(dependencies, headers["if-none-match"], of) ??
  newAnswer(dependencies, of, Buffer.from(make()), { "content-type": json.contentType, ...more });

export const replyOf = (
  { asker, counted }: Pick<Outcome<unknown>, "asker" | "counted">,
  datasetVersion: string | null,
  result: Reply["result"],
): Reply => ({
  asker,
  quotaHeaders: counted === null ? null : quotaHeaders(counted),
  datasetVersion,
  result,
});

/**
 * Returns a read's `ask`, which counts the question, finds the answer and encodes it.
 * @param find checks format, parameters and dataset, in this order, then finds the answer. May throw a Problem.
 */
export const asking =
  (
    dependencies: Pick<ReadDependencies, "gateway" | "cache">,
    find: (asked: Question) => Found<SentBody> | Promise<Found<SentBody>>,
    cost?: (asked: Question) => number | Problem,
  ): Read["ask"] =>
  (asked) => {
    const outcome = dependencies.gateway.counted(asked, find, cost);
    return outcome instanceof Promise
      ? outcome.then((settled) => finish(dependencies, settled, asked))
      : finish(dependencies, outcome, asked);
  };

/** Makes the reply for an outcome. Encodes an answer as the client prefers, unless the cache has that encoding. */
function finish(
  { cache }: Pick<ReadDependencies, "cache">,
  outcome: Outcome<SentBody>,
  { headers: { "accept-encoding": accepted } }: Question,
): Reply | Promise<Reply> {
  const { result } = outcome;
  if (result.kind === "problem") return replyOf(outcome, null, result);
  if (result.kind === "unchanged")
    return replyOf(outcome, result.datasetVersion, unchanged(result));
  const { answer } = result;
  const encoding = preferredEncoding(accepted);
  const send = (body: Buffer): Reply =>
    replyOf(outcome, answer.datasetVersion, {
      kind: "content",
      status: 200,
      headers:
        body === answer.body
          ? answer.headers
          : `${answer.headers}content-encoding: ${encoding}\r\n`,
      body,
    });
  const body = encoding === null ? answer.body : cache.bodyOf(answer, encoding);
  return body instanceof Promise ? body.then(send) : send(body);
}

export const unchanged = (of: { tag: string; datasetVersion: string }): Content => ({
  kind: "content",
  status: 304,
  headers: headerLines(validators(of)),
  body: null,
});

/** Checks that the client accepts a path's only type. @throws Problem 406 otherwise. */
export function acceptOnly(mediaType: string, { headers }: Question): void {
  if (preferredType(headers.accept, [mediaType]) === undefined) throw notAcceptable([mediaType]);
}

/** Checks that the client accepts the path's only type and sends no parameters. @throws Problem otherwise. */
export function acceptNothingElse(
  { operations }: Pick<ReadDependencies, "operations">,
  path: string,
  mediaType: string,
  asked: Question,
): void {
  acceptOnly(mediaType, asked);
  refuseParameters(path, asked.text, operations);
}

/** Returns the problem for a 406. @param available media types of the path. */
export const notAcceptable = (available: readonly string[]) =>
  new Problem(
    "not-acceptable",
    `This path answers only in ${available.join(", ")}. Change the Accept header, or leave it out.`,
    { available },
  );

/** Returns the dataset to answer from. @throws Problem 503 while no records are published. */
export function served({ model }: Pick<ReadDependencies, "model">): ReadModel {
  const current = model();
  if (current !== null) return current;
  throw unavailable("no_dataset", notReadyDetails.no_dataset, 5);
}

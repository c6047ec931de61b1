/** Reads: questions with a key, as data, answered with finished bytes and their headers. */
import type { ExportOffers } from "#exports/offers.ts";
import type { ChangesSource } from "#operations/changes.ts";
import { json } from "#operations/formats.ts";
import type { Operation } from "#operations/operation.ts";
import { refuseParameters } from "#operations/parameters.ts";
import type { ReadName } from "#operations/reads.ts";
import { notReadyDetails, Problem, unavailable } from "#problems.ts";
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
export interface Asked {
  readonly caller: Caller;
  /** Query, percent-encoded, without the `?`. */
  readonly text: string;
  /** Rest of the path, decoded, for a read that serves all paths below its own; else empty. */
  readonly below: string;
  /** The client wants only the headers. */
  readonly isHead: boolean;
  readonly headers: AskedHeaders;
}

/** Headers that reads look at, by their lower-case names. */
export type AskedHeaders = Readonly<
  Partial<
    Record<
      "accept" | "accept-encoding" | "if-none-match" | "if-range" | "range",
      string | undefined
    >
  >
>;

/** The reply to a question, and the account it was counted for. */
export interface Reply {
  /** Null if the caller was refused. */
  asker: Asker | null;
  /** `RateLimit` fields; null if it was not counted. */
  quotaHeaders: HeaderLines | null;
  /** Version of the dataset that answered it; null if none did. */
  datasetVersion: string | null;
  result: Content | Refusal;
}

/** Finished bytes, or a part of a file. */
export interface Content {
  kind: "content";
  status: number;
  headers: HeaderLines;
  /** Null if there is none, or if it is in a file. */
  body: Buffer | null;
  file?: FilePart;
}

/** Bytes of a file, from `start` to before `end`. */
interface FilePart {
  path: string;
  start: number;
  end: number;
  /** Encoding to send it in; null for none. */
  encoding: Encoding | null;
}

export interface Read {
  /** Path; with `/*` at its end, all paths below it. */
  path: string;
  name: ReadName;
  /** It is also served under `/v1`, with identical answers. */
  hasAlias: boolean;
  ask(asked: Asked): Reply | Promise<Reply>;
}

/** Dependencies of the reads. */
export interface ReadDependencies {
  gateway: Gateway;
  cache: AnswerCache;
  operations: readonly Operation[];
  pageSizeMax: number;
  /** Address in front of the paths of links; null for references relative to the request's host. */
  publicUrl: string | null;
  /** Returns the dataset to answer from, or null while there is none. */
  model(): ReadModel | null;
  changes: ChangesSource;
  /** Null if whole datasets are not offered. */
  offers: ExportOffers | null;
  /** Reports whether the service is about to end, and with it the files being made. */
  isStopping(): boolean;
}

/**
 * Returns a JSON document of a dataset. It is made if neither the client nor the cache has the one with this tag.
 * @param more its headers, besides those of every document.
 */
export function foundJson(
  { cache }: Pick<ReadDependencies, "cache">,
  { headers }: Asked,
  of: Pick<SentBody, "tag" | "datasetVersion">,
  more: Readonly<Record<string, string>>,
  make: () => string,
): Found<SentBody> {
  if (matchesTag(headers["if-none-match"], of.tag)) return { kind: "unchanged", ...of };
  const known = cache.find(of.tag);
  if (known !== undefined) return { kind: "answer", answer: known };
  const answer: SentBody = {
    ...of,
    body: Buffer.from(make()),
    encoded: {},
    headers: headerLines({ ...validators(of), "content-type": json.contentType, ...more }),
  };
  cache.add(answer);
  return { kind: "answer", answer };
}

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
 * Returns `ask` of a read: counts the question, finds its answer and encodes that.
 * @param find throws Problem in the order of the contract: format, parameters, dataset.
 */
export const asking =
  (
    dependencies: Pick<ReadDependencies, "gateway" | "cache">,
    find: (asked: Asked) => Found<SentBody>,
    cost?: (asked: Asked) => number | Problem,
  ): Read["ask"] =>
  (asked) => {
    const outcome = dependencies.gateway.counted(asked, find, cost);
    return outcome instanceof Promise
      ? outcome.then((settled) => finish(dependencies, settled, asked))
      : finish(dependencies, outcome, asked);
  };

/** Encodes an answer as the client prefers: at once if that is cached, else after compressing it once. */
function finish(
  { cache }: Pick<ReadDependencies, "cache">,
  outcome: Outcome<SentBody>,
  { headers: { "accept-encoding": accepted } }: Asked,
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

/** Returns a 304. */
export const unchanged = (of: { tag: string; datasetVersion: string }): Content => ({
  kind: "content",
  status: 304,
  headers: headerLines(validators(of)),
  body: null,
});

/** @throws Problem if the client does not accept the only type of a path. */
export function acceptOnly(mediaType: string, { headers }: Asked): void {
  if (preferredType(headers.accept, [mediaType]) === undefined) throw notAcceptable([mediaType]);
}

/** Refuses any parameter, once the only type of the path is accepted. @throws Problem. */
export function acceptNothingElse(
  { operations }: Pick<ReadDependencies, "operations">,
  path: string,
  mediaType: string,
  asked: Asked,
): void {
  acceptOnly(mediaType, asked);
  refuseParameters(path, asked.text, operations);
}

/** @param available media types of the path. */
export const notAcceptable = (available: readonly string[]) =>
  new Problem("not-acceptable", `This path answers in ${available.join(", ")}.`, { available });

/** Returns the dataset to answer from. @throws Problem 503 while no records are published. */
export function served({ model }: Pick<ReadDependencies, "model">): ReadModel {
  const current = model();
  if (current !== null) return current;
  throw unavailable("no_dataset", notReadyDetails.no_dataset, 5);
}

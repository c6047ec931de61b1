/** The reads: everything that is asked with a key, as data, and answered with finished bytes and their headers. */
import type { ExportOffers } from "#exports/offers.ts";
import type { ChangesSource } from "#operations/changes.ts";
import type { Operation } from "#operations/operation.ts";
import type { ReadName } from "#operations/reads.ts";
import { Problem } from "#problems.ts";
import type { ReadModel } from "#search/read-model.ts";
import { type AnswerCache, type Encoding, type SentBody } from "./answer-cache.ts";
import type { Asker, Caller, Gateway, Outcome, Refusal } from "./gateway.ts";
import { headerLines, type HeaderLines, quotaHeaders, validators } from "./headers.ts";
import { preferredEncoding } from "./negotiate.ts";

/** A question, as it was sent. */
export interface Asked {
  readonly caller: Caller;
  /** Query: percent-encoded, without the `?`. */
  readonly text: string;
  /** What follows the path of a read that stands for all paths below it, decoded; empty elsewhere. */
  readonly below: string;
  /** Only the headers are wanted. */
  readonly isHead: boolean;
  readonly headers: AskedHeaders;
}

/** The headers that a read looks at, by their lower-case names. */
export type AskedHeaders = Readonly<
  Partial<
    Record<
      "accept" | "accept-encoding" | "if-none-match" | "if-range" | "range",
      string | undefined
    >
  >
>;

/** What is sent of a question, and for whom it was counted. */
export interface Reply {
  /** Null where the caller was refused. */
  asker: Asker | null;
  /** `RateLimit` fields; null where it was not counted. */
  quotaHeaders: HeaderLines | null;
  /** Version of the dataset that it was answered from; null where it was from none. */
  datasetVersion: string | null;
  result: Content | Refusal;
}

/** Finished bytes, or a part of a file. */
export interface Content {
  kind: "content";
  status: number;
  headers: HeaderLines;
  /** Null where there is none, and where it is in a file. */
  body: Buffer | null;
  file?: FilePart;
}

/** Bytes from `start` to before `end`. */
export interface FilePart {
  path: string;
  start: number;
  end: number;
  /** In which it is sent; null for as it is. */
  encoding: Encoding | null;
}

export interface Read {
  /** Ends in `/*` where it stands for all paths below. */
  path: string;
  name: ReadName;
  /** It is served below `/v1`, too, with identical answers. */
  hasAlias: boolean;
  ask(asked: Asked): Reply | Promise<Reply>;
}

/** What the reads answer from. */
export interface ReadDependencies {
  gateway: Gateway;
  cache: AnswerCache;
  operations: readonly Operation[];
  pageSizeMax: number;
  /** Precedes the paths of links; null for references relative to the request's host. */
  publicUrl: string | null;
  /** The dataset to answer from; null while there is none. */
  model(): ReadModel | null;
  changes: ChangesSource;
  /** Null where whole datasets are not offered. */
  offers: ExportOffers | null;
  /** The service is about to end, and with it whatever is being made. */
  isStopping(): boolean;
}

/** Encodes what was found as the client prefers it: at once where it is cached, else compressed once. */
export function finish(
  { cache }: Pick<ReadDependencies, "cache">,
  { asker, counted, result }: Outcome<SentBody>,
  { headers: { "accept-encoding": accepted } }: Asked,
): Reply | Promise<Reply> {
  const reply = (datasetVersion: string | null, what: Reply["result"]): Reply => ({
    asker,
    quotaHeaders: counted === null ? null : quotaHeaders(counted),
    datasetVersion,
    result: what,
  });
  if (result.kind === "problem") return reply(null, result);
  if (result.kind === "unchanged") return reply(result.datasetVersion, unchanged(result));
  const { answer } = result;
  const encoding = preferredEncoding(accepted);
  const send = (body: Buffer): Reply =>
    reply(answer.datasetVersion, {
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

/** A 304. */
export const unchanged = (of: { tag: string; datasetVersion: string }): Content => ({
  kind: "content",
  status: 304,
  headers: headerLines(validators(of)),
  body: null,
});

/** @param available media types the path answers in. */
export const notAcceptable = (available: readonly string[]) =>
  new Problem("not-acceptable", `This path answers in ${available.join(", ")}.`, { available });

/** @throws Problem 503 while no records are published. */
export function served({ model }: Pick<ReadDependencies, "model">): ReadModel {
  const current = model();
  if (current !== null) return current;
  throw new Problem("unavailable", "No records have been published yet.", {
    reason: "no_dataset",
    retry_after: 5,
  });
}

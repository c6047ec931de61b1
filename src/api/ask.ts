/** Answers one question, from its key to its outcome: the only way to the records, whatever the transport. */
import { LRUCache } from "lru-cache";
import type { Counters, QuotaStatus } from "#limits/counters.ts";
import { defaultQuotas, type Quotas } from "#limits/policy.ts";
import { notCountedProblem, quotaProblem } from "#limits/quota-problem.ts";
import type { Metric } from "#metrics/metric.ts";
import { type Format, formats } from "#operations/formats.ts";
import type { Operation, Query } from "#operations/operation.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import { internalError, Problem } from "#problems.ts";
import type { ReadModel } from "#search/read-model.ts";
import {
  type Answer,
  type AnswerCache,
  type Encoding,
  openAnswerCache,
  type SentBody,
} from "./answer-cache.ts";
import {
  admit,
  type Asker,
  type Caller,
  type CallerChecks,
  type Client,
  identify,
  type KeyHolder,
} from "./caller.ts";
import { answerTag, isUnchanged } from "./entity-tag.ts";

export interface Question {
  caller: Caller;
  operation: Operation;
  /** The query as it was sent: percent-encoded, without the `?`. */
  text: string;
  /** The format to answer in, or undefined where none of `formats` is accepted. Called once the quota is taken. */
  chooseFormat(): Format | undefined;
  /** Tags of the answers that the client holds, as `If-None-Match` lists them (RFC 9110 §13.1.2). */
  knownTags?: string | undefined;
}

/** @typeParam A what is sent where nothing stands against it. */
export interface Outcome<A = Answer> {
  /** For whom the question was counted; null where the caller was refused. */
  asker: Asker | null;
  /** The account's quotas, and its quota status after this question. */
  counted: { quotas: Quotas; status: QuotaStatus } | null;
  result: Found<A> | Refusal;
}

/** What was asked for, or the word that the client has it already. */
export type Found<A> =
  | { kind: "answer"; answer: A }
  | { kind: "unchanged"; tag: string; datasetVersion: string };

/** `cause` is what was thrown where the problem is an internal error, for the log. */
type Refusal = { kind: "problem"; problem: Problem; cause?: unknown };

export interface Api {
  /**
   * Looks up the key that a client presented. Refuses and counts nothing: paths and methods are refused first.
   * @param presented the value of `x-api-key`; undefined or empty where none was sent.
   */
  identify(presented: string | undefined, client: Client): KeyHolder | Promise<KeyHolder>;
  /**
   * Checks in this order: key, quota, format, parameters, dataset, tags. A refusal is an outcome and nothing is thrown,
   * so that it still carries the quota status. The outcome may be sent only after `Counters.commit`.
   */
  ask(question: Question): Outcome | Promise<Outcome>;
  /**
   * For what is no operation: checks the key and takes the quota as `ask` does, then leaves the rest to `find`. A Problem
   * that it throws is the result.
   * @param cost how many requests it counts, at most `greatestRequest`, or why the key may not ask it, which counts none;
   *   1 if left out. Called once the key was accepted.
   */
  count<A>(
    caller: Caller,
    find: () => Found<A>,
    cost?: (quotas: Quotas) => number | Problem,
  ): Outcome<A> | Promise<Outcome<A>>;
  /** Checks the key as `ask` does and tells the account's quota status, but counts nothing. */
  look(caller: Caller): Outcome<null> | Promise<Outcome<null>>;
  /** The body of an answer in an encoding: at once where it is cached, else compressed once. */
  encode(answer: SentBody, encoding: Encoding): Buffer | Promise<Buffer>;
  /** Empties the cache, since another dataset is current. */
  forgetAnswers(): void;
  metrics: readonly Metric[];
}

export interface ApiDependencies extends CallerChecks {
  operations: readonly Operation[];
  pageSizeMax: number;
  /** Size of the answer cache; 0 for none. */
  cacheBytes: number;
  counters: Pick<Counters, "take" | "look">;
  /** The dataset to answer from; null while there is none. */
  model(): ReadModel | null;
}

export function openApi(dependencies: ApiDependencies): Api {
  const { counters } = dependencies;
  const cache = openAnswerCache(dependencies.cacheBytes);
  const sources: Sources = {
    cache,
    parse: openParsedQueryCache(dependencies),
    model: dependencies.model,
  };
  /** Hands the question on to `find`, so that no request makes a function of its own. */
  function count<Q extends { caller: Caller }, A>(
    question: Q,
    find: (question: Q) => Found<A> | Refusal,
  ): Outcome<A> | Promise<Outcome<A>> {
    const asker = admit(dependencies, question.caller);
    if (asker instanceof Problem) return { asker: null, counted: null, result: refused(asker) };
    const quotas = wholeQuotas(asker.quotas);
    const status = counters.take(asker.accountNumber, quotas);
    return status instanceof Promise
      ? status.then(
          (settled) => settle(question, find, asker, quotas, settled),
          () => ({ asker, counted: null, result: refused(notCountedProblem()) }),
        )
      : settle(question, find, asker, quotas, status);
  }
  async function countSeveral<A>(
    caller: Caller,
    find: () => Found<A>,
    cost: (quotas: Quotas) => number | Problem,
  ): Promise<Outcome<A>> {
    const asker = admit(dependencies, caller);
    if (asker instanceof Problem) return { asker: null, counted: null, result: refused(asker) };
    const quotas = wholeQuotas(asker.quotas);
    const requests = cost(quotas);
    try {
      if (requests instanceof Problem) {
        const status = await counters.look(asker.accountNumber, quotas);
        return { asker, counted: { quotas, status }, result: refused(requests) };
      }
      const status = await counters.take(asker.accountNumber, quotas, requests);
      return settle({ caller }, find, asker, quotas, status, requests);
    } catch {
      return { asker, counted: null, result: refused(notCountedProblem()) };
    }
  }
  const findAnswer = (question: Question) => find(sources, question);
  return {
    identify: (presented, client) => identify(dependencies, presented, client),
    ask: (question) => count(question, findAnswer),
    count: (caller, find, cost) =>
      cost === undefined ? count({ caller }, find) : countSeveral(caller, find, cost),
    look(caller) {
      const asker = admit(dependencies, caller);
      if (asker instanceof Problem) return { asker: null, counted: null, result: refused(asker) };
      const quotas = wholeQuotas(asker.quotas);
      const seen = (status: QuotaStatus): Outcome<null> => ({
        asker,
        counted: { quotas, status },
        result: { kind: "answer", answer: null },
      });
      const status = counters.look(asker.accountNumber, quotas);
      return status instanceof Promise ? status.then(seen) : seen(status);
    },
    encode: (answer, encoding) => cache.bodyOf(answer, encoding),
    forgetAnswers: () => cache.clear(),
    metrics: cache.metrics,
  };
}

interface Sources {
  cache: AnswerCache;
  parse: ParseQuery;
  model(): ReadModel | null;
}

const settle = <Q, A>(
  question: Q,
  find: (question: Q) => Found<A> | Refusal,
  asker: Asker,
  quotas: Quotas,
  status: QuotaStatus,
  requests = 1,
): Outcome<A> => ({
  asker,
  counted: { quotas, status },
  result: status.admitted ? attempt(question, find) : refused(quotaProblem(status, requests)),
});

function attempt<Q, A>(question: Q, find: (question: Q) => Found<A> | Refusal): Found<A> | Refusal {
  try {
    return find(question);
  } catch (error) {
    if (error instanceof Problem) return refused(error);
    return { kind: "problem", problem: internalError(), cause: error };
  }
}

const refused = (problem: Problem): Refusal => ({ kind: "problem", problem });

/** The same object for the same quotas, so that what is derived from it can be cached. */
const completed = new WeakMap<Asker["quotas"], Quotas>();

function wholeQuotas(own: Asker["quotas"]): Quotas {
  let whole = completed.get(own);
  if (whole === undefined) {
    whole = {
      minute: own.minute ?? defaultQuotas.minute,
      hour: own.hour ?? defaultQuotas.hour,
      day: own.day ?? defaultQuotas.day,
    };
    completed.set(own, whole);
  }
  return whole;
}

function find(
  { cache, parse, model }: Sources,
  { operation, text, chooseFormat, knownTags }: Question,
): Found<Answer> | Refusal {
  const format = chooseFormat();
  if (format === undefined)
    return refused(notAcceptable(formats.map(({ mediaType }) => mediaType)));
  const { query, tagFor } = parse(operation, text);
  const dataset = model();
  if (dataset === null) return refused(noDataset());
  const { version } = dataset.parts;
  const tag = tagFor(version, format);
  if (isUnchanged(knownTags, tag)) return { kind: "unchanged", tag, datasetVersion: version };
  return {
    kind: "answer",
    answer: cache.find(tag) ?? answer(cache, dataset, { operation, format, query, tag }),
  };
}

function answer(
  cache: AnswerCache,
  dataset: ReadModel,
  asked: Pick<Answer, "operation" | "format" | "query" | "tag">,
): Answer {
  const { operation, format, query } = asked;
  const { body, total } = format.write(operation, dataset, query);
  const made: Answer = {
    ...asked,
    datasetVersion: dataset.parts.version,
    total,
    body,
    encoded: {},
    headers: null,
  };
  cache.add(made);
  return made;
}

/** @param available media types the path answers in. */
export const notAcceptable = (available: readonly string[]) =>
  new Problem("not-acceptable", `This path answers in ${available.join(", ")}.`, { available });

export const noDataset = () =>
  new Problem("unavailable", "No records have been published yet.", {
    reason: "no_dataset",
    retry_after: 5,
  });

interface ParsedQuery {
  query: Query;
  /** The entity tag of the answer. */
  tagFor(datasetVersion: string, format: Format): string;
}

/** @throws Problem as `readQuery` does; a faulty query is not cached. */
type ParseQuery = (operation: Operation, text: string) => ParsedQuery;

const parsedMax = 5000;
/** Longer queries are rare, and would let a few clients fill much memory. */
const keptLengthMax = 300;

/** Parses each query text once: for one operation the same text always means the same query. */
function openParsedQueryCache({ operations, pageSizeMax }: ApiDependencies): ParseQuery {
  const caches = new Map(
    operations.map(({ name }) => [name, new LRUCache<string, ParsedQuery>({ max: parsedMax })]),
  );
  return (operation, text) => {
    const cache = caches.get(operation.name)!;
    let parsed = cache.get(text);
    if (parsed === undefined) {
      parsed = parsedQuery(operation, readQuery(operation, text, pageSizeMax, operations));
      if (text.length <= keptLengthMax) cache.set(text, parsed);
    }
    return parsed;
  };
}

/** Caches the latest tag: most queries are asked of one dataset in one format. */
function parsedQuery(operation: Operation, query: Query): ParsedQuery {
  const canonical = canonicalQuery(operation, query);
  let taggedVersion = "";
  let taggedFormat: Format | null = null;
  let tag = "";
  return {
    query,
    tagFor(datasetVersion, format) {
      if (datasetVersion !== taggedVersion || format !== taggedFormat) {
        tag = answerTag(datasetVersion, operation.name, canonical, format.name);
        taggedVersion = datasetVersion;
        taggedFormat = format;
      }
      return tag;
    },
  };
}

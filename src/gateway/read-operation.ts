/** Lists all reads. Answers the four operations and `/vocabulary`, from the cache if possible. */
import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { type Format, formats, json } from "#operations/formats.ts";
import type { Operation, Query } from "#operations/operation.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import { Problem } from "#problems.ts";
import { vocabularyOf, vocabularyPath } from "#operations/vocabulary.ts";
import { isRelative } from "#search/dates.ts";
import type { SentBody } from "./answer-cache.ts";
import type { Caller, Found } from "./gateway.ts";
import {
  answerTag,
  descriptionLink,
  headerLines,
  matchesTag,
  pageLinks,
  preferredType,
  validators,
} from "./headers.ts";
import { changesRead, stepsRead } from "./read-changes.ts";
import { exportFilesRead, exportsRead } from "./read-exports.ts";
import {
  acceptNothingElse,
  type Asked,
  asking,
  foundJson,
  notAcceptable,
  type Read,
  type ReadDependencies,
  served,
} from "./reads.ts";

/**
 * Returns every read that needs a key. MCP messages are handled elsewhere.
 * @param answers from `openOperations`, shared with MCP.
 */
export function openReads(dependencies: ReadDependencies, answers: AnswerSource): Read[] {
  const { operations, offers } = dependencies;
  return [
    ...operations.map((operation) => operationRead(dependencies, answers, operation)),
    vocabularyRead(dependencies),
    changesRead(dependencies),
    stepsRead(dependencies),
    ...(offers === null
      ? []
      : [exportsRead(dependencies, offers), exportFilesRead(dependencies, offers)]),
  ];
}

export interface AnswerSource {
  /**
   * Finds the answer to an operation's query.
   * @throws Problem as `readQuery` or `served` does.
   */
  find(operation: Operation, text: string, format: Format, knownTags?: string): Found<SentBody>;
  /**
   * Reads the values that a query needs, a few milliseconds at a time, so that `find` keeps no other request waiting.
   * @returns null if that is done, or the query has faults.
   */
  prepare(operation: Operation, text: string): Promise<void> | null;
}

/** Opens the source of answers, with caches of parsed queries and of answers. */
export function openOperations(
  dependencies: Pick<
    ReadDependencies,
    "cache" | "operations" | "pageSizeMax" | "publicUrl" | "model"
  >,
): AnswerSource {
  const { cache, publicUrl } = dependencies;
  const parse = openParsedQueryCache(dependencies);
  const find: AnswerSource["find"] = (operation, text, format, knownTags) => {
    const { query, tagFor } = parse(operation, text);
    const dataset = served(dependencies);
    const { version: datasetVersion } = dataset.parts;
    const tag = tagFor(datasetVersion, format);
    if (matchesTag(knownTags, tag)) return { kind: "unchanged", tag, datasetVersion };
    const known = cache.find(tag);
    if (known !== undefined) return { kind: "answer", answer: known };
    const { body, total } = format.write(operation, dataset, query);
    const { path } = operation;
    const headers = headerLines({
      ...validators({ tag, datasetVersion }),
      "content-type": format.contentType,
      "x-total-count": String(total),
      link: pageLinks({ path, query, total }, publicUrl),
    });
    const made: SentBody = { tag, datasetVersion, body, encoded: {}, headers };
    cache.add(made);
    return { kind: "answer", answer: made };
  };
  return { find, prepare: (operation, text) => prepare(dependencies, parse, operation, text) };
}

/** Maximum time that a dataset is read before other requests may run, in ms. */
const sliceMilliseconds = 2;

function prepare(
  dependencies: Pick<ReadDependencies, "model">,
  parse: ReturnType<typeof openParsedQueryCache>,
  operation: Operation,
  text: string,
): Promise<void> | null {
  const model = dependencies.model();
  // Only lists use values that are read from the documents.
  if (model === null || operation.sorts === null) return null;
  const query = queryOf();
  if (query === null) return null;
  const steps = model.prepare(operation.kind, query.filter, query.order);
  return steps.next().done === true ? null : finish();

  function queryOf() {
    try {
      return parse(operation, text).query;
    } catch {
      return null;
    }
  }

  async function finish() {
    let begun = performance.now();
    for (const _ of steps) {
      if (performance.now() - begun < sliceMilliseconds) continue;
      await setImmediate();
      if (dependencies.model() !== model) {
        await prepare(dependencies, parse, operation, text);
        return;
      }
      begun = performance.now();
    }
  }
}

const mediaTypes = formats.map(({ mediaType }) => mediaType);

function operationRead(
  dependencies: ReadDependencies,
  answers: AnswerSource,
  operation: Operation,
): Read {
  const find = ({ text, headers }: Asked) => {
    const preferred = preferredType(headers.accept, mediaTypes);
    const format = formats.find(({ mediaType }) => mediaType === preferred);
    if (format === undefined) throw notAcceptable(mediaTypes);
    return answers.find(operation, text, format, headers["if-none-match"]);
  };
  const ask = asking(dependencies, find);
  const { path, name } = operation;
  if (operation.sorts === null) return { path, name, hasAlias: true, ask };
  return {
    path,
    name,
    hasAlias: true,
    async ask(asked) {
      if (isAccepted(asked.caller)) await answers.prepare(operation, asked.text);
      return ask(asked);
    },
  };
}

/** Reports whether the caller has a valid key. No dataset is read for anybody else. */
const isAccepted = ({ key }: Caller) => key !== null && !(key instanceof Problem);

/** Returns the read that lists every tag, theme and market, and the closed lists. */
function vocabularyRead(dependencies: ReadDependencies): Read {
  const find = (asked: Asked) => {
    acceptNothingElse(dependencies, vocabularyPath, json.mediaType, asked);
    const model = served(dependencies);
    const { version: datasetVersion } = model.parts;
    const tag = answerTag(datasetVersion, "vocabulary", "", json.name);
    const link = descriptionLink(dependencies.publicUrl);
    return foundJson(dependencies, asked, { tag, datasetVersion }, { link }, () =>
      JSON.stringify(vocabularyOf(model)),
    );
  };
  return {
    path: vocabularyPath,
    name: "vocabulary",
    hasAlias: true,
    ask: asking(dependencies, find),
  };
}

type ParsedQuery = ReturnType<typeof parsedQuery>;

/** Maximum number of parsed queries kept for each operation. */
const parsedMax = 5000;
/** Maximum length of a cached query, in characters. With longer ones, a few clients could use much memory. */
const keptLengthMax = 300;

/**
 * Returns a function that parses query strings and caches the results, because the same string always means the same
 * query of an operation. Keeps no faulty queries.
 */
function openParsedQueryCache({
  model,
  operations,
  pageSizeMax,
}: Pick<ReadDependencies, "model" | "operations" | "pageSizeMax">) {
  const caches = new Map(
    operations.map(({ name }) => [name, new LRUCache<string, ParsedQuery>({ max: parsedMax })]),
  );
  return (operation: Operation, text: string): ParsedQuery => {
    const cache = caches.get(operation.name)!;
    let parsed = cache.get(text);
    if (parsed === undefined) {
      // Only lists take dates.
      const day = operation.sorts === null ? undefined : model()?.parts.updatedAt.slice(0, 10);
      parsed = parsedQuery(operation, readQuery(operation, text, pageSizeMax, operations, { day }));
      // A range may end before it begins on one day of the dataset and not on another.
      const isLasting = !Object.values(parsed.query.values).flat().some(isRelative);
      if (isLasting && text.length <= keptLengthMax) cache.set(text, parsed);
    }
    return parsed;
  };
}

/** Returns a query that caches its latest tag, because most queries are asked of one dataset in one format. */
function parsedQuery(operation: Operation, query: Query) {
  const canonical = canonicalQuery(query);
  let taggedVersion = "";
  let taggedFormat: Format | null = null;
  let tag = "";
  return {
    query,
    /** Returns the entity tag of the answer. */
    tagFor(datasetVersion: string, format: Format): string {
      if (datasetVersion !== taggedVersion || format !== taggedFormat) {
        tag = answerTag(datasetVersion, operation.name, canonical, format.name);
        taggedVersion = datasetVersion;
        taggedFormat = format;
      }
      return tag;
    },
  };
}

/** Lists all reads. Answers the four operations and `/vocabulary`, from the cache if possible. */
import { LRUCache } from "lru-cache";
import { type Format, formats, json } from "#operations/formats.ts";
import type { Operation, Query } from "#operations/operation.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import { vocabularyOf, vocabularyPath } from "#operations/vocabulary.ts";
import type { SentBody } from "./answer-cache.ts";
import type { Found } from "./gateway.ts";
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
 * @param findAnswer from `openOperations`, shared with MCP.
 */
export function openReads(dependencies: ReadDependencies, findAnswer: FindAnswer): Read[] {
  const { operations, offers } = dependencies;
  return [
    ...operations.map((operation) => operationRead(dependencies, findAnswer, operation)),
    vocabularyRead(dependencies),
    changesRead(dependencies),
    stepsRead(dependencies),
    ...(offers === null
      ? []
      : [exportsRead(dependencies, offers), exportFilesRead(dependencies, offers)]),
  ];
}

/** Finds the answer to an operation's query. @throws Problem as `readQuery` or `served` does. */
export type FindAnswer = (
  operation: Operation,
  text: string,
  format: Format,
  knownTags?: string,
) => Found<SentBody>;

/** Returns a function that answers queries, with caches of parsed queries and of answers. */
export function openOperations(
  dependencies: Pick<
    ReadDependencies,
    "cache" | "operations" | "pageSizeMax" | "publicUrl" | "model"
  >,
): FindAnswer {
  const { cache, publicUrl } = dependencies;
  const parse = openParsedQueryCache(dependencies);
  return (operation, text, format, knownTags) => {
    const { query, tagFor } = parse(operation, text);
    const dataset = served(dependencies);
    const { version: datasetVersion } = dataset.parts;
    const tag = tagFor(datasetVersion, format);
    if (matchesTag(knownTags, tag)) return { kind: "unchanged", tag, datasetVersion };
    const known = cache.find(tag);
    if (known !== undefined) return { kind: "answer", answer: known };
    const { body, total } = format.write(operation, dataset, query);
    const { path, filters } = operation;
    const headers = headerLines({
      ...validators({ tag, datasetVersion }),
      "content-type": format.contentType,
      "x-total-count": String(total),
      link: pageLinks({ path, filters, query, total }, publicUrl),
    });
    const made: SentBody = { tag, datasetVersion, body, encoded: {}, headers };
    cache.add(made);
    return { kind: "answer", answer: made };
  };
}

const mediaTypes = formats.map(({ mediaType }) => mediaType);

function operationRead(
  dependencies: ReadDependencies,
  findAnswer: FindAnswer,
  operation: Operation,
): Read {
  const find = ({ text, headers }: Asked) => {
    const preferred = preferredType(headers.accept, mediaTypes);
    const format = formats.find(({ mediaType }) => mediaType === preferred);
    if (format === undefined) throw notAcceptable(mediaTypes);
    return findAnswer(operation, text, format, headers["if-none-match"]);
  };
  return {
    path: operation.path,
    name: operation.name,
    hasAlias: true,
    ask: asking(dependencies, find),
  };
}

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
  operations,
  pageSizeMax,
}: Pick<ReadDependencies, "operations" | "pageSizeMax">) {
  const caches = new Map(
    operations.map(({ name }) => [name, new LRUCache<string, ParsedQuery>({ max: parsedMax })]),
  );
  return (operation: Operation, text: string): ParsedQuery => {
    const cache = caches.get(operation.name)!;
    let parsed = cache.get(text);
    if (parsed === undefined) {
      parsed = parsedQuery(operation, readQuery(operation, text, pageSizeMax, operations));
      if (text.length <= keptLengthMax) cache.set(text, parsed);
    }
    return parsed;
  };
}

/** Returns a query that caches its latest tag, because most queries are asked of one dataset in one format. */
function parsedQuery(operation: Operation, query: Query) {
  const canonical = canonicalQuery(operation, query);
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

/** Lists all reads. Answers the operations, `/vocabulary` and `/explain`, from the cache if possible. */
import { LRUCache } from "lru-cache";
import { type Format, formats, json } from "#operations/formats.ts";
import { gpFilters, type Operation, type Query } from "#operations/operation.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import { metaOf } from "#operations/page.ts";
import { explainPath } from "#operations/reads.ts";
import { echo, Problem } from "#problems.ts";
import { vocabularyOf, vocabularyPath } from "#operations/vocabulary.ts";
import { anyExplained, damagedText, type Explanation } from "#records/explanation.ts";
import { isRelative } from "#search/dates.ts";
import { runInTurns } from "#search/read-model.ts";
import type { SentBody } from "./answer-cache.ts";
import type { Found } from "./gateway.ts";
import { answerTag, descriptionLink, pageLinks, preferredType } from "./headers.ts";
import { changesRead, stepsRead } from "./read-changes.ts";
import { exportFilesRead, exportsRead } from "./read-exports.ts";
import {
  acceptNothingElse,
  type Question,
  asking,
  foundJson,
  knownAnswer,
  newAnswer,
  notAcceptable,
  type Read,
  type ReadDependencies,
  served,
} from "./reads.ts";

/**
 * Returns all reads. Includes those of exports only if exports are offered. MCP messages are handled elsewhere.
 * @param answers from `openOperations`, shared with MCP.
 */
export function openReads(dependencies: ReadDependencies, answers: AnswerSource): Read[] {
  const { operations, offers } = dependencies;
  return [
    ...operations.map((operation) => operationRead(dependencies, answers, operation)),
    vocabularyRead(dependencies),
    changesRead(dependencies),
    stepsRead(dependencies),
    explainRead(dependencies),
    ...(offers === null
      ? []
      : [exportsRead(dependencies, offers), exportFilesRead(dependencies, offers)]),
  ];
}

/** Reports whether an operation may read values from the documents: to sort, or for filters other than `gpFilters`. */
const readsValues = ({ filters, sorts }: Operation): boolean =>
  sorts !== null || Object.keys(filters).some((name) => !(name in gpFilters));

export type AnswerSource = ReturnType<typeof openOperations>;

/** Opens the source of answers. Opens a cache of parsed queries for it, and keeps answers in the given cache. */
export function openOperations(
  dependencies: Pick<
    ReadDependencies,
    "cache" | "operations" | "pageSizeMax" | "publicUrl" | "model"
  >,
) {
  const { publicUrl, model } = dependencies;
  const parse = openParsedQueryCache(dependencies);
  const ofValues = new Set(dependencies.operations.filter(readsValues));

  /**
   * Finds an operation's answer, or only its tag if the client has it. Reads values for the query in steps of a few
   * milliseconds, so that no other request waits long. Starts again if the dataset is replaced meanwhile.
   * @throws Problem as `readQuery` or `served` does.
   */
  function find(
    operation: Operation,
    text: string,
    format: Format,
    knownTags?: string,
  ): Found<SentBody> | Promise<Found<SentBody>> {
    const { query, tagFor } = parse(operation, text);
    const dataset = served(dependencies);
    const { version: datasetVersion } = dataset.parts;
    const of = { tag: tagFor(datasetVersion, format), datasetVersion };
    const known = knownAnswer(dependencies, knownTags, of);
    if (known !== null) return known;
    if (ofValues.has(operation)) {
      const steps = dataset.prepare(operation.kind, query.filter, query.order);
      if (steps.next().done !== true)
        return runInTurns(steps, () => model() === dataset).then(() =>
          find(operation, text, format, knownTags),
        );
    }
    const { body, total } = format.write(operation, dataset, query);
    return newAnswer(dependencies, of, body, {
      "content-type": format.contentType,
      "x-total-count": String(total),
      link: pageLinks({ path: operation.path, query, total }, publicUrl),
    });
  }

  return { find };
}

const mediaTypes = formats.map(({ mediaType }) => mediaType);

function operationRead(
  dependencies: ReadDependencies,
  answers: AnswerSource,
  operation: Operation,
): Read {
  const find = ({ text, headers }: Question) => {
    const preferred = preferredType(headers.accept, mediaTypes);
    const format = formats.find(({ mediaType }) => mediaType === preferred);
    if (format === undefined) throw notAcceptable(mediaTypes);
    return answers.find(operation, text, format, headers["if-none-match"]);
  };
  const { path, name } = operation;
  return { path, name, hasAlias: true, ask: asking(dependencies, find) };
}

/** Returns the read for the vocabulary: all tags, themes and markets, and the values of members with a closed list. */
function vocabularyRead(dependencies: ReadDependencies): Read {
  const find = (asked: Question) => {
    acceptNothingElse(dependencies, vocabularyPath, json.mediaType, asked);
    const model = served(dependencies);
    const { version: datasetVersion } = model.parts;
    const tag = answerTag(datasetVersion, "vocabulary", "", json.name);
    const link = descriptionLink(dependencies.publicUrl);
    return foundJson(dependencies, asked, { tag, datasetVersion }, { link }, () =>
      JSON.stringify(vocabularyOf(model)),
    );
  };
  const ask = asking(dependencies, find);
  return { path: vocabularyPath, name: "vocabulary", hasAlias: true, ask };
}

function explainRead(dependencies: ReadDependencies): Read {
  const find = async (asked: Question) => {
    const { below: id, headers } = asked;
    acceptNothingElse(dependencies, `${explainPath}/{id}`, json.mediaType, asked);
    const { parts } = served(dependencies);
    const { version: datasetVersion } = parts;
    const of = { tag: answerTag(datasetVersion, "explain", id, json.name), datasetVersion };
    // `*` matches only if there is an explanation, which is not known yet (RFC 9110 §13.1.2).
    const tags = headers["if-none-match"];
    const known = tags?.trim() === "*" ? null : knownAnswer(dependencies, tags, of);
    if (known !== null) return known;
    const data = await explained(dependencies, id);
    const link = descriptionLink(dependencies.publicUrl);
    return foundJson(dependencies, asked, of, { link }, () =>
      JSON.stringify({ data, meta: metaOf(parts, []) }),
    );
  };
  const ask = asking(dependencies, find);
  return { path: `${explainPath}/*`, name: "explain", hasAlias: true, ask };
}

/**
 * Explains a record.
 * @throws Problem 404 if no GP, principal or project has the id; 500 if its evidence is damaged.
 * @throws whatever `explain` throws, such as a Problem 503.
 */
export async function explained(
  { explain, operations }: Pick<ReadDependencies, "explain" | "operations">,
  id: string,
): Promise<Explanation> {
  const found = await explain(id);
  if (found) return found;
  if (found === undefined) throw new Problem("internal-error", damagedText);
  const path = echo(`${explainPath}/${id}`);
  throw new Problem(
    "unknown-path",
    `There is nothing at ${path}. Take the id of a ${anyExplained} from an answer.`,
    { suggestion: null, operations: operations.map((one) => one.path) },
  );
}

type ParsedQuery = ReturnType<typeof parsedQuery>;

/** Maximum number of parsed queries kept for each operation. */
const parsedMax = 5000;
/** Maximum length of a cached query, in characters. With longer ones, a few clients could use much memory. */
const keptLengthMax = 300;

/**
 * Returns a function that parses query strings and caches the results. For one operation, a string always means the
 * same query. Does not cache faulty queries, long ones, or those with a relative date.
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
      const day = readsValues(operation) ? model()?.parts.updatedAt.slice(0, 10) : undefined;
      parsed = parsedQuery(operation, readQuery(operation, text, pageSizeMax, operations, { day }));
      // A range with a relative date may be out of order for one dataset's day, but not for another's.
      const isLasting = !Object.values(parsed.query.values).flat().some(isRelative);
      if (isLasting && text.length <= keptLengthMax) cache.set(text, parsed);
    }
    return parsed;
  };
}

/** Adds to a query a function that caches the latest answer's tag. Most queries are asked of one dataset and format. */
function parsedQuery(operation: Operation, query: Query) {
  const canonical = canonicalQuery(query);
  let taggedVersion = "";
  let taggedFormat: Format | null = null;
  let tag = "";
  return {
    query,
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

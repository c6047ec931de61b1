/** Serves `/vocabulary`, with the checks of an operation in the same order. */
import type { SentBody } from "#api/answer-cache.ts";
import { type Found, noDataset, notAcceptable } from "#api/ask.ts";
import { answerTag, isUnchanged } from "#api/entity-tag.ts";
import { json as format } from "#operations/formats.ts";
import { refuseParameters } from "#operations/parameters.ts";
import { vocabularyOf, vocabularyPath as path } from "#operations/vocabulary.ts";
import type { DatasetParts } from "#search/dataset-parts.ts";
import { headerLines, type HeaderLines } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { descriptionLink, sendOutcome, validators } from "./operation-routes.ts";
import { preferredType } from "./negotiate.ts";
import { type Exchange, queryText, readMethods, type Route, withAlias } from "./routes.ts";

export function vocabularyRoutes(http: HttpDependencies): Route[] {
  const written = new WeakMap<DatasetParts, SentBody>();
  return withAlias({
    path,
    methods: readMethods,
    who: "key",
    name: "vocabulary",
    async handle(exchange) {
      const outcome = await http.api.count(exchange.caller!, () => find(http, written, exchange));
      return sendOutcome(http, outcome, headersOf, exchange);
    },
  });
}

/** @throws Problem in the order of the contract: format, parameters, dataset. */
function find(
  { model, operations }: HttpDependencies,
  written: WeakMap<DatasetParts, SentBody>,
  exchange: Exchange,
): Found<SentBody> {
  const { accept, "if-none-match": knownTags } = exchange.request.headers;
  if (preferredType(accept, [format.mediaType]) === undefined)
    throw notAcceptable([format.mediaType]);
  refuseParameters(path, queryText(exchange), operations);
  const dataset = model();
  if (dataset === null) throw noDataset();
  const { parts } = dataset;
  const tag = answerTag(parts.version, "vocabulary", "", format.name);
  if (isUnchanged(knownTags, tag)) return { kind: "unchanged", tag, datasetVersion: parts.version };
  let answer = written.get(parts);
  if (answer === undefined) written.set(parts, (answer = write(parts, tag)));
  return { kind: "answer", answer };
}

const write = (parts: DatasetParts, tag: string): SentBody => ({
  tag,
  datasetVersion: parts.version,
  body: Buffer.from(JSON.stringify(vocabularyOf(parts))),
  encoded: {},
  headers: null,
});

const headersOf = ({ config }: HttpDependencies, answer: SentBody): HeaderLines =>
  headerLines({
    ...validators(answer),
    "content-type": format.contentType,
    link: descriptionLink(config.publicUrl),
  });

/** Serves `/changes`, the steps below it and the feed, with the checks of an operation in the same order. */
import { createReadStream } from "node:fs";
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { compressor, type Encoding, encodedBytesMin, type SentBody } from "#api/answer-cache.ts";
import { type Found, noDataset, notAcceptable, type Outcome } from "#api/ask.ts";
import { answerTag, isUnchanged } from "#api/entity-tag.ts";
import { greatestRequest, type Quotas } from "#limits/policy.ts";
import {
  changesPath,
  feedPath,
  findStep,
  publicationPage,
  readListQuery,
  type StepPart,
} from "#operations/changes.ts";
import { json } from "#operations/formats.ts";
import type { Operation, Query } from "#operations/operation.ts";
import { Problem } from "#problems.ts";
import type { Publication } from "#records/publication.ts";
import { headerLines, type HeaderLines } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import type { Document } from "./documents.ts";
import {
  descriptionLink,
  pageLinks,
  quotaHeaders,
  sendOutcome,
  validators,
} from "./operation-routes.ts";
import { preferredEncoding, preferredType } from "./negotiate.ts";
import {
  acceptedEncodings,
  type Exchange,
  pathBelow,
  queryText,
  readMethods,
  type Route,
  withAlias,
} from "./routes.ts";
import { sendAnswer } from "./send-answer.ts";

const ndjson = "application/x-ndjson";
const facts = { methods: readMethods, who: "key", name: "changes" } as const;

export const changesRoutes = (http: HttpDependencies): Route[] => [
  ...withAlias({
    ...facts,
    path: changesPath,
    async handle(exchange) {
      const cost = () => planRefusal(exchange) ?? 1;
      const outcome = await http.api.count(exchange.caller!, () => findList(http, exchange), cost);
      return sendOutcome(http, outcome, listHeaders, exchange);
    },
  }),
  ...withAlias({
    ...facts,
    path: `${changesPath}/*`,
    handle: (exchange) => serveStep(http, exchange),
  }),
];

/** Not counted, as other refusals of a key are not. */
function planRefusal({ caller }: Exchange): Problem | undefined {
  const { key } = caller!;
  if (key === null || key instanceof Problem || key.mayReadChanges) return undefined;
  return new Problem("access-denied", "The plan of this account does not include /changes.", {
    reason: "plan",
  });
}

interface List extends SentBody {
  operation: { path: string; filters: Operation["filters"] };
  query: Query;
  total: number;
}

/** @throws Problem in the order of the contract: format, parameters, dataset. */
function findList(http: HttpDependencies, exchange: Exchange): Found<List> {
  const { accept, "if-none-match": knownTags } = exchange.request.headers;
  if (preferredType(accept, [json.mediaType]) === undefined) throw notAcceptable([json.mediaType]);
  const query = readListQuery(queryText(exchange), http.config.pageSizeMax, http.operations);
  const dataset = http.model();
  if (dataset === null) throw noDataset();
  const { parts } = dataset;
  const datasetVersion = parts.version;
  const publications = http.changes.list(datasetVersion);
  const { limit, offset } = query;
  // Of one dataset the list may become another: when it is served again, and when what is old is removed.
  const state = `${publications[0]?.published_at} ${publications.at(-1)?.published_at} ${publications.length}`;
  const tag = answerTag(datasetVersion, "changes", `${limit} ${offset} ${state}`, json.name);
  if (isUnchanged(knownTags, tag)) return { kind: "unchanged", tag, datasetVersion };
  const page = publicationPage(publications, parts, query);
  const answer = {
    operation: { path: changesPath, filters: {} },
    query,
    total: publications.length,
    tag,
    datasetVersion,
    body: Buffer.from(JSON.stringify(page)),
    encoded: {},
    headers: null,
  };
  return { kind: "answer", answer };
}

const listHeaders = ({ config }: HttpDependencies, list: List): HeaderLines =>
  headerLines({
    ...validators(list),
    "content-type": json.contentType,
    "x-total-count": String(list.total),
    link: pageLinks(list, config.publicUrl),
  });

interface TaggedPart extends StepPart {
  tag: string;
}

async function serveStep(http: HttpDependencies, exchange: Exchange): Promise<void> {
  const { request } = exchange;
  let find: () => Found<TaggedPart>;
  const cost = (quotas: Quotas): number | Problem => {
    const refusal = planRefusal(exchange);
    if (refusal !== undefined) return refusal;
    try {
      const part = askedPart(http, exchange, quotas);
      const { from, to, limit, offset } = part;
      const tag = answerTag(to, "changes", `${from} ${limit} ${offset}`, ndjson);
      if (isUnchanged(request.headers["if-none-match"], tag)) {
        find = () => ({ kind: "unchanged", tag, datasetVersion: to });
        return 1;
      }
      const isHead = request.method === "HEAD";
      find = () => ({ kind: "answer", answer: { ...part, tag } });
      return isHead ? 1 : part.requests;
    } catch (error) {
      find = () => {
        throw error;
      };
      return 1;
    }
  };
  const outcome = await http.api.count(exchange.caller!, () => find(), cost);
  const { result, ...rest } = outcome;
  if (result.kind === "answer") sendPart(http, rest, result.answer, exchange);
  else await sendOutcome(http, { ...rest, result }, listHeaders, exchange);
}

/** @throws Problem in the order of the contract: format, path, parameters. */
function askedPart(http: HttpDependencies, exchange: Exchange, quotas: Quotas): StepPart {
  if (preferredType(exchange.request.headers.accept, [ndjson]) === undefined)
    throw notAcceptable([ndjson]);
  const dataset = http.model();
  if (dataset === null) throw noDataset();
  return findStep(http.changes, dataset.parts.version, {
    name: pathBelow(exchange),
    queryText: queryText(exchange),
    greatestRequest: greatestRequest(quotas),
    operations: http.operations,
  });
}

function sendPart(
  http: HttpDependencies,
  { asker, counted }: Pick<Outcome, "asker" | "counted">,
  part: TaggedPart,
  exchange: Exchange,
): void {
  const { to: datasetVersion, tag, path, total, limit, offset, start, end } = part;
  exchange.asker = asker;
  exchange.quotaHeaders = quotaHeaders(counted!);
  exchange.datasetVersion = datasetVersion;
  const { publicUrl } = http.config;
  const query = { filter: {}, limit: limit ?? 0, offset };
  const encoding =
    end - start <= encodedBytesMin ? null : preferredEncoding(acceptedEncodings(exchange));
  const headers = headerLines({
    ...validators({ tag, datasetVersion }),
    "content-type": `${ndjson}; charset=utf-8`,
    ...(encoding === null
      ? { "content-length": String(end - start) }
      : { "content-encoding": encoding }),
    "x-total-count": String(total),
    link:
      limit === null
        ? descriptionLink(publicUrl)
        : pageLinks({ operation: { path, filters: {} }, query, total }, publicUrl),
  });
  const isEmpty = exchange.request.method === "HEAD" || start === end;
  sendAnswer(http, exchange, {
    status: 200,
    headers,
    body: null,
    ...(!isEmpty && { stream: (response) => pipePart(part, encoding, response) }),
  });
}

/** @returns the bytes that were sent. */
async function pipePart(
  { file, start, end }: StepPart,
  encoding: Encoding | null,
  response: ServerResponse,
): Promise<number> {
  const content = createReadStream(file, { start, end: end - 1 });
  const sent = encoding === null ? content : content.pipe(compressor(encoding));
  let bytes = 0;
  sent.on("data", (piece: Buffer) => void (bytes += piece.length));
  // The client may leave, or the step be gone since: a connection that ends early says so.
  content.on("error", () => response.destroy());
  await pipeline(sent, response).catch(() => response.destroy());
  content.destroy();
  return bytes;
}

/** One text for each list of publications, which few changes follow. */
export function feedOf(http: HttpDependencies): Document {
  const { publicUrl } = http.config;
  let known: { from: readonly Publication[]; text: string } | null = null;
  const content = async () => {
    const { changesFeed } = await import("#pages/changes-feed.ts");
    const dataset = http.model();
    if (dataset === null) throw noDataset();
    const { version, updatedAt } = dataset.parts;
    const from = http.changes.list(version);
    if (known?.from !== from) {
      const address = `${publicUrl ?? ""}${feedPath}`;
      known = { from, text: changesFeed({ publications: from.toReversed(), address, updatedAt }) };
    }
    return known.text;
  };
  const accept = "application/atom+xml";
  return { forms: [{ accept, contentType: `${accept}; charset=utf-8`, content }] };
}

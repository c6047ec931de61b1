/** Serves `/exports` and the files below it: whole datasets, with ranges, after the checks of an operation in the same order. */
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { noDataset, notAcceptable } from "#api/ask.ts";
import { contentTag, isUnchanged } from "#api/entity-tag.ts";
import type { ExportOffers, MadeFile, OfferedFile } from "#exports/offers.ts";
import type { FileFormat } from "#exports/run-export.ts";
import { metaOf } from "#operations/page.ts";
import { refuseParameters } from "#operations/parameters.ts";
import { exportsPath } from "#operations/reads.ts";
import { echo, internalError, Problem } from "#problems.ts";
import { headerLines, json } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { descriptionLink, quotaHeaders, validators } from "./operation-routes.ts";
import { negotiateBody, preferredType } from "./negotiate.ts";
import {
  acceptedEncodings,
  type Exchange,
  pathBelow,
  queryText,
  readMethods,
  type Route,
  sentPath,
} from "./routes.ts";
import { type Answer, refuse, sendAnswer } from "./send-answer.ts";

export function exportsRoutes(http: HttpDependencies, offers: ExportOffers): Route[] {
  const route = (path: string, answerTo: (exchange: Exchange) => Answering): Route => ({
    path,
    methods: readMethods,
    who: "key",
    name: "exports",
    handle: (exchange) => serve(http, exchange, () => answerTo(exchange)),
  });
  return [
    route(exportsPath, (exchange) => indexAnswer(http, offers, exchange)),
    route(`${exportsPath}/*`, (exchange) => fileAnswer(http, offers, exchange)),
  ];
}

/** Refuses at once what can be refused, so that the order of the contract holds, and makes the answer afterwards. */
type Answering = () => Answer | Promise<Answer>;

async function serve(
  http: HttpDependencies,
  exchange: Exchange,
  begin: () => Answering,
): Promise<void> {
  const outcome = await http.api.count(exchange.caller!, () => ({
    kind: "answer",
    answer: begin(),
  }));
  const { asker, counted, result } = outcome;
  exchange.asker = asker;
  if (counted !== null) exchange.quotaHeaders = quotaHeaders(counted);
  if (result.kind === "problem") return refuse(http, exchange, result.problem, result.cause);
  // Whether the client has it already is known only once it is made.
  if (result.kind === "unchanged") throw internalError();
  try {
    sendAnswer(http, exchange, await result.answer());
  } catch (error) {
    refuse(http, exchange, problemOf(error, http, exchange), error);
  }
}

/** What is being made when the service stops is not made. */
function problemOf(error: unknown, { state, log }: HttpDependencies, { id }: Exchange): Problem {
  if (error instanceof Problem) return error;
  if ((error as { kind?: unknown }).kind === "full") {
    log.error({ err: error, request_id: id }, "the disk has no room for an export");
    return noRoom();
  }
  if (state() === "running") return internalError();
  return new Problem("unavailable", "The service is about to stop.", {
    reason: "draining",
    retry_after: 1,
  });
}

const noRoom = () =>
  new Problem(
    "unavailable",
    "The disk of this service has no room for the file. Its operator has to free some; until then read the records page by page.",
    { reason: "store_down", retry_after: 60 },
  );

function indexAnswer(http: HttpDependencies, offers: ExportOffers, exchange: Exchange): Answering {
  checkQuestion(http, exchange, exportsPath, "application/json");
  const model = http.model();
  if (model === null) throw noDataset();
  const { parts } = model;
  return async () => {
    const data = offers.list().map(({ generation: { version, built_at }, files }) => ({
      version,
      is_current: version === parts.version,
      built_at,
      files: files.map(({ name, kind, format, records, made }) => ({
        path: `${exportsPath}/${version}/${name}`,
        kind,
        format,
        records,
        bytes: made?.bytes ?? null,
        sha256: made?.sha256 ?? null,
      })),
    }));
    const body = Buffer.from(JSON.stringify({ data, meta: metaOf(parts, []) }));
    const tag = contentTag(body);
    const isKnown = isUnchanged(exchange.request.headers["if-none-match"], tag);
    const headers = { ...validators({ tag, datasetVersion: parts.version }) };
    exchange.datasetVersion = parts.version;
    if (isKnown) return { status: 304, headers: headerLines(headers), body: null };
    const link = descriptionLink(http.config.publicUrl);
    const sent = await negotiateBody(acceptedEncodings(exchange), body);
    const lines = headerLines({ ...headers, "content-type": json, link, ...sent.headers });
    return { status: 200, headers: lines, body: sent.body };
  };
}

const contentTypes: Readonly<Record<FileFormat, string>> = {
  ndjson: "application/x-ndjson; charset=utf-8",
  csv: "text/csv; charset=utf-8; header=present",
  parquet: "application/vnd.apache.parquet",
};

function fileAnswer(http: HttpDependencies, offers: ExportOffers, exchange: Exchange): Answering {
  const [version = "", name = "", ...others] = pathBelow(exchange).split("/");
  const file = others.length === 0 ? offers.find(version, name) : undefined;
  if (file === undefined) throw noFile(http, exchange);
  const contentType = contentTypes[file.format];
  checkQuestion(http, exchange, exportsPath, contentType.split(";")[0]!);
  return async () => {
    const made = file.made ?? (await inTime(offers.make(version, file)));
    exchange.datasetVersion = version;
    return contentOf(http, exchange, { version, file, made, contentType });
  };
}

const noFile = ({ operations }: HttpDependencies, { target }: Exchange) =>
  new Problem(
    "unknown-path",
    `There is nothing at ${echo(sentPath(target))}; ${exportsPath} lists the files there are.`,
    { suggestion: exportsPath, operations: operations.map(({ path }) => path) },
  );

/** @throws Problem in the order of the contract: format, parameters. */
function checkQuestion(
  { operations }: HttpDependencies,
  exchange: Exchange,
  path: string,
  mediaType: string,
): void {
  if (preferredType(exchange.request.headers.accept, [mediaType]) === undefined)
    throw notAcceptable([mediaType]);
  refuseParameters(path, queryText(exchange), operations);
}

/** Proxies wait no longer than a minute for the head of an answer. */
const waitMilliseconds = 25_000;

/** A large file takes longer to make than a client waits: whoever asks again finds it further on, or made. */
async function inTime(made: Promise<MadeFile>): Promise<MadeFile> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      reject(
        new Problem("unavailable", "The file is being made. Ask for it again.", {
          reason: "timeout",
          retry_after: 10,
        }),
      ),
    waitMilliseconds,
  );
  return Promise.race([made, tooLate]).finally(() => clearTimeout(timer));
}

interface Content {
  version: string;
  file: OfferedFile;
  made: MadeFile;
  contentType: string;
}

/** 200, 206, 304 or 416 (RFC 9110 §13.2.2, §14). */
function contentOf(
  http: HttpDependencies,
  exchange: Exchange,
  { version, file, made: { path, bytes, sha256 }, contentType }: Content,
): Answer {
  // Strong: of these bytes a range of one download continues another.
  const tag = `"${sha256.slice(0, 32)}"`;
  const headers = {
    ...validators({ tag, datasetVersion: version }),
    "accept-ranges": "bytes",
  };
  if (isUnchanged(exchange.request.headers["if-none-match"], tag))
    return { status: 304, headers: headerLines(headers), body: null };
  const { method } = exchange.request;
  const range = method === "GET" ? wantedRange(exchange, tag, bytes) : null;
  const { first, last } = range ?? { first: 0, last: bytes - 1 };
  const head = headerLines({
    ...headers,
    "content-type": contentType,
    "content-disposition": `attachment; filename="${file.name}"`,
    "content-length": String(last - first + 1),
    ...(range !== null && { "content-range": `bytes ${first}-${last}/${bytes}` }),
    link: descriptionLink(http.config.publicUrl),
  });
  const answer = { status: range === null ? 200 : 206, headers: head, body: null };
  if (method === "HEAD" || bytes === 0) return answer;
  return {
    ...answer,
    async stream(response) {
      const content = createReadStream(path, { start: first, end: last });
      // The client may leave, or the file be gone with its dataset: a connection that ends early says so.
      await pipeline(content, response).catch(() => response.destroy());
      return content.bytesRead;
    },
  };
}

/**
 * Null for the whole file: several ranges, or what is no range, are ignored, and so is a range of another file (`If-Range`).
 * @throws Problem where it lies beyond the file.
 */
function wantedRange(
  { request }: Exchange,
  tag: string,
  bytes: number,
): { first: number; last: number } | null {
  const { range, "if-range": ifRange } = request.headers;
  if (range === undefined || (ifRange !== undefined && ifRange !== tag)) return null;
  const [, from = "", to = ""] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(range) ?? [];
  if (from === "" && to === "") return null;
  if (from !== "" && to !== "" && Number(to) < Number(from)) return null;
  const first = from === "" ? Math.max(0, bytes - Number(to)) : Number(from);
  if (first >= bytes)
    throw new Problem("range-not-satisfiable", `The file has ${bytes} bytes.`, { bytes });
  const last = from === "" || to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1);
  return { first, last };
}

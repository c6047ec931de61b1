/** Answers `/exports` and the files below it: whole datasets, with range requests. */
import { setTimeout as wait } from "node:timers/promises";
import type { ExportOffers, MadeFile, OfferedFile } from "#exports/offers.ts";
import type { FileFormat } from "#exports/run-export.ts";
import { csv, json, ndjson } from "#operations/formats.ts";
import { metaOf } from "#operations/page.ts";
import { echo, internalError, notReadyDetails, Problem, unavailable } from "#problems.ts";
import type { Found, Refusal } from "./gateway.ts";
import { answerTag, descriptionLink, headerLines, matchesTag, validators } from "./headers.ts";
import {
  acceptNothingElse,
  type Question,
  type AskedHeaders,
  asking,
  type Content,
  foundJson,
  type Read,
  type ReadDependencies,
  replyOf,
  served,
  unchanged,
} from "./reads.ts";

export const exportsPath = "/exports";

export function exportsRead(dependencies: ReadDependencies, offers: ExportOffers): Read {
  const { publicUrl } = dependencies;
  const find = (asked: Question) => {
    acceptNothingElse(dependencies, exportsPath, json.mediaType, asked);
    const { parts } = served(dependencies);
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
    const body = JSON.stringify({ data, meta: metaOf(parts, []) });
    const tag = answerTag(parts.version, "exports", body, json.name);
    const of = { tag, datasetVersion: parts.version };
    return foundJson(dependencies, asked, of, { link: descriptionLink(publicUrl) }, () => body);
  };
  return {
    path: exportsPath,
    name: "exports",
    hasAlias: false,
    ask: asking(dependencies, find),
  };
}

const contentTypes: Readonly<Record<FileFormat, string>> = {
  ndjson: ndjson.contentType,
  csv: csv.contentType,
  parquet: "application/vnd.apache.parquet",
};

interface Wanted {
  version: string;
  file: OfferedFile;
}

export function exportFilesRead(dependencies: ReadDependencies, offers: ExportOffers): Read {
  const { gateway, operations, publicUrl } = dependencies;
  const unknown = ({ below }: Question) =>
    new Problem(
      "unknown-path",
      `There is nothing at ${echo(`${exportsPath}/${below}`)}; ${exportsPath} lists the available files.`,
      { suggestion: exportsPath, operations: operations.map(({ path }) => path) },
    );
  const find = (asked: Question): Found<Wanted> => {
    const [version = "", name = "", ...others] = asked.below.split("/");
    const file = others.length === 0 ? offers.find(version, name) : undefined;
    if (file === undefined) throw unknown(asked);
    const [mediaType] = contentTypes[file.format].split(";");
    acceptNothingElse(dependencies, exportsPath, mediaType!, asked);
    return { kind: "answer", answer: { version, file } };
  };
  const make = async (asked: Question, wanted: Wanted): Promise<Content | Refusal> => {
    try {
      const made = wanted.file.made ?? (await inTime(offers.make(wanted.version, wanted.file)));
      return contentOf(asked, wanted, made, publicUrl);
    } catch (error) {
      if (error instanceof Problem) return { kind: "problem", problem: error };
      // The dataset may have been replaced and removed meanwhile.
      if (offers.find(wanted.version, wanted.file.name) === undefined)
        return { kind: "problem", problem: unknown(asked) };
      return { kind: "problem", problem: problemOf(error, dependencies), cause: error };
    }
  };
  return {
    path: `${exportsPath}/*`,
    name: "exports",
    hasAlias: false,
    async ask(asked) {
      const outcome = await gateway.counted(asked, find);
      const { result } = outcome;
      if (result.kind !== "answer") return replyOf(outcome, null, result as Refusal);
      return replyOf(outcome, result.answer.version, await make(asked, result.answer));
    },
  };
}

/** Returns the problem for a file that could not be made. */
function problemOf(error: unknown, { isStopping }: ReadDependencies): Problem {
  const { kind, syscall } = error as { kind?: unknown; syscall?: unknown };
  if (kind === "full")
    return unavailable(
      "store_down",
      "The disk of this service has no room for the file. Until the operator frees some space, read the records page by page.",
      60,
    );
  if (isStopping()) return unavailable("draining", notReadyDetails.draining);
  if (kind === undefined && syscall === undefined) return internalError();
  return unavailable(
    "store_down",
    "The file cannot be made at the moment. Until the operator has seen to it, read the records page by page.",
    60,
  );
}

/** Longest wait for a file, in ms. Many proxies wait only a minute for response headers. */
const waitMilliseconds = 25_000;

/**
 * Waits for a file for a limited time, because making a large one may take longer than a client waits. Making the file
 * continues, so a later request finds it further along or finished.
 * @throws Problem 503 if the file is not made in time.
 */
async function inTime(made: Promise<MadeFile>): Promise<MadeFile> {
  const tooLate = wait(waitMilliseconds, undefined, { ref: false }).then(() => {
    throw unavailable("timeout", "The file is still being made. Try again in 10 seconds.", 10);
  });
  return Promise.race([made, tooLate]);
}

/** Returns the content of a 200, 206 or 304 (RFC 9110 §13.2.2, §14). @throws Problem 416 as `wantedRange` does. */
function contentOf(
  { isHead, headers: asked }: Question,
  { version: datasetVersion, file }: Wanted,
  { path, bytes, sha256 }: MadeFile,
  publicUrl: string | null,
): Content {
  // The tag is strong: a range must continue exactly the same bytes.
  const tag = `"${sha256.slice(0, 32)}"`;
  if (matchesTag(asked["if-none-match"], tag)) {
    const { headers, ...content } = unchanged({ tag, datasetVersion });
    return { ...content, headers: `${headers}accept-ranges: bytes\r\n` };
  }
  const range = isHead ? null : wantedRange(asked, tag, bytes);
  const { start, end } = range ?? { start: 0, end: bytes };
  return {
    kind: "content",
    status: range === null ? 200 : 206,
    headers: headerLines({
      ...validators({ tag, datasetVersion }),
      "accept-ranges": "bytes",
      "content-type": contentTypes[file.format],
      "content-disposition": `attachment; filename="${file.name}"`,
      "content-length": String(end - start),
      ...(range !== null && { "content-range": `bytes ${start}-${end - 1}/${bytes}` }),
      link: descriptionLink(publicUrl),
    }),
    body: null,
    ...(!isHead && bytes > 0 && { file: { path, start, end, encoding: null } }),
  };
}

/**
 * Returns the requested range, or null for the whole file. Ignores several ranges, an invalid range, and a range of a
 * different file (`If-Range`).
 * @throws Problem 416 if the range contains no byte of the file.
 */
function wantedRange(
  { range, "if-range": ifRange }: AskedHeaders,
  tag: string,
  bytes: number,
): { start: number; end: number } | null {
  if (range === undefined || (ifRange !== undefined && ifRange !== tag)) return null;
  const [, from = "", to = ""] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(range) ?? [];
  if (from === "" && to === "") return null;
  if (from !== "" && to !== "" && Number(to) < Number(from)) return null;
  const start = from === "" ? Math.max(0, bytes - Number(to)) : Number(from);
  if (start >= bytes)
    throw new Problem("range-not-satisfiable", `The file has only ${bytes} bytes.`, { bytes });
  return { start, end: from === "" || to === "" ? bytes : Math.min(Number(to) + 1, bytes) };
}

/** A page of records: its format, its arithmetic, its links, and whether it holds what was asked for. */
import { parse } from "csv-parse/sync";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import type { Violation } from "../run.ts";
import { idPrefixes, pageSizeByDefault } from "./promised.ts";
import type { Answer } from "./read-answers.ts";
import { targetOf, type FuzzRequest } from "./request.ts";

interface Page {
  data: { id: string }[];
  pagination: Record<string, unknown>;
  meta: { hints: Hint[] } & Record<string, unknown>;
}

interface Hint {
  code: string;
  parameter: string | null;
  suggestions: string[];
}

/** What every format tells of a page, and the hints, which only JSON has. */
export interface PageRead {
  ids: readonly string[];
  total: number;
  hints: readonly Hint[] | null;
}

/** What a request that is served asks for; of a list only the page. */
export type Question = ReferenceQuery | ListQuestion;
interface ListQuestion {
  operation: Exclude<keyof typeof idPrefixes, ReferenceQuery["operation"]>;
  limit: number;
  offset: number;
}

/** The plain reference knows the four reads. */
const isOfReference = (question: Question): question is ReferenceQuery =>
  question.operation.startsWith("fetch-");

/** Says what is wrong with the content of a page, or null. */
export type PageJudge = (question: ReferenceQuery, page: PageRead) => string | null;

/** Returns what a request that is served asks for; null where it is no operation, or its bytes may be read in several ways. */
export function questionOf({ target }: FuzzRequest): Question | null {
  const { path, query } = targetOf(target);
  const operation = path.replace(/^(?:\/v1)?\//, "") as Question["operation"];
  if (!Object.hasOwn(idPrefixes, operation) || /[\x80-\xff]/.test(query)) return null;
  const given = new URLSearchParams(query);
  const name = given.get("gp_name");
  const facets = ["tag", "theme", "market"].filter((facet) => given.has(facet));
  const page = {
    operation,
    limit: Number(given.get("limit") ?? pageSizeByDefault),
    offset: Number(given.get("offset") ?? 0),
  } as Question;
  if (!isOfReference(page)) return page;
  return {
    ...page,
    ...(name !== null && { gp_name: name }),
    ...Object.fromEntries(facets.map((facet) => [facet, given.getAll(facet)])),
  };
}

export function judgePage(
  answer: Answer,
  content: string,
  question: Question,
  comparePage: PageJudge,
): Violation[] {
  const [type = ""] = (answer.headers.get("content-type") ?? "").split(";");
  const total = Number(answer.headers.get("x-total-count"));
  const wrong: string[] = [];
  let page: PageRead;
  try {
    if (type === "application/json") {
      const { data, pagination, meta } = JSON.parse(content) as Page;
      page = { ids: idsOf(data), total, hints: meta.hints };
      wrong.push(...paginationFaults({ data, pagination, meta }, total, question));
      wrong.push(...metaFaults(meta, answer));
    } else if (type === "application/x-ndjson")
      page = { ids: idsOfLines(content), total, hints: null };
    else if (type === "text/csv") page = { ids: idsOfTable(content), total, hints: null };
    else return [{ rule: "content type of a page", detail: type }];
  } catch (error) {
    return [{ rule: `a page is no ${type}`, detail: (error as Error).message }];
  }
  wrong.push(...pageFaults(page, answer, question));
  const difference = isOfReference(question) ? comparePage(question, page) : null;
  return [
    ...wrong.map((member) => ({ rule: `page: ${member}`, detail: content.slice(-300) })),
    ...(difference === null
      ? []
      : [{ rule: "page differs from the reference", detail: difference }]),
  ];
}

const idsOf = (data: readonly { id: string }[]) => data.map(({ id }) => id);

/** Each line is a record and has its end. */
function idsOfLines(content: string): string[] {
  const lines = content.split("\n");
  if (lines.pop() !== "") throw new Error("the last line has no end");
  return idsOf(lines.map((line) => JSON.parse(line) as { id: string }));
}

/** Each row has as many cells as the heading, and its end; no cell begins like a formula. */
function idsOfTable(content: string): string[] {
  if (!content.endsWith("\r\n")) throw new Error("the last line has no end");
  const [heading, ...rows] = parse(content, { record_delimiter: "\r\n" });
  if (heading?.[0] !== "id") throw new Error("the first column is not id");
  for (const cell of rows.flat())
    if (/^[=+\-@\t\r]/.test(cell) && !/^-[0-9.e+-]+$/.test(cell))
      throw new Error(`a cell begins like a formula: ${cell.slice(0, 50)}`);
  return rows.map(([id]) => id!);
}

const namesOf = (faults: readonly (readonly [string, boolean])[]) =>
  faults.filter(([, isRight]) => !isRight).map(([name]) => name);

function paginationFaults({ data, pagination }: Page, count: number, query: Question): string[] {
  const { limit, offset, returned, total, has_more: hasMore, next_offset: nextOffset } = pagination;
  const isMore = query.offset + query.limit < count;
  return namesOf([
    ["limit", limit === query.limit],
    ["offset", offset === query.offset],
    ["total count", total === count],
    ["returned", returned === data.length],
    ["has_more", hasMore === isMore],
    ["next_offset", nextOffset === (isMore ? query.offset + query.limit : null)],
  ]);
}

const metaFaults = (meta: Page["meta"], { headers }: Answer): string[] =>
  namesOf([
    ["api_version", meta["api_version"] === "1.3"],
    ["dataset_version", meta["dataset_version"] === headers.get("dataset-version")],
  ]);

/** What holds in every format. */
function pageFaults({ ids, total }: PageRead, { headers }: Answer, query: Question): string[] {
  const { operation } = query;
  const left = Math.max(0, total - query.offset);
  const link = headers.get("link") ?? "";
  const targets = [...link.matchAll(/<([^>]*)>; rel="([a-z-]+)"/g)];
  const rels = targets.map(([, , rel]) => rel).join();
  const wantedRels = [
    "first",
    ...(query.offset > 0 ? ["prev"] : []),
    ...(query.offset + query.limit < total ? ["next"] : []),
    "last",
    "service-desc",
  ].join();
  return namesOf([
    ["total", Number.isSafeInteger(total) && total >= 0],
    ["number of records", ids.length === Math.min(query.limit, left)],
    [
      "ids",
      ids.every((id) => id.startsWith(idPrefixes[operation])) && new Set(ids).size === ids.length,
    ],
    ["relations of links", rels === wantedRels],
    [
      "targets of links",
      targets.every(
        ([, target]) => target === "/openapi.json" || target!.startsWith(`/${operation}?`),
      ),
    ],
  ]);
}

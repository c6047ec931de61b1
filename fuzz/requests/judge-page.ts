/** A page of records: its arithmetic, its links, and whether it holds what was asked for. */
import type { Violation } from "./judge.ts";
import { hintCodes, promisedOperations } from "./promised.ts";
import type { Outcome } from "./stages.ts";
import type { Answer } from "./read-answers.ts";

export interface PageRead {
  data: { id: string }[];
  pagination: Record<string, unknown>;
  meta: { hints: { code: string; parameter: string | null; suggestions: string[] }[] } & Record<
    string,
    unknown
  >;
}

export type ExpectedPage = NonNullable<Outcome["page"]>;
/** Says what is wrong with the content of a page, or null. */
export type PageJudge = (expected: ExpectedPage, page: PageRead) => string | null;

export function judgePage(
  answer: Answer,
  content: string,
  expected: ExpectedPage,
  comparePage: PageJudge,
): Violation[] {
  const type = answer.headers.get("content-type") ?? "";
  if (!type.startsWith("application/json")) return judgeLines(type, content, expected);
  let page: PageRead;
  try {
    page = JSON.parse(content) as PageRead;
  } catch (error) {
    return [{ rule: "a page is no JSON", detail: (error as Error).message }];
  }
  const wrong = [...arithmeticFaults(page, expected), ...metaFaults(page, answer, expected)];
  const difference = comparePage(expected, page);
  return [
    ...wrong.map((member) => ({
      rule: `page: ${member}`,
      detail: JSON.stringify(page.pagination),
    })),
    ...(difference === null
      ? []
      : [{ rule: "page differs from the reference", detail: difference }]),
  ];
}

/** NDJSON holds a record a line; CSV a header and no fewer lines than records. */
function judgeLines(type: string, content: string, { query }: ExpectedPage): Violation[] {
  const lines = content.split("\n").filter((line) => line !== "");
  if (type.startsWith("application/x-ndjson")) {
    const isRight =
      lines.length <= query.limit && lines.every((line) => line.startsWith('{"id":"'));
    return isRight ? [] : [{ rule: "NDJSON", detail: content.slice(0, 200) }];
  }
  const isTable =
    type.startsWith("text/csv") && content.startsWith("id,") && content.endsWith("\r\n");
  return isTable ? [] : [{ rule: "content type of a page", detail: type }];
}

function arithmeticFaults({ data, pagination }: PageRead, { query }: ExpectedPage): string[] {
  const { limit, offset, returned, total, has_more: hasMore, next_offset: nextOffset } = pagination;
  const count = Number(total);
  const left = Math.max(0, count - query.offset);
  const isMore = query.offset + query.limit < count;
  const faults: [string, boolean][] = [
    [
      "members",
      Object.keys(pagination).join() === "limit,offset,returned,total,has_more,next_offset",
    ],
    ["limit", limit === query.limit],
    ["offset", offset === query.offset],
    ["total", Number.isSafeInteger(total) && count >= 0],
    ["returned", returned === data.length && returned === Math.min(query.limit, left)],
    ["has_more", hasMore === isMore],
    ["next_offset", nextOffset === (isMore ? query.offset + query.limit : null)],
  ];
  return faults.filter(([, isRight]) => !isRight).map(([name]) => name);
}

function metaFaults(
  { data, pagination, meta }: PageRead,
  { headers }: Answer,
  { path, query }: ExpectedPage,
): string[] {
  const ids = data.map(({ id }) => id);
  const { idPrefix } = promisedOperations[path]!;
  const link = headers.get("link") ?? "";
  const targets = [...link.matchAll(/<([^>]*)>; rel="([a-z-]+)"/g)];
  const rels = targets.map(([, , rel]) => rel).join();
  const wantedRels = [
    "first",
    ...(query.offset > 0 ? ["prev"] : []),
    ...(pagination["has_more"] === true ? ["next"] : []),
    "last",
    "service-desc",
  ].join();
  const faults: [string, boolean][] = [
    ["total count", headers.get("x-total-count") === String(pagination["total"])],
    ["api_version", meta["api_version"] === "1.3"],
    ["dataset_version", meta["dataset_version"] === headers.get("dataset-version")],
    ["hints", meta.hints.every(({ code }) => hintCodes.includes(code))],
    ["ids", ids.every((id) => id.startsWith(idPrefix)) && new Set(ids).size === ids.length],
    ["relations of links", rels === wantedRels],
    [
      "targets of links",
      targets.every(([, target]) => target === "/openapi.json" || target!.startsWith(`${path}?`)),
    ],
  ];
  return faults.filter(([, isRight]) => !isRight).map(([name]) => name);
}

/** The explorer: the four operations as forms, with their live answers, and suggestions while one types. */
import { framed } from "#office/frame.ts";
import { mayRead, readRecords, type Counted } from "#office/read-records.ts";
import { page, type Reply } from "#office/reply.ts";
import { route, type Route } from "#office/route.ts";
import type { AccountVisit } from "#office/visit.ts";
import { operations } from "#operations/index.ts";
import type { Operation } from "#operations/operation.ts";
import { callLines } from "#pages/account/call-lines.ts";
import { explorerPage } from "#pages/account/explorer.ts";
import type { FormView } from "#pages/account/explorer-form.ts";
import type { Gp } from "#records/gp.ts";
import { browse } from "#search/browse.ts";
import { readDocuments } from "#search/read-documents.ts";
import type { ReadModel } from "#search/read-model.ts";
import { call, queryOf } from "./explorer-call.ts";
import { commonFirst, suggest } from "./suggest.ts";

export const explorerRoutes: readonly Route[] = [
  route("/account/explorer", "member", {
    GET: (visit) => readRecords(visit, (counted) => explore(visit, counted)),
  }),
  route("/account/explorer/suggest", "member", { GET: suggestions }),
];

function explore(visit: AccountVisit, counted: Counted): Reply {
  const { pageSizeMax } = visit.rooms.settings;
  const chosen = visit.query.get("operation");
  const operation = operations.find(({ name }) => name === chosen) ?? operations[0]!;
  const typed = [...visit.query].filter(([name]) => name !== "operation");
  const view = {
    frame: framed(visit),
    operation,
    pageSizeMax,
    typed,
    known: knownValues(counted.model, operation),
  };
  if (typed.length === 0) return page(explorerPage({ ...view, faults: [], asked: null }));
  const query = queryOf(typed);
  const target = query === "" ? operation.path : `${operation.path}?${query}`;
  const lines = callLines({ base: visit.own.base, target });
  const { status, answer, faults } = call(operation, query, pageSizeMax, counted);
  return page(explorerPage({ ...view, faults, asked: { target, lines, answer } }), status);
}

const namesMax = 20;

function knownValues(model: ReadModel, { filters }: Operation): FormView["known"] {
  const known = browse(model.parts);
  const lists = {
    gp_name: () => recentNames(model),
    tag: () => commonFirst(known, "tag"),
    theme: () => commonFirst(known, "theme"),
    market: () => commonFirst(known, "market"),
  };
  return Object.fromEntries(filters.map((name) => [name, lists[name]()]));
}

function recentNames({ parts }: ReadModel): string[] {
  const { positions } = browse(parts).gps.select({}, "latest", { limit: namesMax, offset: 0 });
  return readDocuments<Gp>(parts.documents.gp, positions).map(({ name }) => name);
}

/** They are free, as nobody could type otherwise; whoever may read no records gets none. */
async function suggestions(visit: AccountVisit): Promise<Reply> {
  const model = visit.rooms.model();
  const isFree = model !== null && (await mayRead(visit));
  const { query } = visit;
  const values = isFree ? suggest(model, query.get("name") ?? "", query.get("text") ?? "") : [];
  return {
    status: 200,
    headers: [["content-type", "application/json; charset=utf-8"]],
    body: JSON.stringify(values),
  };
}

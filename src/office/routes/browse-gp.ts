/** The page of one GP, as the operations serve it. */
import { framed } from "#office/frame.ts";
import { page, type Reply } from "#office/reply.ts";
import { readRecords } from "#office/read-records.ts";
import { route, type Route } from "#office/route.ts";
import type { AccountVisit } from "#office/visit.ts";
import { fetchGp } from "#operations/fetch-gp.ts";
import { fetchProjects } from "#operations/fetch-projects.ts";
import type { Operation } from "#operations/operation.ts";
import { answer } from "#operations/page.ts";
import { gpPage } from "#pages/account/gp.ts";
import { wordPage } from "#pages/account/word.ts";
import type { Gp } from "#records/gp.ts";
import type { Project } from "#records/project.ts";
import { browse } from "#search/browse.ts";
import { positionOfId } from "#search/id-index.ts";
import type { ReadModel } from "#search/read-model.ts";

const projectsMax = 100;

export const browseGpRoutes: readonly Route[] = [
  route("/account/browse/gp/{id}", "member", {
    GET: (visit) => readRecords(visit, (model) => showGp(visit, model)),
  }),
];

function showGp(visit: AccountVisit, model: ReadModel): Reply {
  const id = visit.names["id"]!;
  if (positionOfId(model.parts.ids, id) === -1) return unknown(visit);
  const [gp] = ask<Gp>(fetchGp, model, id, 1).data;
  const { data: projects, pagination } = ask<Project>(fetchProjects, model, id, projectsMax);
  const { nameOfMarket } = browse(model.parts);
  const titles = [...gp!.markets, ...[...gp!.signals, ...projects].map(({ market }) => market)];
  return page(
    gpPage({
      frame: framed(visit),
      gp: gp!,
      projects,
      projectsTotal: pagination.total,
      marketNames: Object.fromEntries(
        titles.filter((title) => title !== null).map((title) => [title, nameOfMarket(title)]),
      ),
    }),
  );
}

interface Body<R> {
  data: R[];
  pagination: { total: number };
}

/** The id as a name means that GP alone. */
const ask = <R>(operation: Operation, model: ReadModel, id: string, limit: number): Body<R> =>
  JSON.parse(
    answer(operation, model, { filter: { name: id }, limit, offset: 0 }).body.toString(),
  ) as Body<R>;

const unknown = (visit: AccountVisit): Reply =>
  page(
    wordPage(
      "There is no such GP",
      "Perhaps its records are no longer published, or the address was cut off.",
      framed(visit),
      { href: "/account/browse", label: "Browse GPs" },
    ),
    404,
  );

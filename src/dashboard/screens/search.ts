/** The search for GPs, people and projects by name, and the suggestions while somebody types one. */
import { countOf, recordTable } from "#dashboard/components/browse-rows.ts";
import { accountPage } from "#dashboard/components/page.ts";
import { placeOf } from "#dashboard/components/record-page.ts";
import { cutText, isSuspended, joined, place, readRecords } from "#dashboard/components/records.ts";
import { browsePaths, capital, nouns } from "#dashboard/components/view.ts";
import { json, type ReaderRequest, type Reply, route, type Route } from "#dashboard/screen.ts";
import { gpFilters, parameterBounds } from "#operations/operation.ts";
import { html, type Html } from "#pages/html.ts";
import { searchForm } from "#pages/layout.ts";
import { counted, grouped } from "#pages/prose.ts";
import { money } from "#pages/values.ts";
import { fold } from "#records/fold.ts";
import type { Gp } from "#records/gp.ts";
import type { Principal } from "#records/principal.ts";
import type { Project } from "#records/project.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { prepareInTurns } from "#search/prepare-in-turns.ts";
import type { NamedKind, ReadModel } from "#search/read-model.ts";

export const searchRoutes: readonly Route[] = [
  route("/search", "reader", {
    GET: (request) => readRecords(request, (model) => searchPage(request, model)),
  }),
  route("/search/suggest", "reader", { GET: suggestions, isBackground: true }),
];

/** Kinds that are searched, in the order in which they are shown. */
const namedKinds = ["gp", "principal", "project"] as const satisfies readonly NamedKind[];

/** Maximum number of rows on the page, of each kind. */
const rowsMax = 10;

/** Returns the text to search for, of the same length as a `gp_name` may have. */
const askedIn = ({ query }: ReaderRequest): string =>
  [...(query.get("q") ?? "").trim()].slice(0, gpFilters.gp_name.lengthMax).join("");

/** Searches the names of each kind. Other requests are answered while they are read for the first time. */
async function searchNames(model: ReadModel, text: string, maxOf: (kind: NamedKind) => number) {
  for (const kind of ["principal", "project"] as const)
    await prepareInTurns(model, kind, { name: text });
  const found = namedKinds.map((kind) => ({
    kind,
    ...model.search(kind, text, { limit: maxOf(kind), offset: 0 }),
  }));
  return {
    found: found.filter(({ total }) => total > 0),
    total: found.reduce((sum, { total }) => sum + total, 0),
  };
}

async function searchPage(request: ReaderRequest, model: ReadModel): Promise<string> {
  const text = askedIn(request);
  // The table of GPs has their signals by date.
  await prepareInTurns(model, "signal", { date: { from: "2000" } });
  const { found, total } = await searchNames(model, text, () => rowsMax);
  const isAsked = text !== "";
  const heading = html`${counted(total, "result")}<span> for “${text}”</span>`;
  const sections = found.map(({ kind, total: all, positions }) => {
    const query = new URLSearchParams({ [kind === "gp" ? "gp_name" : "name"]: text }).toString();
    const count = counted(all, ...nouns[kind]);
    return html`<section class="of-${kind}">
      <h2>${count}</h2>
      <div class="records">${recordTable(model, kind, positions)}</div>
      <p><a href="${browsePaths[kind]}?${query}">All ${count}</a></p>
    </section>`;
  });
  const hint = html`<p>Type part of a name of a GP, a person or a project.</p>`;
  return accountPage(request, {
    title: isAsked ? `Search for ${cutText(text, 60)}` : "Search",
    styles: ["browse.css"],
    main: html`<div class="view-title"><h1>${isAsked ? heading : "Search"}</h1></div>
      ${searchForm("Name of a GP, a person or a project", text)}
      ${isAsked ? (total > 0 ? sections : nothing(model, text)) : hint}`,
  });
}

/** Returns what to show if nothing is found: searches for similar names. */
function nothing(model: ReadModel, text: string): Html {
  const near = new Set(namedKinds.flatMap((kind) => model.similarNames(kind, text)));
  const links = Array.from(near, (name) => {
    const query = new URLSearchParams({ q: name }).toString();
    return html`<a href="/search?${query}">${name}</a>`;
  });
  return html`<div class="empty">
    <h2>No GP, person or project has this name</h2>
    <p>
      Every word must occur in the same name. A word of fewer than 4 letters must begin a word of
      it.
    </p>
    ${links.length > 0 && html`<p>Did you mean ${joined(links, links.length, " or ")}?</p>`}
    <a class="button" href="${browsePaths.gp}">Browse all GPs</a>
  </div>`;
}

/** Maximum number of suggestions, by kind. */
const suggestedMax = { gp: 4, principal: 3, project: 3 };
/** Minimum number of letters and digits for which names are suggested. A single one would match too many. */
const suggestedFrom = 2;

/** Suggests records by part of a name. Does not count against the quota. Suggests nothing for a suspended account. */
async function suggestions(request: ReaderRequest): Promise<Reply> {
  const model = request.services.model();
  const text = askedIn(request);
  if (model === null || isSuspended(request) || fold(text).length < suggestedFrom)
    return json({ total: 0, groups: [] });
  const { found, total } = await searchNames(model, text, (kind) => suggestedMax[kind]);
  const groups = found.map(({ kind, positions }) => {
    const records = readDocuments<AnyNamed>(model.parts.documents[kind], positions);
    const rows = records.map((record, i) => {
      const [about, note] = notesOf[kind](record, model, positions[i]!);
      const name = cutText(record.name, parameterBounds.lengthMax);
      return { name, about: about ?? "", note, href: `${browsePaths[kind]}/${record.id}` };
    });
    return { label: capital(nouns[kind][1]), rows };
  });
  return json({ total: grouped(total), groups });
}

type AnyNamed = Gp & Principal & Project;

/** Facts that tell a record from others of the same name, and a figure. */
const notesOf: Readonly<
  Record<
    NamedKind,
    (record: AnyNamed, model: ReadModel, at: number) => [about: string | null, note: string]
  >
> = {
  gp: ({ hq_city, hq_state, hq_country }, model, at) => [
    place(hq_city, hq_state, hq_country),
    counted(countOf(model, "signal", at), "signal"),
  ],
  principal: ({ title, gps }) => [
    title,
    gps.length === 1 ? gps[0]!.name : counted(gps.length, "GP"),
  ],
  project: (project, model) => [placeOf(project, model), money(project.total_amount_usd)],
};

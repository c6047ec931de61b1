/** The search for GPs, people and projects by name, and the suggestions while somebody types one. */
import { type BrowseColumn, browseColumns, countOf } from "#dashboard/components/browse-rows.ts";
import { accountPage } from "#dashboard/components/page.ts";
import { placeOf } from "#dashboard/components/record-page.ts";
import { cutText, isSuspended, joined, place, readRecords } from "#dashboard/components/records.ts";
import { browsePaths, capital, nouns } from "#dashboard/components/view.ts";
import { json, type ReaderRequest, type Reply, route, type Route } from "#dashboard/screen.ts";
import { gpFilters, parameterBounds } from "#operations/operation.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted, grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { money } from "#pages/values.ts";
import { fold } from "#records/fold.ts";
import type { Gp } from "#records/gp.ts";
import type { EachKind } from "#records/kinds.ts";
import type { Principal } from "#records/principal.ts";
import type { Project } from "#records/project.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { prepareInTurns } from "#search/prepare-in-turns.ts";
import type { NamedKind, ReadModel, Selection } from "#search/read-model.ts";

export const searchRoutes: readonly Route[] = [
  route("/search", "reader", {
    GET: (request) => readRecords(request, (model) => searchPage(request, model)),
  }),
  route("/search/suggest", "reader", { GET: suggestions, isBackground: true }),
];

/** Kinds that are searched, in the order in which they are shown. */
const namedKinds = ["gp", "principal", "project"] as const satisfies readonly NamedKind[];
type EachNamed<T> = Pick<EachKind<T>, NamedKind>;

/** Maximum number of rows on the page, of each kind. */
const rowsMax = 10;

/** Returns the text to search for, of the same length as a `gp_name` may have. */
const askedIn = ({ query }: ReaderRequest): string =>
  [...(query.get("q") ?? "").trim()].slice(0, gpFilters.gp_name.lengthMax).join("");

const searchHref = (text: string): string =>
  `/search?${new URLSearchParams({ q: text }).toString()}`;

/** Returns the address of the view of all records of a kind that a text finds. */
const allHref = (kind: NamedKind, text: string): string =>
  `${browsePaths[kind]}?${new URLSearchParams({ [kind === "gp" ? "gp_name" : "name"]: text }).toString()}`;

/** Reads the names of people and projects if they have not been read. Other requests are answered meanwhile. */
async function prepare(model: ReadModel, name: string): Promise<void> {
  for (const kind of ["principal", "project"] as const) await prepareInTurns(model, kind, { name });
}

async function searchPage(request: ReaderRequest, model: ReadModel): Promise<string> {
  const text = askedIn(request);
  const isAsked = text !== "";
  await prepare(model, text);
  const sections = namedKinds.map((kind) => ({
    kind,
    ...model.search(kind, text, { limit: rowsMax, offset: 0 }),
  }));
  const total = sections.reduce((sum, section) => sum + section.total, 0);
  return accountPage(request, {
    title: isAsked ? `Search for ${cutText(text, 60)}` : "Search",
    styles: ["browse.css"],
    main: html`<div class="view-title">
        <h1>
          ${isAsked ? html`${counted(total, "result")}<span> for “${text}”</span>` : "Search"}
        </h1>
      </div>
      ${searchForm(text)}
      ${total > 0 ? sections.map((section) => sectionOf(model, text, section)) : isAsked ? nothing(model, text) : html`<p>Type part of a name of a GP, a person or a project.</p>`}`,
  });
}

const searchForm = (text: string): Html =>
  html`<form class="search" role="search" aria-label="Names" action="/search">
    <input
      name="q"
      type="search"
      autocomplete="off"
      aria-label="Name of a GP, a person or a project"
      placeholder="Name of a GP, a person or a project"
      value="${text}"
      maxlength="${gpFilters.gp_name.lengthMax}"
      required
    />
    <button>Search</button>
  </form>`;

function sectionOf(
  model: ReadModel,
  text: string,
  { kind, total, positions }: Selection & { kind: NamedKind },
): Part {
  if (total === 0) return null;
  const [, many] = nouns[kind];
  const columns = browseColumns[kind] as readonly BrowseColumn<unknown>[];
  const records = readDocuments<unknown>(model.parts.documents[kind], positions);
  return html`<section class="of-${kind}">
    <h2>${counted(total, ...nouns[kind])}</h2>
    <div class="records">
      ${table({
        label: capital(many),
        columns,
        rows: records.map((record, i) =>
          columns.map(({ cell }) => cell(record, positions[i]!, model) || "–"),
        ),
      })}
    </div>
    <p><a href="${allHref(kind, text)}">All ${counted(total, ...nouns[kind])}</a></p>
  </section>`;
}

/** Returns what to show if nothing is found: searches for similar names. */
function nothing(model: ReadModel, text: string): Html {
  const near = new Set(namedKinds.flatMap((kind) => model.similarNames(kind, text)));
  const links = Array.from(near, (name) => html`<a href="${searchHref(name)}">${name}</a>`);
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
const suggestedMax: EachNamed<number> = { gp: 4, principal: 3, project: 3 };
/** Minimum number of letters and digits for which names are suggested. A single one would match too many. */
const suggestedFrom = 2;

/** A suggestion: a name, what tells it from others of the same name, and a figure. */
interface Suggested {
  name: string;
  about: string;
  note: string;
  href: string;
}

/** Suggests records by part of a name. Does not count against the quota. Suggests nothing for a suspended account. */
async function suggestions(request: ReaderRequest): Promise<Reply> {
  const model = request.services.model();
  const text = askedIn(request);
  if (model === null || isSuspended(request) || fold(text).length < suggestedFrom)
    return json({ total: 0, groups: [] });
  await prepare(model, text);
  const groups = namedKinds.map((kind) => {
    const found = model.search(kind, text, { limit: suggestedMax[kind], offset: 0 });
    return {
      label: capital(nouns[kind][1]),
      total: found.total,
      rows: suggested(model, kind, found),
    };
  });
  const total = groups.reduce((sum, group) => sum + group.total, 0);
  return json({ total: grouped(total), groups: groups.filter(({ rows }) => rows.length > 0) });
}

function suggested(model: ReadModel, kind: NamedKind, { positions }: Selection): Suggested[] {
  const words = suggestedWords[kind] as SuggestedWords<Gp | Principal | Project>;
  return readDocuments<Gp>(model.parts.documents[kind], positions).map((record, i) => {
    const [about, note] = words(record, model, positions[i]!);
    const name = cutText(record.name, parameterBounds.lengthMax);
    return { name, about: about ?? "", note, href: `${browsePaths[kind]}/${record.id}` };
  });
}

type SuggestedWords<R> = (
  record: R,
  model: ReadModel,
  position: number,
) => [about: string | null, note: string];

const suggestedWords: {
  gp: SuggestedWords<Gp>;
  principal: SuggestedWords<Principal>;
  project: SuggestedWords<Project>;
} = {
  gp: (gp, model, position) => [
    place(gp.hq_city, gp.hq_state, gp.hq_country),
    counted(countOf(model, "signal", position), "signal"),
  ],
  principal: ({ title, gps }) => [
    title,
    gps.length === 1 ? gps[0]!.name : counted(gps.length, "GP"),
  ],
  project: (project, model) => [placeOf(project, model), money(project.total_amount_usd)],
};

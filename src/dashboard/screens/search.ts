/** The search for records by name, and the suggestions while somebody types one. */
import { accountPage } from "#dashboard/components/page.ts";
import { listHref } from "#dashboard/components/record-page.ts";
import {
  cutText,
  inBrowse,
  isSuspended,
  joined,
  readRecords,
  recordTable,
} from "#dashboard/components/records.ts";
import { type ReaderRequest, route } from "#dashboard/screen.ts";
import { gpFilters, parameterBounds } from "#operations/operation.ts";
import { html, type Html } from "#pages/html.ts";
import { anySearched, searchForm } from "#pages/layout.ts";
import { counted } from "#pages/prose.ts";
import type { GpLink } from "#records/common.ts";
import { fold } from "#records/fold.ts";
import { isNamed, kinds, linkedKinds, type NamedKind, namedKinds } from "#records/kinds.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { prepareInTurns, type ReadModel } from "#search/read-model.ts";

export const searchRoutes = [
  route("/search", "reader", { GET: readRecords(searchPage) }),
  route("/search/suggest", "reader", { GET: suggestions, isBackground: true }),
];

const searchHref = (q: string): string => `/search?${new URLSearchParams({ q }).toString()}`;

/** Maximum number of rows of each kind on the page. */
const rowsMax = 10;

/** Returns the text to search for, cut to the maximum length of a `gp_name`. */
const askedIn = ({ query }: ReaderRequest): string =>
  [...(query.get("q") ?? "").trim()].slice(0, gpFilters.gp_name.lengthMax).join("");

/** Searches the names of GPs, people and projects. Other requests are answered while names are first read. */
async function searchNames(model: ReadModel, text: string, maxOf: (kind: NamedKind) => number) {
  for (const kind of linkedKinds.filter(isNamed)) await prepareInTurns(model, kind, { name: text });
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
  // The table of GPs shows their signals by date.
  await prepareInTurns(model, "signal", { date: { from: "2000" } });
  const { found, total } = await searchNames(model, text, () => rowsMax);
  const isAsked = text !== "";
  const heading = html`${counted(total, "result")}<span> for “${text}”</span>`;
  const sections = found.map(({ kind, total: all, positions }) => {
    const href = listHref(kind, kind === "gp" ? "gp_name" : "name", text);
    const count = counted(all, ...kinds[kind].nouns);
    return html`<section class="of-${kind}">
      <h2>${count}</h2>
      <div class="records">${recordTable(model, kind, positions)}</div>
      <p><a href="${href}">All ${count}</a></p>
    </section>`;
  });
  return accountPage(request, {
    title: isAsked ? `Search for ${cutText(text, 60)}` : "Search",
    styles: ["browse.css"],
    main: html`<div class="view-title"><h1>${isAsked ? heading : "Search"}</h1></div>
      ${searchForm(`Name of ${anySearched}`, text)}
      ${isAsked ? (total > 0 ? sections : nothing(model, text)) : html`<p>Type part of the name of ${anySearched}.</p>`}`,
  });
}

/** Returns what to show if nothing is found, with links that search for similar names. */
function nothing(model: ReadModel, text: string): Html {
  const near = new Set(namedKinds.flatMap((kind) => model.similarNames(kind, text)));
  const links = Array.from(near, (name) => html`<a href="${searchHref(name)}">${name}</a>`);
  return html`<div class="empty">
    <h2>No ${anySearched.replaceAll(/\ba /g, "")} has this name</h2>
    <p>
      Every word must occur in the same name. A word of fewer than 4 letters must be the beginning
      of a word in the name.
    </p>
    ${links.length > 0 && html`<p>Did you mean ${joined(links, links.length, " or ")}?</p>`}
    <a class="button" href="${kinds.gp.path}">Browse all GPs</a>
  </div>`;
}

/** Minimum number of letters and digits for which names are suggested. A single one would match too many. */
const suggestedFrom = 2;

/**
 * Returns the list of records to suggest for part of a name, for the page's script. Returns an empty string if the part
 * is too short, the account is suspended, or no records can be shown.
 */
async function suggestions(request: ReaderRequest): Promise<string> {
  const model = request.services.model();
  const text = askedIn(request);
  if (model === null || isSuspended(request) || fold(text).length < suggestedFrom) return "";
  const { found, total } = await searchNames(model, text, (kind) => (kind === "gp" ? 4 : 3));
  const groups = found.map(({ kind, positions }) => {
    const label = kinds[kind].label;
    const records = readDocuments<GpLink>(model.parts.documents[kind], positions);
    const options = records.map((record) => {
      const [about, note] = inBrowse[kind].note(record as never, model);
      const name = cutText(record.name, parameterBounds.lengthMax);
      return html`<a
        href="${kinds[kind].path}/${record.id}"
        id="${record.id}"
        role="option"
        tabindex="-1"
        ><span>${name}</span><small>${about}</small><span>${note}</span></a
      >`;
    });
    return html`<div role="group" aria-label="${label}">
      <span aria-hidden="true">${label}</span>${options}
    </div>`;
  });
  return html`<div id="suggested" role="listbox" aria-label="Suggestions">${groups}</div>
    <p role="status">
      ${counted(total, "result")}
      ${total > 0 && html`<a href="${searchHref(text)}">All results for “${text}”</a>`}
    </p>`.markup;
}

/** Browse: a page for each kind of record. Its address takes the parameters of the kind's `/list-` path. */
import { plotsOf } from "#dashboard/components/browse-plots.ts";
import { queryOf } from "#dashboard/components/changes.ts";
import { type Facet, type FacetRow, facetsOf, neededBy } from "#dashboard/components/facets.ts";
import { accountPage, wordReply } from "#dashboard/components/page.ts";
import { type Column, pageSteps, readRecords, recordTable } from "#dashboard/components/records.ts";
import {
  filterLabel,
  hrefWith,
  keptFields,
  rowChoices,
  totalOf,
  valueWords,
  type View,
  viewHref,
  viewOf,
  viewTitle,
  viewWords,
  withValues,
} from "#dashboard/components/view.ts";
import { type Given, isSignedIn, moved, type ReaderRequest, route } from "#dashboard/screen.ts";
import { lists } from "#operations/lists.ts";
import { canonicalQuery } from "#operations/parameters.ts";
import { callBlocks } from "#pages/code-block.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted, grouped, wordList } from "#pages/prose.ts";
import { Problem } from "#problems.ts";
import { kinds, type RecordKind, recordKinds } from "#records/kinds.ts";
import type { Miss } from "#search/facet-index.ts";
import { prepareInTurns, type ReadModel } from "#search/read-model.ts";
import { allowanceOf, downloadForm } from "./download.ts";

export const browseRoutes = [
  route("/browse", "anyone", { GET: ({ query }) => moved(kinds.gp.path, query) }),
  ...recordKinds.map((kind) =>
    route(kinds[kind].path, "reader", {
      GET: readRecords((request, model) => showView(request, model, kind)),
    }),
  ),
];

async function showView(
  request: ReaderRequest,
  model: ReadModel,
  kind: RecordKind,
): Promise<Given> {
  const view = viewOf(model, kind, request.query);
  if (view instanceof Problem) {
    const next = { href: kinds[kind].path, label: `Browse all ${kinds[kind].nouns[1]}` };
    const why = `${view.message} Go back and correct the filter.`;
    return wordReply(request, 400, "This view is not valid", why, next);
  }
  const { filter, limit, offset, order } = view.query;
  await prepareInTurns(model, kind, { ...neededBy(kind), ...filter }, order);
  // The map takes the places of markets from projects.
  await prepareInTurns(model, "project", neededBy("project"));
  if (kind === "gp") await prepareInTurns(model, "signal", neededBy("signal"));
  const { total, positions, misses } = model.select(kind, filter, { limit, offset }, order);
  const facets = facetsOf(view);
  const headOf = (column: Column) => sortLink(view, column);
  const days = daysOf(view, positions);
  return accountPage(request, {
    title: viewTitle(view),
    styles: ["browse.css"],
    main: html`<div class="view-title">
        <h1>${counted(total, ...kinds[kind].nouns)}<span>${viewWords(view)}</span></h1>
        <a class="button quiet" href="/browse/changes?kind=${kind}&${queryOf(view)}">Changes</a>
        ${kind === "gp" && isSignedIn(request) && html`<a class="button quiet" href="/browse/match">Match a list</a>`}
        <details class="call">
          <summary class="button quiet">API call</summary>
          <p>This API call returns the records of this view. It counts as one request.</p>
          ${callBlocks(request.own.base, `${lists[kind].path}?${canonicalQuery(view.query)}`)}
        </details>
        ${total > 0 && downloadForm(view, total, await allowanceOf(request, total))}
      </div>
      ${chips(view)}
      <div class="browse of-${kind}">
        ${facetColumn(view, facets, total)}
        <div class="records">
          <details class="charts">
            <summary>Map and charts</summary>
            <div class="plots">${plotsOf(view, facets)}</div>
          </details>
          ${misses.map((miss) => missNote(view, miss))}
          ${total === 0 ? nothing(view) : recordTable(model, kind, positions, { headOf, days })}
          ${pageSteps({ limit, offset, total }, (to) => viewHref(view, { offset: to }), rowsChoice(view))}
        </div>
      </div>`,
  });
}

/** Returns a link to the filters, links that each remove a chosen value, and one that removes all values. */
function chips(view: View): Part {
  const each = removals(view);
  const { sort = [] } = view.query.values;
  return html`<ul class="chips">
    <li>
      <a class="filters" href="#filters"
        >Filters ${each.length > 0 && html`<b>${each.length}</b>`}</a
      >
    </li>
    ${each.map(
      ({ label, words, href }) =>
        html`<li>
          <a href="${href}" title="Remove"
            ><span>${label}</span> ${words} <span aria-hidden="true">×</span></a
          >
        </li> `,
    )}
    ${each.length > 0 && html`<li><a class="all" href="${viewHref(view, { values: withValues({}, { sort }) })}">Clear all</a></li>`}
  </ul>`;
}

/** Returns each chosen value of a filter, with the view that would remain without it. */
function removals(view: View) {
  const { sort: _, ...filters } = view.query.values;
  return Object.entries(filters).flatMap(([name, all]) =>
    all.map((value) => {
      const left = { [name]: all.filter((one) => one !== value) };
      return {
        label: filterLabel(name),
        words: valueWords(view, name, value),
        href: hrefWith(view, left),
        values: withValues(view.query.values, left),
      };
    }),
  );
}

/** Approximate maximum length of a facet's links together, in characters. Each link repeats the whole query. */
const linksLengthMax = 1500;
/** Number of a facet's rows that are always shown. The others are collapsed. */
const rowsAtOnce = 6;
/** Maximum length of a label that is never cut, in characters. Longer labels get a title. */
const labelLengthMax = 20;

/** Number of facets that are always shown. The others are collapsed. */
const facetsAtOnce = 6;

/** Returns the facets in one form, which has fields for the name, the ends of ranges, and values without a link. */
function facetColumn(view: View, facets: readonly Facet[], total: number): Html {
  const { kind, query } = view;
  const name = lists[kind].filters["name"] === undefined ? "gp_name" : "name";
  const own = facets.flatMap(({ isRange, filters }) => (isRange ? filters : []));
  const more = facets.slice(facetsAtOnce);
  const labels = more.map((facet) => filterLabel(facet.name).toLowerCase());
  return html`<nav id="filters" class="facets" aria-label="Filters">
    <form action="${kinds[kind].path}">
      ${keptFields(view, [name, ...own])}
      <section>
        <label
          >${kind === "signal" ? "Name of a GP" : "Name"}
          <input
            name="${name}"
            type="search"
            autocomplete="off"
            placeholder="Part of a name"
            value="${query.values[name]?.[0] ?? ""}"
            maxlength="200"
        /></label>
      </section>
      ${facets.slice(0, facetsAtOnce).map((facet) => facetSection(view, facet))}
      <details ${more.some((facet) => isChosen(view, facet)) && html`open`}>
        <summary>More filters: ${wordList(labels, "and")}</summary>
        ${more.map((facet) => facetSection(view, facet))}
      </details>
    </form>
    <a class="button show" href="#main">Show ${counted(total, ...kinds[kind].nouns)}</a>
  </nav>`;
}

const isChosen = ({ query: { values } }: View, { filters }: Facet): boolean =>
  filters.some((filter) => values[filter] !== undefined);

function facetSection(view: View, facet: Facet): Part {
  const { name, rows, isRange, filters } = facet;
  if (rows.length === 0 && !isRange) return null;
  const linkLength = viewHref(view).length + 150;
  const links = rows.slice(0, Math.ceil(linksLengthMax / linkLength)).map(facetRow);
  const cleared = hrefWith(view, Object.fromEntries(filters.map((filter) => [filter, []])));
  const hidden = rows.length - Math.min(links.length, rowsAtOnce);
  const others = rows.length - links.length;
  return html`<section>
    <h2>${filterLabel(name)}</h2>
    ${isChosen(view, facet) && html`<a class="clear" href="${cleared}#filters">Clear</a>`}
    <ul>
      ${links.slice(0, rowsAtOnce)}
    </ul>
    ${
      hidden > 0 &&
      html`<details>
        <summary>${grouped(hidden)} more</summary>
        <ul>
          ${links.slice(rowsAtOnce)}
        </ul>
        ${
          others > 0 &&
          html`<label
            >${grouped(others)} others
            <input name="${name}" placeholder="Type one in full" maxlength="100"
          /></label>`
        }
      </details>`
    }
    ${isRange && rangeFields(view, filters)}
  </section>`;
}

function facetRow({ label, state, count, href }: FacetRow): Html {
  const content = html`<span ${label.length > labelLengthMax && html`title="${label}"`}
      >${label}</span
    >
    <b>${state === "adds" && count > 0 && "+"}${grouped(count)}</b>`;
  const chosen = state === "chosen" && html`aria-current="true"`;
  // oxfmt-ignore
  return href === null ? html`<li><span>${content}</span></li>` : html`<li><a href="${href}#filters" ${chosen}>${content}</a></li>`;
}

const rangeFields = ({ query }: View, filters: readonly string[]): Html =>
  html`<div class="range">
    ${filters.map((name, i) => {
      const end = i === 0 ? "from" : "to";
      const label = `${filterLabel(name)} ${end}`;
      const value = query.values[name]?.[0] ?? "";
      return html`<input
        name="${name}"
        value="${value}"
        aria-label="${label}"
        placeholder="${end}"
      />`;
    })}
    <button class="quiet">Apply</button>
  </div>`;

/** Counts signals by day, for a page's days. Returns null for records other than signals by date, or too many days. */
function daysOf({ kind, model, query: { filter, order } }: View, shown: readonly number[]) {
  if (kind !== "signal" || (order !== undefined && order.by !== "date")) return null;
  const dateAt = model.numberAt("signal", "date");
  const counts = new Map(shown.map((signal) => [dateAt(signal), 0]));
  for (const signal of model.select("signal", filter, { limit: Infinity, offset: 0 }).positions) {
    const count = counts.get(dateAt(signal));
    if (count !== undefined) counts.set(dateAt(signal), count + 1);
  }
  // Headings above only a few signals each would take up more room than dates.
  return counts.size * 2 > shown.length ? null : counts;
}

/**
 * Returns the heading of a column. The heading is a link that sorts the list, or reverses its order, if the list can be
 * sorted by the column.
 */
function sortLink(view: View, { label, sort, isNumber }: Column): Part {
  if (sort === undefined) return label;
  const { values } = view.query;
  const [usual] = lists[view.kind].sorts!;
  const shown = values["sort"]?.[0] ?? usual;
  const [first, second] = isNumber === true ? [`-${sort}`, sort] : [sort, `-${sort}`];
  const next = shown === first ? second : first;
  const isSorted = shown === first || shown === second;
  const href = hrefWith(view, { sort: next === usual ? [] : [next!] });
  return html`<a href="${href}">${label}${isSorted && (shown.startsWith("-") ? " ↓" : " ↑")}</a>`;
}

const rowsChoice = (view: View): Part => [
  "Rows: ",
  rowChoices.map((rows) =>
    rows === view.query.limit
      ? html`<b>${rows}</b> `
      : html`<a href="${viewHref(view, { limit: rows })}">${rows}</a> `,
  ),
];

/** Returns what to show if no record satisfies the view: for each chosen value, a link that removes the value. */
const nothing = (view: View): Html =>
  html`<div class="empty">
    <h2>No ${kinds[view.kind].nouns[0]}${viewWords(view)}</h2>
    <p>Remove a filter. Each number says how many records match without that filter.</p>
    ${removals(view).map(
      ({ label, words, values, href }) =>
        html`<a class="button quiet" href="${href}"
          >Remove “${label}: ${words}”: ${grouped(totalOf(view, values))}</a
        > `,
    )}
  </div>`;

/** Returns a note that no record has a chosen value, with links that choose similar values instead. */
function missNote(view: View, miss: Miss): Html {
  const { values } = view.query;
  const { parameter, value } = miss;
  const name = Object.keys(values).find((one) => values[one]!.includes(value)) ?? parameter;
  const near = view.model.suggestionsFor(miss).map((other) => {
    const asked = (values[name] ?? []).map((one) => (one === value ? other : one));
    return html` <a href="${hrefWith(view, { [name]: asked })}">${other}</a>`;
  });
  return html`<p class="fault" role="alert">
    ${filterLabel(name)} “${value}” matches no
    ${kinds[view.kind].nouns[0]}.${near.length > 0 ? [" Did you mean", near, "?"] : " Correct or remove this filter."}
  </p>`;
}

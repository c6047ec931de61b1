/** Browse: one page for each kind of record, whose address is a query of the kind's list. */
import { type BrowseColumn, browseColumns } from "#dashboard/components/browse-rows.ts";
import { queryOf } from "#dashboard/components/changes.ts";
import { allowanceOf, downloadForm } from "#dashboard/components/download.ts";
import { type Facet, facetsOf, neededBy } from "#dashboard/components/facets.ts";
import { plotsOf } from "#dashboard/components/browse-plots.ts";
import { accountPage } from "#dashboard/components/page.ts";
import { fitting, readRecords } from "#dashboard/components/records.ts";
import {
  askedPairs,
  browsePaths,
  capital,
  filterLabel,
  keptFields,
  nouns,
  readView,
  rowChoices,
  totalOf,
  valueWords,
  type View,
  viewHref,
  viewWords,
  withValues,
} from "#dashboard/components/view.ts";
import {
  type Given,
  isSignedIn,
  page,
  type ReaderRequest,
  route,
  type Route,
} from "#dashboard/screen.ts";
import { lists } from "#operations/lists.ts";
import { canonicalQuery } from "#operations/parameters.ts";
import { callBlocks } from "#pages/code-block.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted, grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { type ParameterFault, Problem } from "#problems.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import type { Miss } from "#search/facet-index.ts";
import { prepareInTurns } from "#search/prepare-in-turns.ts";
import type { ReadModel, Selection } from "#search/read-model.ts";

export const browseRoutes: readonly Route[] = recordKinds.map((kind) =>
  route(browsePaths[kind], "reader", {
    GET: (request) => readRecords(request, (model) => showView(request, model, kind)),
  }),
);

async function showView(
  request: ReaderRequest,
  model: ReadModel,
  kind: RecordKind,
): Promise<Given> {
  const pairs = askedPairs(kind, request.query);
  let view: View;
  try {
    view = readView(model, kind, pairs);
  } catch (fault) {
    if (!(fault instanceof Problem)) throw fault;
    return page(faultPage(request, model, kind, pairs, fault), 400);
  }
  await prepare(view);
  const { filter, limit, offset, order } = view.query;
  const selection = model.select(kind, filter, { limit, offset }, order);
  const download = downloadForm(view, selection.total, await allowanceOf(request, selection.total));
  return viewPage(request, view, selection, download);
}

/** Reads the values that the view and its facets need, once for a dataset. Other requests are answered meanwhile. */
async function prepare({ kind, model, query: { filter, order } }: View): Promise<void> {
  await prepareInTurns(model, kind, { ...neededBy(kind), ...filter }, order);
  // Places of markets are those of projects.
  await prepareInTurns(model, "project", neededBy("project"));
  if (kind === "gp") await prepareInTurns(model, "signal", neededBy("signal"));
}

function viewPage(
  request: ReaderRequest,
  view: View,
  selection: Selection,
  download: Html,
): string {
  const { kind } = view;
  const { total, positions } = selection;
  const words = viewWords(view);
  const facets = facetsOf(view);
  const [, many] = nouns[kind];
  return accountPage(request, {
    title: `${capital(many)}${words}`,
    styles: ["browse.css"],
    main: html`<div class="view-title">
        <h1>${counted(total, ...nouns[kind])}<span>${words}</span></h1>
        <a class="button quiet" href="/browse/changes?kind=${kind}&${queryOf(view)}">Changes</a>
        ${kind === "gp" && isSignedIn(request) && html`<a class="button quiet" href="/browse/match">Match a list</a>`}
        ${apiCall(request, view)} ${selection.total > 0 && download}
      </div>
      ${chips(view)}
      <div class="browse of-${kind}">
        ${facetColumn(view, facets, total)}
        <div class="records">
          <details class="charts">
            <summary>Map and charts</summary>
            <div class="plots">${plotsOf(view, facets)}</div>
          </details>
          ${selection.misses.map((miss) => missNote(view, miss))}
          ${total === 0 ? nothing(view) : recordTable(view, positions)}
          ${pageSteps(view, selection)}
        </div>
      </div>`,
  });
}

/** Returns a link for each chosen value that removes it, and one that removes all. */
function chips(view: View): Part {
  const { values } = view.query;
  const each = removals(view);
  const { sort = [] } = values;
  const all = viewHref(view, { values: withValues({}, "sort", sort) });
  return html`<ul class="chips">
    <li>
      <a class="filters" href="#filters"
        >Filters ${each.length > 0 && html`<b>${each.length}</b>`}</a
      >
    </li>
    ${each.map(
      ({ name, value, href }) =>
        html`<li>
          <a href="${href}" title="Remove"
            ><span>${filterLabel(name)}</span> ${valueWords(view, name, value)}</a
          >
        </li> `,
    )}
    ${each.length > 0 && html`<li><a class="all" href="${all}">Clear all</a></li>`}
  </ul>`;
}

/** Returns each value of a filter, with the address of the view without it. */
function removals(view: View) {
  const { values } = view.query;
  return Object.entries(values).flatMap(([name, all]) =>
    name === "sort"
      ? []
      : all.map((value) => {
          const left = all.filter((one) => one !== value);
          const changed = withValues(values, name, left);
          return { name, value, changed, href: viewHref(view, { values: changed }) };
        }),
  );
}

/** Returns the API call that returns the records on the page. */
function apiCall({ own }: ReaderRequest, { kind, query }: View): Html {
  const target = `${lists[kind].path}?${canonicalQuery(query)}`;
  return html`<details class="call">
    <summary class="button quiet">API call</summary>
    <p>The API call for this view. It counts as one request.</p>
    ${callBlocks(own.base, target)}
  </details>`;
}

/** Limit of a facet's rows, in bytes of markup. Each link repeats the whole query. */
const facetBytesMax = 1500;
/** Number of a facet's rows that are always shown. The others unfold. */
const rowsAtOnce = 6;
/** Labels longer than these, in characters, may be cut. */
const labelLengthMax = 20;

/** Returns the facets, in one form for the name, the ends of ranges, and values that have no link. */
function facetColumn(view: View, facets: readonly Facet[], total: number): Html {
  const { kind, query } = view;
  const name = lists[kind].filters["name"] === undefined ? "gp_name" : "name";
  const own = [name, ...facets.flatMap(({ fields }) => fields.map((field) => field.name))];
  return html`<nav id="filters" class="facets" aria-label="Filters">
    <form action="${browsePaths[kind]}">
      ${keptFields(view, own)}
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
      ${facets.map((facet) => facetSection(view, facet))}
    </form>
    <a class="button show" href="#main">Show ${counted(total, ...nouns[kind])}</a>
  </nav>`;
}

function facetSection(view: View, { name, rows, fields, filters }: Facet): Part {
  if (rows.length + fields.length === 0) return null;
  const { values } = view.query;
  const links = fitting(rows.map(facetRow), facetBytesMax);
  const cleared = filters.reduce((left, filter) => withValues(left, filter, []), values);
  const isChosen = filters.some((filter) => values[filter] !== undefined);
  const shown = links.slice(0, rowsAtOnce);
  const hidden = rows.length - shown.length;
  return html`<section>
    <h2>${filterLabel(name)}</h2>
    ${isChosen && html`<a class="clear" href="${viewHref(view, { values: cleared })}#filters">Clear</a>`}
    <ul>
      ${shown}
    </ul>
    ${
      hidden > 0 &&
      html`<details>
        <summary>${grouped(hidden)} more</summary>
        <ul>
          ${links.slice(rowsAtOnce)}
        </ul>
        ${
          links.length < rows.length &&
          html`<label
            >${grouped(rows.length - links.length)} others
            <input name="${name}" placeholder="Whole value" maxlength="100"
          /></label>`
        }
      </details>`
    }
    ${fields.length > 0 && rangeFields(fields)}
  </section>`;
}

function facetRow({ label, state, count, href }: Facet["rows"][number]): Html {
  const title = label.length > labelLengthMax && html`title="${label}"`;
  const content = html`<span ${title}>${label}</span>
    <b>${state === "adds" && count > 0 && "+"}${grouped(count)}</b>`;
  const chosen = state === "chosen" && html`aria-current="true"`;
  // oxfmt-ignore
  return href === null ? html`<li><span>${content}</span></li>` : html`<li><a href="${href}#filters" ${chosen}>${content}</a></li>`;
}

/** Returns the fields for the ends of a range. */
const rangeFields = (fields: Facet["fields"]): Html =>
  html`<div class="range">
    ${fields.map(({ name, value }) => {
      const end = /(from|min)$/.test(name) ? "from" : "to";
      return html`<input
        name="${name}"
        value="${value}"
        aria-label="${filterLabel(name)} ${end}"
        placeholder="${end}"
      />`;
    })}
    <button class="quiet">Apply</button>
  </div>`;

function recordTable(view: View, positions: readonly number[]): Html {
  const { kind, model } = view;
  const columns = browseColumns[kind] as readonly BrowseColumn<unknown>[];
  const records = readDocuments<unknown>(model.parts.documents[kind], positions);
  return table({
    label: nouns[kind][1],
    columns: columns.map((column) => ({
      ...column,
      isPlain: column.isNumber !== true,
      head: sortLink(view, column),
    })),
    rows: records.map((record, i) =>
      columns.map(({ cell, isOnce }) => {
        const content = cell(record, positions[i]!, model) || "–";
        const isAgain =
          isOnce && i > 0 && isSame(content, cell(records[i - 1], positions[i - 1]!, model));
        return isAgain ? html`<span class="unseen">${content}</span>` : content;
      }),
    ),
  });
}

const isSame = (one: Part, other: Part): boolean => html`${one}`.markup === html`${other}`.markup;

/** Returns the head of a column. If the list can be sorted by it, it is a link: the other way round if it is so already. */
function sortLink(view: View, { label, sort, isNumber }: BrowseColumn): Part {
  if (sort === undefined) return label;
  const { values } = view.query;
  const [usual] = lists[view.kind].sorts!;
  const shown = values["sort"]?.[0] ?? usual;
  const [first, second] = isNumber === true ? [`-${sort}`, sort] : [sort, `-${sort}`];
  const next = shown === first ? second : first;
  const isSorted = shown === first || shown === second;
  const href = viewHref(view, { values: withValues(values, "sort", next === usual ? [] : [next]) });
  return html`<a href="${href}">${label}${isSorted && (shown.startsWith("-") ? " ↓" : " ↑")}</a>`;
}

/** Returns links between pages and page sizes. */
function pageSteps(view: View, { total, positions }: Selection): Part {
  const { limit, offset } = view.query;
  if (total === 0) return null;
  const at = (next: number, label: string, rel: string) =>
    next < 0 || next >= total
      ? html`<span class="button quiet">${label}</span>`
      : html`<a class="button quiet" href="${viewHref(view, { offset: next })}" rel="${rel}"
          >${label}</a
        >`;
  const span =
    positions.length === 0
      ? "None"
      : `${grouped(offset + 1)}–${grouped(offset + positions.length)}`;
  return html`<nav class="steps" aria-label="Pages">
    <span>${span} of ${grouped(total)}</span>
    <span
      >Rows:
      ${rowChoices.map((rows) =>
        rows === limit
          ? html`<b>${rows}</b> `
          : html`<a href="${viewHref(view, { limit: rows })}">${rows}</a> `,
      )}</span
    >
    ${at(offset === 0 ? -1 : Math.max(0, offset - limit), "Previous", "prev")}
    ${at(offset + limit, "Next", "next")}
  </nav>`;
}

/** Returns what to show if no record satisfies the view: a link for each value that removes it. */
function nothing(view: View): Html {
  const [one] = nouns[view.kind];
  return html`<div class="empty">
    <h2>No ${one}${viewWords(view)}</h2>
    <p>Remove one condition, and so many remain:</p>
    ${removals(view).map(
      ({ name, value, changed, href }) =>
        html`<a class="button quiet" href="${href}"
          >Remove ${valueWords(view, name, value)}: ${grouped(totalOf(view, changed))}</a
        > `,
    )}
  </div>`;
}

/** Returns a note that no record has a chosen value, with links to similar ones. */
function missNote(view: View, miss: Miss): Html {
  const { values } = view.query;
  const { parameter, value } = miss;
  const name = Object.keys(values).find((one) => values[one]!.includes(value)) ?? parameter;
  const near = view.model.suggestionsFor(miss).map((other) => {
    const asked = (values[name] ?? []).map((one) => (one === value ? other : one));
    return html` <a href="${viewHref(view, { values: withValues(values, name, asked) })}"
      >${other}</a
    >`;
  });
  return html`<p class="fault" role="alert">
    Nothing has the ${filterLabel(name).toLowerCase()}
    “${value}”.${near.length > 0 && [" Did you mean", near, "?"]}
  </p>`;
}

/** Returns the page for an address that is no view: each fault in words, with a link that removes what is wrong. */
function faultPage(
  request: ReaderRequest,
  model: ReadModel,
  kind: RecordKind,
  pairs: readonly (readonly [string, string])[],
  problem: Problem,
): string {
  const { errors } = problem.members as { errors: readonly ParameterFault[] };
  const isFaulty = (pair: readonly [string, string]) => {
    try {
      return readView(model, kind, [pair]) === undefined;
    } catch {
      return true;
    }
  };
  const without = ({ parameter }: ParameterFault) => {
    const own = pairs.filter(([name]) => name === parameter);
    const wrong = own.filter(isFaulty);
    // A value may be wrong only beside the others, such as the end of a range.
    const gone = wrong.length > 0 ? wrong : own;
    return `?${new URLSearchParams(pairs.filter((pair) => !gone.includes(pair)) as [string, string][]).toString()}`;
  };
  return accountPage(request, {
    title: "This view is not valid",
    main: html`<h1>This view is not valid</h1>
      <ul>
        ${errors.map(
          (fault) =>
            html`<li>
              <code>${fault.parameter}</code>: ${fault.detail}
              <a href="${without(fault)}">Remove it</a>
            </li>`,
        )}
      </ul>
      <p><a class="button" href="${browsePaths[kind]}">Browse all ${nouns[kind][1]}</a></p>`,
  });
}

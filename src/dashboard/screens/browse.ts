/** The two browse pages, for GPs and for signals. Each value to choose shows its number of records. */
import {
  browseHref,
  browsePaths,
  type ChoiceName,
  choiceNames,
  type Chosen,
  chosenWords,
  filterOf,
  keptFields,
  nothingChosen,
  type Order,
  orders,
  readChosen,
  toggled,
} from "#dashboard/components/browse-links.ts";
import { accountPage, wordReply } from "#dashboard/components/page.ts";
import {
  cutText,
  fitting,
  gpHref,
  isSuspended,
  joined,
  money,
  place,
  readRecords,
  signalList,
  type SignalView,
  valueLabel,
} from "#dashboard/components/records.ts";
import {
  type Given,
  json,
  type ReaderRequest,
  type Reply,
  route,
  type Route,
} from "#dashboard/screen.ts";
import { parameterBounds } from "#operations/operation.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted, dayElement, grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { Problem } from "#problems.ts";
import { fold } from "#records/fold.ts";
import type { Gp } from "#records/gp.ts";
import type { Signal } from "#records/signal.ts";
import { propertyTypes, strategies } from "#records/vocabulary.ts";
import { facetNames, readDocuments } from "#search/dataset-parts.ts";
import type { Miss } from "#search/facet-index.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import type { Order as ReadOrder, ReadModel } from "#search/read-model.ts";

export const browseRoutes: readonly Route[] = [
  route("/browse/gps", "reader", {
    GET: (request) => readRecords(request, showChosen(request, gps)),
    link: { group: "Records", label: "Browse" },
  }),
  route("/browse/signals", "reader", {
    GET: (request) => readRecords(request, showChosen(request, signals)),
  }),
  route("/search/suggest", "reader", { GET: suggestions, isBackground: true }),
];

const limit = parameterBounds.limitDefault;
/** Maximum number of signals shown on the page of GPs. */
const signalsBeside = 5;

/** Orders as the read model takes them. */
const readOrders: Readonly<Record<Order, ReadOrder | undefined>> = {
  match: undefined,
  latest: { by: "signal_date", isDescending: true },
  name: { by: "name", isDescending: false },
};

type Show = (request: ReaderRequest, model: ReadModel, chosen: Chosen) => string;

/** Returns a function that shows what the URL chooses, or what is wrong with the URL. */
const showChosen =
  (request: ReaderRequest, show: Show) =>
  (model: ReadModel): Given => {
    try {
      return show(request, model, readChosen(request.query));
    } catch (fault) {
      if (!(fault instanceof Problem)) throw fault;
      const again = { href: "/browse/gps", label: "Browse everything" };
      return wordReply(request, 400, "This selection is not valid", fault.message, again);
    }
  };

function gps(request: ReaderRequest, model: ReadModel, chosen: Chosen): string {
  const { order, offset } = chosen;
  const { total, positions, misses } = model.select(
    "gp",
    filterOf("gp", chosen),
    { limit, offset },
    readOrders[order],
  );
  const first = { limit: signalsBeside, offset: 0 };
  const beside = model.select("signal", filterOf("signal", chosen), first);
  const rows = gpRows(model, chosen, positions);
  return browsePage(request, {
    title: "Browse GPs",
    heading: html`${counted(total, "GP")}${chosenWords(chosen)}`,
    path: browsePaths.gps,
    chosen,
    facets: gpFacets(model, chosen),
    unknown: misses.map((miss) => unknownNote(browsePaths.gps, model, chosen, miss)),
    records: html`${total > 0 && gpSection(chosen, total, rows)}
    ${beside.total > 0 && signalSection(chosen, signalViews(model, beside.positions), beside.total)}`,
    none: total === 0 && "No GP matches all of that. Remove a value to see more.",
  });
}

function signals(request: ReaderRequest, model: ReadModel, chosen: Chosen): string {
  const path = browsePaths.signals;
  const { offset } = chosen;
  const filter = filterOf("signal", chosen);
  const { total, positions, misses } = model.select("signal", filter, { limit, offset });
  const shown = signalViews(model, positions);
  return browsePage(request, {
    title: "Browse signals",
    heading: html`${counted(total, "signal")}${chosen.name !== undefined && " of GPs"}${chosenWords(chosen)}`,
    path,
    chosen,
    facets: signalFacets(model, chosen),
    unknown: misses.map((miss) => unknownNote(path, model, chosen, miss)),
    note: html`<p>
      Newest first. Type and market are the signal's own; tags and themes are those of its GPs.
      <a href="${browseHref(browsePaths.gps, { ...chosen, type: [], offset: 0 })}"
        >Show GPs instead</a
      >
    </p>`,
    records: html`${total > 0 && signalList("Signals", shown)}
    ${pageSteps(path, chosen, shown.length, total)}`,
    none: total === 0 && "No signal matches all of that. Remove a value to see more.",
  });
}

function gpRows(model: ReadModel, chosen: Chosen, positions: readonly number[]): Part[][] {
  const { parts } = model;
  const { starts, items } = parts.recordsOfGp.signal;
  return readDocuments<Gp>(parts.documents.gp, positions).map((gp, i) => {
    const first = starts[positions[i]!]!;
    const signals = starts[positions[i]! + 1]! - first;
    const newest = signals === 0 ? [] : [items[first]!];
    const [latest] = readDocuments<Signal>(parts.documents.signal, newest);
    const titles = gp.markets.map((title) => nameOfMarket(model, title));
    const markets = chosenFirst(titles, chosen.market).map((one) => cutText(one, nameLengthMax));
    const kinds = chosenFirst([...gp.strategies, ...gp.property_types], chosen.tag);
    return [
      html`<a href="${gpHref(gp.id)}">${cutText(gp.name, nameLengthMax)}</a>
        <span class="muted">${place(gp.hq_city, gp.hq_state, gp.hq_country)}</span>`,
      joined(markets.slice(0, shownMax.markets), markets.length),
      kinds.slice(0, shownMax.kinds).map(valueLabel).join(", "),
      money(gp.aum_usd) || notKnown,
      latest === undefined
        ? notKnown
        : html`${dayElement(latest.date)} <span class="muted">${counted(signals, "signal")}</span>`,
    ];
  });
}

const signalViews = (model: ReadModel, positions: readonly number[]): (SignalView & Signal)[] =>
  readDocuments<Signal>(model.parts.documents.signal, positions).map((signal) => ({
    ...signal,
    marketName: signal.market === null ? null : nameOfMarket(model, signal.market),
  }));

/** Returns a note that no record has a chosen value, with links to similar values. */
function unknownNote(path: string, model: ReadModel, chosen: Chosen, miss: Miss): Html {
  const { parameter, value } = miss;
  const isName = parameter === "gp_name";
  const instead = (near: string): Partial<Chosen> => {
    if (isName) return { name: near };
    const name = parameter as ChoiceName;
    return { [name]: [...chosen[name].filter((one) => one !== value), near] };
  };
  const href = (near: string) => browseHref(path, { ...chosen, ...instead(near), offset: 0 });
  const links = model.suggestionsFor(miss).map((near) => html`<a href="${href(near)}">${near}</a>`);
  return html`<p class="fault" role="alert">
    ${isName ? "No GP is named" : "No record has"} “${value}”.
    ${links.length > 0 && ["Did you mean ", joined(links, links.length, " or "), "?"]}
  </p>`;
}

interface BrowseView {
  title: string;
  heading: Html;
  path: string;
  chosen: Chosen;
  facets: readonly FacetView[];
  /** Notes on values that no record has. */
  unknown: readonly Html[];
  note?: Html;
  records: Html;
  /** Text to show if there are no records; false if there are some. */
  none: string | false;
}

const browsePage = (request: ReaderRequest, view: BrowseView): string =>
  accountPage(request, {
    title: view.title,
    scripts: ["suggest.js"],
    main: html`<h1>${view.heading}</h1>
      ${nameField(view.path, view.chosen)}
      ${browseHref(view.path, { ...view.chosen, offset: 0 }) !== view.path && html`<p><a href="${view.path}">Show everything</a></p>`}
      ${view.unknown} ${view.note}
      <div class="browse">
        ${facetList(view)}
        <div class="records">
          ${view.unknown.length === 0 && view.none !== false && html`<p>${view.none}</p>`}
          ${view.records}
        </div>
      </div>`,
  });

function gpSection(chosen: Chosen, total: number, rows: readonly Part[][]): Html {
  const href = (changed: Partial<Chosen>) =>
    browseHref(browsePaths.gps, { ...chosen, offset: 0, ...changed });
  const links = orders
    .filter((order) => order !== chosen.order && (order !== "match" || chosen.name !== undefined))
    .map((order) => html`<a href="${href({ order })}">${orderWords[order]}</a>`);
  return html`<section>
    <h2>GPs ${orderWords[chosen.order]}</h2>
    <p class="muted">Order: ${joined(links, links.length, " · ")}</p>
    ${table({ label: "GPs", columns: gpColumns, rows })}
    ${pageSteps(browsePaths.gps, chosen, rows.length, total)}
  </section>`;
}

const shownMax = { markets: 2, kinds: 3 } as const;
const nameLengthMax = 100;
const notKnown = "–";

const gpColumns = [
  "Name",
  "Markets",
  "Invests in",
  { label: "Assets", isNumber: true },
  "Latest signal",
];

const chosenFirst = (values: readonly string[], chosen: readonly string[]): string[] =>
  values.toSorted((a, b) => Number(chosen.includes(b)) - Number(chosen.includes(a)));

const orderWords: Readonly<Record<Order, string>> = {
  match: "by best match",
  latest: "with the latest signal first",
  name: "by name",
};

/** Returns the section with the latest signals. @param signals the newest of `total` signals. */
const signalSection = (
  chosen: Chosen,
  signals: Parameters<typeof signalList>[1],
  total: number,
): Html =>
  html`<section>
    <h2>Latest signals</h2>
    ${signalList("Latest signals", signals)}
    <p>
      <a href="${browseHref(browsePaths.signals, { ...chosen, offset: 0 })}"
        >All ${counted(total, "signal")}, by type and market</a
      >
    </p>
  </section>`;

/** Returns links between a list's pages, or null if it has only one. @param shown number of records on this page. */
function pageSteps(path: string, chosen: Chosen, shown: number, total: number): Part {
  if (total <= limit) return null;
  const { offset } = chosen;
  const href = (at: number) => browseHref(path, { ...chosen, offset: at });
  const span = shown === 0 ? "None" : `${grouped(offset + 1)} to ${grouped(offset + shown)}`;
  return html`<nav class="steps" aria-label="Pages">
    ${offset > 0 && html`<a href="${href(Math.max(0, offset - limit))}" rel="prev">Back</a>`}
    <span>${span} of ${grouped(total)}</span>
    ${shown > 0 && offset + shown < total && html`<a href="${href(offset + limit)}" rel="next">Next</a>`}
  </nav>`;
}

/** Returns the form that narrows the choice down by a GP's name. */
const nameField = (path: string, chosen: Chosen): Html =>
  html`<form class="find" role="search" action="${path}">
    ${keptFields(chosen, "gp_name")}
    <label for="gp-name" class="unseen">Name of a GP</label>
    <input
      id="gp-name"
      name="gp_name"
      type="search"
      autocomplete="off"
      placeholder="Name of a GP"
      value="${chosen.name ?? ""}"
      maxlength="200"
      list="gp-names"
      data-suggest="gp_name"
    />
    <datalist id="gp-names"></datalist>
    <button>Search</button>
  </form>`;

interface FacetView {
  name: ChoiceName;
  label: string;
  /** Values in the order in which they are shown. */
  values: readonly { value: string; count: number }[];
}

/** Returns the facets of GPs. The parameter `tag` becomes three facets: strategies, property types and other tags. */
function gpFacets(model: ReadModel, chosen: Chosen): FacetView[] {
  const facet = (name: ChoiceName): FacetView => ({
    name,
    label: valueLabel(name),
    values: facetValues(model, "gp", name, chosen),
  });
  const isIn = (values: readonly string[], value: string) => values.includes(value);
  const tags = Map.groupBy(facet("tag").values, ({ value }): string =>
    isIn(strategies, value) ? "Strategy" : isIn(propertyTypes, value) ? "Property type" : "Tag",
  );
  const ofTags = (label: string): FacetView => ({
    name: "tag",
    label,
    values: tags.get(label) ?? [],
  });
  return [
    facet("market"),
    ofTags("Strategy"),
    ofTags("Property type"),
    ...facetNames.filter((name) => name !== "market" && name !== "tag").map(facet),
    ofTags("Tag"),
  ];
}

const signalFacets = (model: ReadModel, chosen: Chosen): FacetView[] =>
  (["type", "market"] as const).map((name) => ({
    name,
    label: valueLabel(name),
    values: facetValues(model, "signal", name, chosen),
  }));

/**
 * Returns a facet's values, markets under their short names. Each has the number of records that have the value and
 * match the choices in other facets. Chosen values come first, even in another spelling or without records, so that
 * they can be removed. The others follow by descending number, then by name. Those without records are left out.
 */
function facetValues(
  model: ReadModel,
  kind: "gp" | "signal",
  name: ChoiceName,
  chosen: Chosen,
): FacetView["values"] {
  const titles = model.values(kind, name);
  const known = name === "market" ? titles.map((title) => nameOfMarket(model, title)) : titles;
  const values = [...new Set([...known, ...chosen[name]])];
  const counts = model.count(kind, name, values, filterOf(kind, chosen));
  const isChosen = (value: string) => Number(chosen[name].includes(value));
  return values
    .map((value, i) => ({ value, count: counts[i]! }))
    .filter(({ value, count }) => count + isChosen(value) > 0)
    .toSorted(
      (a, b) =>
        isChosen(b.value) - isChosen(a.value) ||
        b.count - a.count ||
        (fold(a.value) < fold(b.value) ? -1 : 1),
    );
}

/** Number of a facet's links that are always shown; the others unfold. */
const atOnce = 6;
/** Size limit of a facet's links, in bytes of markup. Each link repeats the whole choice. */
const linksBytesMax = 4000;
/** Maximum size of the markup of the options for a facet's other values, in bytes. */
const optionsBytesMax = 1500;

/** Returns the facets with their links; false if none has a value. */
const facetList = ({ path, chosen, facets }: BrowseView): Part =>
  facets.some(({ values }) => values.length > 0) &&
  html`<details class="fold">
    <summary>Narrow down</summary>
    <nav class="facets" aria-label="Narrow down">
      ${facets.map((facet) => facet.values.length > 0 && facetSection(path, chosen, facet))}
    </nav>
  </details>`;

function facetSection(path: string, chosen: Chosen, { name, label, values }: FacetView): Html {
  const links = fitting(
    values.map(({ value, count }) => {
      const isChosen = chosen[name].includes(value);
      return html`<li>
        <a
          href="${browseHref(path, toggled(chosen, name, value))}"
          ${isChosen && html`aria-current="true"`}
          >${valueLabel(value)}</a
        >
        <span class="muted number">${grouped(count)}</span>
      </li>`;
    }),
    linksBytesMax,
  );
  const shown = links.slice(0, atOnce);
  const list = `other-${label.replace(" ", "-")}`;
  return html`<section>
    <h2>${label}</h2>
    <ul>
      ${shown}
    </ul>
    ${
      values.length > shown.length &&
      html`<details>
        <summary>${values.length - shown.length} more</summary>
        <ul>
          ${links.slice(atOnce)}
        </ul>
        ${
          values.length > links.length &&
          html`<form action="${path}">
            ${keptFields(chosen)}
            <label
              >Another ${label.toLowerCase()}
              <input name="${name}" list="${list}" data-suggest="${name}" required
            /></label>
            <datalist id="${list}">
              ${fitting(
                values
                  .slice(links.length)
                  .map(({ value }) => html`<option value="${value}"></option>`),
                optionsBytesMax,
              )}
            </datalist>
            <button class="quiet">Choose</button>
          </form>`
        }
      </details>`
    }
  </section>`;
}

/** Suggests known values. Does not count against the quota. Suggests nothing for a suspended account. */
function suggestions(request: ReaderRequest): Reply {
  const { services, query } = request;
  const model = services.model();
  if (model === null || isSuspended(request)) return json([]);
  const text = query.get("text") ?? "";
  const name = query.get("name");
  if (name === "gp_name") return json(suggestNames(model, text));
  const facet = choiceNames.find((one) => one === name);
  if (facet === undefined) return json([]);
  const values = facetValues(model, facet === "type" ? "signal" : "gp", facet, nothingChosen);
  const holding = values.filter(({ value }) => fold(value).includes(fold(text)));
  return json(holding.slice(0, suggestionsMax).map(({ value }) => value));
}

const suggestionsMax = 8;
/** Minimum number of characters for which names are suggested. A single one would match too many names. */
const nameLengthMin = 2;

function suggestNames(model: ReadModel, text: string): string[] {
  if (fold(text).length < nameLengthMin) return [];
  const bounds = { limit: suggestionsMax, offset: 0 };
  const { positions, misses } = model.select("gp", { gp_name: text }, bounds);
  const known = readDocuments<Gp>(model.parts.documents.gp, positions);
  return [
    ...known.map(({ name }) => name),
    ...misses.flatMap((miss) => model.suggestionsFor(miss)),
  ];
}

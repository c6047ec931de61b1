/** The two browse pages: GPs by name, market, tag and theme, and their signals by type and market. */
import {
  facetList,
  type FacetView,
  gpFacets,
  signalFacets,
} from "#dashboard/components/browse-facets.ts";
import {
  browseHref,
  browsePaths,
  callQuery,
  choiceLine,
  type ChoiceName,
  type Chosen,
  filterOf,
  nameField,
  namedIn,
  type Order,
  readChosen,
} from "#dashboard/components/browse-links.ts";
import { accountPage, wordReply } from "#dashboard/components/page.ts";
import {
  cutText,
  gpHref,
  money,
  place,
  readRecords,
  signalList,
  type SignalView,
  valueLabels,
} from "#dashboard/components/records.ts";
import { type Given, type MemberRequest, route, type Route } from "#dashboard/screen.ts";
import { parameterBounds } from "#operations/operation.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted, dayElement, grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { Problem } from "#problems.ts";
import type { Gp } from "#records/gp.ts";
import type { Signal } from "#records/signal.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import type { Miss } from "#search/facet-index.ts";
import type { ReadModel } from "#search/read-model.ts";

export const browseRoutes: readonly Route[] = [
  route("/account/browse", "member", {
    GET: (request) => readRecords(request, showChosen(request, gps)),
    link: { group: "Records", label: "Browse" },
  }),
  route("/account/browse/signals", "member", {
    GET: (request) => readRecords(request, showChosen(request, signals)),
  }),
];

const limit = parameterBounds.limitDefault;
/** Number of signals shown beside the list of GPs. */
const signalsBeside = 5;

type Show = (request: MemberRequest, model: ReadModel, chosen: Chosen) => string;

/** Shows what the URL chooses, or what is wrong with it. */
const showChosen =
  (request: MemberRequest, show: Show) =>
  (model: ReadModel): Given => {
    try {
      return show(request, model, readChosen(request.query));
    } catch (fault) {
      if (!(fault instanceof Problem)) throw fault;
      const again = { href: "/account/browse", label: "Browse everything" };
      return wordReply(request, 400, "This cannot be chosen", fault.message, again);
    }
  };

function gps(request: MemberRequest, model: ReadModel, chosen: Chosen): string {
  const { order, offset } = chosen;
  const { total, positions, misses } = model.select(
    "gp",
    filterOf("gp", chosen),
    { limit, offset },
    order === "match" ? "usual" : order,
  );
  const first = { limit: signalsBeside, offset: 0 };
  const beside = model.select("signal", filterOf("signal", chosen), first);
  const rows = gpRows(model, chosen, positions);
  return browsePage(request, {
    title: "Browse GPs",
    heading: html`${counted(total, "GP")}${namedIn(chosen)}`,
    path: browsePaths.gps,
    chosen,
    facets: gpFacets(model, chosen),
    unknown: misses.map((miss) => unknownNote(browsePaths.gps, model, chosen, miss)),
    records: html`${total > 0 && gpSection(chosen, total, rows)}
    ${total + beside.total > 0 && signalSection(chosen, signalViews(model, beside.positions), beside.total)}`,
    none: total === 0 && "No GP is all of that. Take one value away to see more.",
  });
}

function signals(request: MemberRequest, model: ReadModel, chosen: Chosen): string {
  const path = browsePaths.signals;
  const { offset } = chosen;
  const filter = filterOf("signal", chosen);
  const { total, positions, misses } = model.select("signal", filter, { limit, offset });
  const shown = signalViews(model, positions);
  return browsePage(request, {
    title: "Browse signals",
    heading: html`${counted(total, "signal")}${chosen.name !== undefined && " of GPs"}${namedIn(chosen)}`,
    path,
    chosen,
    facets: signalFacets(model, chosen),
    unknown: misses.map((miss) => unknownNote(path, model, chosen, miss)),
    note: html`<p>
      Newest first. Type and market are the signal's own; tags and themes are those of its GPs.
      <a href="${browseHref(browsePaths.gps, { ...chosen, type: [], offset: 0 })}"
        >The GPs instead</a
      >
    </p>`,
    records: html`${total > 0 && signalList("Signals", shown)}
    ${pageSteps(path, chosen, shown.length, total)}`,
    none: total === 0 && "No signal is all of that. Take one value away to see more.",
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
    const kinds = chosenFirst([...gp.strategies, ...gp.property_types], chosen.tag);
    return [
      html`<a href="${gpHref(gp.id)}">${cutText(gp.name, nameLengthMax)}</a>
        <span class="muted">${place(gp.hq_city, gp.hq_state, gp.hq_country)}</span>`,
      fewOf(
        chosenFirst(
          gp.markets.map((title) => nameOfMarket(model, title)),
          chosen.market,
        ),
      ),
      valueLabels(kinds.slice(0, shownMax.kinds)),
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

/** Says that no record has a chosen value, with similar known ones. */
function unknownNote(path: string, model: ReadModel, chosen: Chosen, miss: Miss): Html {
  const { parameter, value } = miss;
  const isName = parameter === "gp_name";
  const instead = (near: string): Partial<Chosen> => {
    if (isName) return { name: near };
    const name = parameter as ChoiceName;
    return { [name]: [...chosen[name].filter((one) => one !== value), near] };
  };
  const href = (near: string) => browseHref(path, { ...chosen, ...instead(near), offset: 0 });
  const suggestions = model.suggestionsFor(miss);
  return html`<p class="fault" role="alert">
    ${isName ? "No GP is named" : "Nothing carries"} “${value}”.
    ${
      suggestions.length > 0 && [
        "Did you mean ",
        suggestions.map((near, i) => [i > 0 && " or ", html`<a href="${href(near)}">${near}</a>`]),
        "?",
      ]
    }
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
  /** Text if there are no records. */
  none: string | false;
}

const browsePage = (request: MemberRequest, view: BrowseView): string =>
  accountPage(request, {
    title: view.title,
    scripts: ["suggest.js"],
    main: html`<h1>${view.heading}</h1>
      ${nameField(view.path, view.chosen)} ${choiceLine(view.path, view.chosen)} ${view.unknown}
      ${view.note}
      <div class="browse">
        ${facetList(view.path, view.chosen, view.facets)}
        <div class="records">
          ${view.unknown.length === 0 && view.none !== false && html`<p>${view.none}</p>`}
          ${view.records}
        </div>
      </div>`,
  });

function gpSection(chosen: Chosen, total: number, rows: readonly Part[][]): Html {
  const href = (changed: Partial<Chosen>) =>
    browseHref(browsePaths.gps, { ...chosen, offset: 0, ...changed });
  const offered = orders.filter(
    (order) => order !== chosen.order && (order !== "match" || chosen.name !== undefined),
  );
  return html`<section>
    <h2>GPs ${orderWords[chosen.order]}</h2>
    <p class="muted">
      Order:
      ${offered.map((order, i) => [i > 0 && " · ", html`<a href="${href({ order })}">${orderWords[order]}</a>`])}
    </p>
    ${gpTable(rows)} ${pageSteps(browsePaths.gps, chosen, rows.length, total)}
    <p>
      Their principals:
      <a class="mono" href="/docs#fetch-principals">/fetch-principals?${callQuery(chosen)}</a>
    </p>
  </section>`;
}

const shownMax = { markets: 2, kinds: 3 } as const;
const nameLengthMax = 100;
const notKnown = "–";

const gpTable = (rows: readonly Part[][]): Html =>
  table({
    label: "GPs",
    columns: [
      "Name",
      "Markets",
      "Invests in",
      { label: "Assets", isNumber: true },
      "Latest signal",
    ],
    rows,
  });

const chosenFirst = (values: readonly string[], chosen: readonly string[]): string[] =>
  values.toSorted((a, b) => Number(chosen.includes(b)) - Number(chosen.includes(a)));

function fewOf(markets: readonly string[]): string {
  const shown = markets.slice(0, shownMax.markets).map((one) => cutText(one, nameLengthMax));
  const more = markets.length - shown.length;
  return shown.join("; ") + (more > 0 ? ` and ${more} more` : "");
}

const orderWords: Readonly<Record<Order, string>> = {
  match: "by how well the name fits",
  latest: "with the latest signal first",
  name: "by name",
};
const orders = Object.keys(orderWords) as Order[];

/** Returns the section of the latest signals. @param signals the newest few of `total`. */
const signalSection = (
  chosen: Chosen,
  signals: Parameters<typeof signalList>[1],
  total: number,
): Html =>
  html`<section>
    <h2>Latest signals${chosen.name !== undefined && " of GPs"}${namedIn(chosen)}</h2>
    ${
      signals.length === 0
        ? html`<p>None yet.</p>`
        : html`${signalList("Latest signals", signals)}
            <p>
              <a href="${browseHref(browsePaths.signals, { ...chosen, offset: 0 })}"
                >All ${counted(total, "signal")}, by type and market</a
              >
            </p>`
    }
  </section>`;

/** Returns the links between the pages of a list; null if it has only one. @param shown number of records on this page. */
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

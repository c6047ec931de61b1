/** The two browse pages: GPs by name, market, tag and theme, and their signals by type and market. */
import {
  facetList,
  type FacetView,
  gpFacets,
  signalFacets,
} from "#account/components/browse-facets.ts";
import {
  browseHref,
  browsePaths,
  callQuery,
  choiceLine,
  type Chosen,
  nameField,
  namedIn,
  type Order,
  readChosen,
  type Unknown,
  unknownNote,
} from "#account/components/browse-links.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import { type GpRow, gpTable } from "#account/components/gp-table.ts";
import { signalList, type SignalView } from "#account/components/signal-list.ts";
import { wordPage } from "#account/components/word.ts";
import { readRecords } from "#account/read-records.ts";
import { page, type Reply } from "#account/reply.ts";
import type { MemberRequest } from "#account/request.ts";
import { route, type Route } from "#account/route.ts";
import { parameterBounds } from "#operations/operation.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted, grouped } from "#pages/prose.ts";
import { Problem } from "#problems.ts";
import type { Gp } from "#records/gp.ts";
import type { Signal } from "#records/signal.ts";
import { browse, type Browse } from "#search/browse.ts";
import { readDocuments } from "#search/documents.ts";
import { hasFacets, type Miss } from "#search/gp-search.ts";
import type { ReadModel } from "#search/read-model.ts";

export const browseRoutes: readonly Route[] = [
  route("/account/browse", "member", {
    GET: (request) => readRecords(request, showChosen(request, gps)),
  }),
  route("/account/browse/signals", "member", {
    GET: (request) => readRecords(request, showChosen(request, signals)),
  }),
];

const limit = parameterBounds.limitDefault;
/** How many signals are shown beside the list of GPs. */
const signalsBeside = 5;

type Show = (request: MemberRequest, model: ReadModel, chosen: Chosen) => string;

/** Shows what the URL chooses, or what is wrong with it. */
const showChosen =
  (request: MemberRequest, show: Show) =>
  (model: ReadModel): Reply => {
    try {
      return page(show(request, model, readChosen(request.query)));
    } catch (fault) {
      if (!(fault instanceof Problem)) throw fault;
      const again = { href: "/account/browse", label: "Browse everything" };
      return page(wordPage("This cannot be chosen", fault.message, framed(request), again), 400);
    }
  };

function gps(request: MemberRequest, model: ReadModel, chosen: Chosen): string {
  const known = browse(model.parts);
  const { order, offset } = chosen;
  const { total, positions, misses } =
    order === "match"
      ? model.selectGps(chosen, { limit, offset })
      : known.gps.select(chosen, order, { limit, offset });
  const beside = selectSignals(known, chosen, { limit: signalsBeside, offset: 0 });
  return browsePage({
    frame: framed(request),
    chosen,
    facets: gpFacets(known, chosen),
    total,
    rows: gpRows(model, known, positions),
    limit,
    unknown: unknownIn(model, chosen, misses),
    signals: signalViews(model, known, beside.positions),
    signalsTotal: beside.total,
  });
}

function signals(request: MemberRequest, model: ReadModel, chosen: Chosen): string {
  const known = browse(model.parts);
  const found = selectSignals(known, chosen, { limit, offset: chosen.offset });
  const { misses } = known.gps.select({ ...chosen, market: [] }, "name", { limit: 0, offset: 0 });
  return browseSignalsPage({
    frame: framed(request),
    chosen,
    facets: signalFacets(known, found, chosen),
    total: found.total,
    signals: signalViews(model, known, found.positions),
    limit,
    unknown: unknownIn(model, chosen, misses),
  });
}

/** The market is the signal's own; the other facets are those of its GPs. */
function selectSignals(known: Browse, chosen: Chosen, bounds: { limit: number; offset: number }) {
  const ofGps = { ...chosen, market: [] };
  const isAny = chosen.name === undefined && !hasFacets(ofGps);
  const gps = isAny ? undefined : known.gps.find(ofGps);
  return known.signals.select({ types: chosen.type, markets: chosen.market, gps }, bounds);
}

function gpRows({ parts }: ReadModel, known: Browse, positions: readonly number[]): GpRow[] {
  const { starts, items } = parts.recordsOfGp.signal;
  return readDocuments<Gp>(parts.documents.gp, positions).map((gp, i) => {
    const first = starts[positions[i]!]!;
    const signalCount = starts[positions[i]! + 1]! - first;
    const newest = signalCount === 0 ? [] : [items[first]!];
    const [latest] = readDocuments<Signal>(parts.documents.signal, newest);
    return {
      gp,
      markets: gp.markets.map(known.nameOfMarket),
      latest: latest?.date ?? null,
      signals: signalCount,
    };
  });
}

const signalViews = (
  { parts }: ReadModel,
  { nameOfMarket }: Browse,
  positions: readonly number[],
): (SignalView & Signal)[] =>
  readDocuments<Signal>(parts.documents.signal, positions).map((signal) => ({
    ...signal,
    marketName: signal.market === null ? null : nameOfMarket(signal.market),
  }));

const unknownIn = (model: ReadModel, chosen: Chosen, misses: readonly Miss[]): Unknown[] =>
  misses.map((miss) => {
    const { parameter, value } = miss;
    const isName = parameter === "gp_name";
    const instead = (near: string): Partial<Chosen> =>
      isName
        ? { name: near }
        : { [parameter]: [...chosen[parameter].filter((one) => one !== value), near] };
    return {
      isName,
      value,
      suggestions: model
        .suggestionsFor(miss)
        .map((near) => ({ value: near, chosen: { ...chosen, ...instead(near), offset: 0 } })),
    };
  });

interface BrowseView {
  frame: Frame | null;
  chosen: Chosen;
  facets: readonly FacetView[];
  total: number;
  rows: readonly GpRow[];
  limit: number;
  unknown: readonly Unknown[];
  /** The newest few; `signalsTotal` counts all. */
  signals: readonly (SignalView & Pick<Signal, "gps">)[];
  signalsTotal: number;
}

function browsePage(view: BrowseView): string {
  const path = browsePaths.gps;
  const { frame, chosen, facets, total, unknown } = view;
  return accountPage({
    title: "Browse GPs",
    frame,
    scripts: ["suggest.js"],
    main: html`<h1>${counted(total, "GP")}${namedIn(chosen)}</h1>
      ${nameField(path, chosen)} ${choiceLine(path, chosen)}
      ${unknown.map((miss) => unknownNote(path, miss))}
      <div class="browse">
        ${facetList(path, chosen, facets)}
        <div class="records">
          ${total > 0 && gpSection(view)}
          ${total === 0 && unknown.length === 0 && html`<p>No GP is all of that. Take one value away to see more.</p>`}
          ${total + view.signalsTotal > 0 && signalSection(view)}
        </div>
      </div>`,
  });
}

function gpSection({ chosen, total, rows, limit }: BrowseView): Html {
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
    ${gpTable(rows, chosen)}
    ${pageSteps({
      offset: chosen.offset,
      shown: rows.length,
      total,
      limit,
      href: (offset) => href({ offset }),
    })}
    <p>
      Their principals:
      <a class="mono" href="/docs#fetch-principals">/fetch-principals?${callQuery(chosen)}</a>
    </p>
  </section>`;
}

const orderWords: Readonly<Record<Order, string>> = {
  match: "by how well the name fits",
  latest: "with the latest signal first",
  name: "by name",
};
const orders = Object.keys(orderWords) as Order[];

const signalSection = ({ chosen, signals, signalsTotal }: BrowseView): Html =>
  html`<section>
    <h2>Latest signals${chosen.name !== undefined && " of GPs"}${namedIn(chosen)}</h2>
    ${
      signals.length === 0
        ? html`<p>None yet.</p>`
        : html`${signalList("Latest signals", signals)}
            <p>
              <a href="${browseHref(browsePaths.signals, { ...chosen, offset: 0 })}"
                >All ${counted(signalsTotal, "signal")}, by type and market</a
              >
            </p>`
    }
  </section>`;

interface BrowseSignalsView {
  frame: Frame | null;
  chosen: Chosen;
  facets: readonly FacetView[];
  total: number;
  signals: BrowseView["signals"];
  limit: number;
  unknown: BrowseView["unknown"];
}

function browseSignalsPage(view: BrowseSignalsView): string {
  const { frame, chosen, facets, total, signals, limit, unknown } = view;
  const path = browsePaths.signals;
  return accountPage({
    title: "Browse signals",
    frame,
    scripts: ["suggest.js"],
    main: html`<h1>
        ${counted(total, "signal")}${chosen.name !== undefined && " of GPs"}${namedIn(chosen)}
      </h1>
      ${nameField(path, chosen)} ${choiceLine(path, chosen)}
      ${unknown.map((miss) => unknownNote(path, miss))}
      <p>
        Newest first. Type and market are the signal's own; tags and themes are those of its GPs.
        <a href="${browseHref(browsePaths.gps, { ...chosen, type: [], offset: 0 })}"
          >The GPs instead</a
        >
      </p>
      <div class="browse">
        ${facetList(path, chosen, facets)}
        <div>
          ${total > 0 && signalList("Signals", signals)}
          ${total === 0 && unknown.length === 0 && html`<p>No signal is all of that. Take one value away to see more.</p>`}
          ${pageSteps({
            offset: chosen.offset,
            shown: signals.length,
            total,
            limit,
            href: (offset) => browseHref(path, { ...chosen, offset }),
          })}
        </div>
      </div>`,
  });
}

interface Steps {
  offset: number;
  /** How many are on this page. */
  shown: number;
  total: number;
  limit: number;
  /** The URL of the page that begins there. */
  href(offset: number): string;
}

/** The links between the pages of a list; nothing if it has only one page. */
const pageSteps = ({ offset, shown, total, limit, href }: Steps): Part =>
  total > limit &&
  html`<nav class="steps" aria-label="Pages">
    ${offset > 0 && html`<a href="${href(Math.max(0, offset - limit))}" rel="prev">Back</a>`}
    <span>${shownWords(offset, shown)} of ${grouped(total)}</span>
    ${shown > 0 && offset + shown < total && html`<a href="${href(offset + limit)}" rel="next">Next</a>`}
  </nav>`;

const shownWords = (offset: number, shown: number): string =>
  shown === 0 ? "None" : `${grouped(offset + 1)} to ${grouped(offset + shown)}`;

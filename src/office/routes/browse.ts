/** Pages for whoever does not know a name yet: GPs by what they carry, signals by type and market. */
import { framed } from "#office/frame.ts";
import { page, type Reply } from "#office/reply.ts";
import { readRecords } from "#office/read-records.ts";
import { route, type Route } from "#office/route.ts";
import type { AccountVisit } from "#office/visit.ts";
import { parameterBounds } from "#operations/parameter-names.ts";
import { browsePage } from "#pages/account/browse.ts";
import type { Chosen } from "#pages/account/browse-links.ts";
import { browseSignalsPage } from "#pages/account/browse-signals.ts";
import type { Unknown } from "#pages/account/chosen-words.ts";
import type { GpRow } from "#pages/account/gp-table.ts";
import type { SignalView } from "#pages/account/signal-list.ts";
import { wordPage } from "#pages/account/word.ts";
import { Problem } from "#problems.ts";
import type { Gp } from "#records/gp.ts";
import type { Signal } from "#records/signal.ts";
import { browse, type Browse } from "#search/browse.ts";
import { readDocuments } from "#search/read-documents.ts";
import type { FacetName } from "#search/dataset-parts.ts";
import type { Miss } from "#search/gp-search.ts";
import type { ReadModel } from "#search/read-model.ts";
import { readChosen } from "./browse-chosen.ts";
import { gpFacets, signalFacets } from "./browse-facets.ts";

const limit = parameterBounds.limitDefault;
/** Of the signals beside the list of GPs. */
const signalsBeside = 5;

export const browseRoutes: readonly Route[] = [
  route("/account/browse", "member", { GET: (visit) => readRecords(visit, chosenBy(visit, gps)) }),
  route("/account/browse/signals", "member", {
    GET: (visit) => readRecords(visit, chosenBy(visit, signals)),
  }),
];

type Show = (visit: AccountVisit, model: ReadModel, chosen: Chosen) => string;

const chosenBy =
  (visit: AccountVisit, show: Show) =>
  (model: ReadModel): Reply => {
    try {
      return page(show(visit, model, readChosen(visit.query)));
    } catch (fault) {
      if (!(fault instanceof Problem)) throw fault;
      const again = { href: "/account/browse", label: "Browse everything" };
      return page(wordPage("This cannot be chosen", fault.message, framed(visit), again), 400);
    }
  };

function gps(visit: AccountVisit, model: ReadModel, chosen: Chosen): string {
  const known = browse(model.parts);
  const { total, positions, misses } = known.gps.select(chosen, chosen.order, {
    limit,
    offset: chosen.offset,
  });
  const beside = selectSignals(known, chosen, { limit: signalsBeside, offset: 0 });
  return browsePage({
    frame: framed(visit),
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

function signals(visit: AccountVisit, model: ReadModel, chosen: Chosen): string {
  const known = browse(model.parts);
  const found = selectSignals(known, chosen, { limit, offset: chosen.offset });
  const { misses } = known.gps.select({ ...chosen, market: [] }, "name", { limit: 0, offset: 0 });
  return browseSignalsPage({
    frame: framed(visit),
    chosen,
    facets: signalFacets(known, found, chosen),
    total: found.total,
    signals: signalViews(model, known, found.positions),
    limit,
    unknown: unknownIn(model, chosen, misses),
  });
}

/** A market is the signal's own, tag and theme are of its GPs: only those does a signal have none of, or few. */
const selectSignals = (
  known: Browse,
  { type, market, tag, theme }: Chosen,
  bounds: { limit: number; offset: number },
) =>
  known.signals.select(
    {
      types: type,
      markets: market,
      gps: tag.length + theme.length > 0 ? known.gps.find({ tag, theme }) : undefined,
    },
    bounds,
  );

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
    const name = miss.parameter as FacetName;
    const others = chosen[name].filter((value) => value !== miss.value);
    return {
      value: miss.value,
      suggestions: model
        .suggestionsFor(miss)
        .map((value) => ({ value, chosen: { ...chosen, [name]: [...others, value], offset: 0 } })),
    };
  });

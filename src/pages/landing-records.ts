/** Records on the landing page where everybody sees them. */
import { setImmediate } from "node:timers/promises";
import type { RecordKind } from "#records/kinds.ts";
import type { Principal } from "#records/principal.ts";
import type { Signal } from "#records/signal.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { placeOfMarket } from "#search/market-places.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { prepareInTurns } from "#search/prepare-in-turns.ts";
import type { ReadModel } from "#search/read-model.ts";
import { periodsUntil, signalColumns, signalGroups } from "./plot.ts";

export type LandingRecords = Awaited<ReturnType<typeof readLandingRecords>>;

const latestShown = 6;
const monthsShown = 24;
/** Number of people among whom one with several GPs is sought. */
const peopleRead = 500;

/**
 * Reads the number of GPs by market, the latest signals, the number of signals by month and kind, and a person with
 * several GPs. Lets other work go on in between.
 */
export async function readLandingRecords(model: ReadModel) {
  const { documents, updatedAt } = model.parts;
  await prepareInTurns(model, "project", { market: ["any"] });
  const titles = model.values("gp", "market");
  const counts = model.count("gp", "market", titles, {});
  const markets = titles.flatMap((title, i) => {
    const place = placeOfMarket(model, title);
    const label = nameOfMarket(model, title);
    return place === null ? [] : [{ ...place, label, count: counts[i]! }];
  });
  const firstOf = (kind: RecordKind, limit: number) =>
    model.select(kind, {}, { limit, offset: 0 }).positions;
  const signals = readDocuments<Signal>(documents.signal, firstOf("signal", latestShown));
  const latest = signals.map(({ market, ...signal }) => ({
    ...signal,
    market: market === null ? null : nameOfMarket(model, market),
  }));
  const people = readDocuments<Principal>(documents.principal, firstOf("principal", peopleRead));
  const periods = periodsUntil(updatedAt.slice(0, 10), "month", monthsShown);
  const types = signalGroups.flatMap((group) => [...group.types]);
  const byMonth = new Map<string, Map<string, number>>();
  for (const { from, until } of periods) {
    const filter = { type: types, date: { from, to: until } };
    await prepareInTurns(model, "signal", filter);
    // Counting a month takes a millisecond or more, too.
    await setImmediate();
    const found = model.count("signal", "type", types, filter);
    byMonth.set(from, new Map(types.map((type, i) => [type, found[i]!])));
  }
  const months = signalColumns(periods, (some, { from }) =>
    some.reduce((sum, type) => sum + byMonth.get(from)!.get(type)!, 0),
  );
  return { markets, latest, months, person: people.find(({ gps }) => gps.length > 1) ?? null };
}

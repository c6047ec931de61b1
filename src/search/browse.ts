/** What people ask of a dataset before they know a name. */
import { fold } from "#records/fold.ts";
import { openGpBrowse, type GpBrowse } from "./browse-gps.ts";
import { openSignalBrowse, type SignalBrowse } from "./browse-signals.ts";
import { longestSpellings } from "./facet-values.ts";
import { nameMarkets } from "./market-names.ts";
import type { DatasetParts, FacetName } from "./dataset-parts.ts";

export interface Browse {
  gps: GpBrowse;
  signals: SignalBrowse;
  /** What GPs carry, each value in the spelling it is asked by. */
  values: Readonly<Record<FacetName, readonly string[]>>;
  /** What a market is called, by its title. */
  nameOfMarket(title: string): string;
}

const opened = new WeakMap<DatasetParts, Browse>();

/** Made with the first question about a dataset, and dropped with it. */
export function browse(parts: DatasetParts): Browse {
  let known = opened.get(parts);
  if (known === undefined) opened.set(parts, (known = openBrowse(parts)));
  return known;
}

function openBrowse(parts: DatasetParts): Browse {
  const signals = openSignalBrowse(parts);
  const titles = longestSpellings(parts.facets.market);
  const names = nameMarkets([...titles, ...signals.markets]);
  const nameOfMarket = (title: string) => names.get(fold(title)) ?? title;
  return {
    gps: openGpBrowse(parts),
    signals,
    values: {
      market: titles.map(nameOfMarket),
      tag: longestSpellings(parts.facets.tag),
      theme: longestSpellings(parts.facets.theme),
    },
    nameOfMarket,
  };
}

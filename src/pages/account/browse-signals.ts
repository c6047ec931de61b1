/** The page that lists signals by type and market, newest first. */
import { html } from "#pages/html.ts";
import { facetList, type FacetView } from "./browse-facets.ts";
import { browseHref, browsePaths, type Chosen } from "./browse-links.ts";
import type { BrowseView } from "./browse.ts";
import { choiceLine, countOf, inMarkets, unknownNote } from "./chosen-words.ts";
import { accountPage, type Frame } from "./frame.ts";
import { pageSteps } from "./page-steps.ts";
import { signalList } from "./signal-list.ts";

interface BrowseSignalsView {
  frame: Frame | null;
  chosen: Chosen;
  facets: readonly FacetView[];
  total: number;
  signals: BrowseView["signals"];
  limit: number;
  unknown: BrowseView["unknown"];
}

export function browseSignalsPage(view: BrowseSignalsView): string {
  const { frame, chosen, facets, total, signals, limit, unknown } = view;
  const path = browsePaths.signals;
  return accountPage({
    title: "Browse signals",
    frame,
    scripts: ["explorer.js"],
    main: html`<h1>${countOf(total, "signal")}${inMarkets(chosen)}</h1>
      ${choiceLine(path, chosen)} ${unknown.map((miss) => unknownNote(path, miss))}
      <p>
        Newest first. Type and market are the signal's own; tags and themes are those of its GPs.
        <a href="${browseHref(browsePaths.gps, { ...chosen, type: [], offset: 0 })}"
          >The GPs instead</a
        >
      </p>
      <div class="browse">
        ${facetList(path, chosen, facets)}
        <div>
          ${
            total === 0
              ? html`<p>No signal is all of that. Take one value away to see more.</p>`
              : signalList("Signals", signals)
          }
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

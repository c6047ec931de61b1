/** The page that lists GPs by what they carry, before one knows a name. */
import type { Signal } from "#records/signal.ts";
import { html, type Html } from "#pages/html.ts";
import { facetList, type FacetView } from "./browse-facets.ts";
import { browseHref, browsePaths, callQuery, type Chosen } from "./browse-links.ts";
import { choiceLine, countOf, inMarkets, unknownNote, type Unknown } from "./chosen-words.ts";
import { accountPage, type Frame } from "./frame.ts";
import { gpTable, type GpRow } from "./gp-table.ts";
import { pageSteps } from "./page-steps.ts";
import { signalList, type SignalView } from "./signal-list.ts";

export interface BrowseView {
  frame: Frame | null;
  chosen: Chosen;
  facets: readonly FacetView[];
  total: number;
  rows: readonly GpRow[];
  limit: number;
  unknown: readonly Unknown[];
  /** The newest few, and how many there are. */
  signals: readonly (SignalView & Pick<Signal, "gps">)[];
  signalsTotal: number;
}

const path = browsePaths.gps;

export function browsePage(view: BrowseView): string {
  const { frame, chosen, facets, total, unknown } = view;
  return accountPage({
    title: "Browse GPs",
    frame,
    scripts: ["explorer.js"],
    main: html`<h1>${countOf(total, "GP")}${inMarkets(chosen)}</h1>
      ${choiceLine(path, chosen)} ${unknown.map((miss) => unknownNote(path, miss))}
      <div class="browse">
        ${facetList(path, chosen, facets)}
        <div class="records">
          ${
            total === 0
              ? html`<p>No GP carries all of that. Take one value away to see more.</p>`
              : gpSection(view)
          }
          ${signalSection(view)}
        </div>
      </div>`,
  });
}

function gpSection({ chosen, total, rows, limit }: BrowseView): Html {
  const href = (changed: Partial<Chosen>) => browseHref(path, { ...chosen, offset: 0, ...changed });
  const isByName = chosen.order === "name";
  return html`<section>
    <h2>GPs ${isByName ? "by name" : "with the latest signal first"}</h2>
    <p class="muted">
      Order:
      ${
        isByName
          ? html`<a href="${href({ order: "latest" })}">latest signal first</a>`
          : html`<a href="${href({ order: "name" })}">by name</a>`
      }
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
      <a href="/account/explorer?operation=fetch-principals&amp;${callQuery(chosen)}#answer"
        >The principals of these GPs</a
      >
    </p>
  </section>`;
}

const signalSection = ({ chosen, signals, signalsTotal }: BrowseView): Html =>
  html`<section>
    <h2>Latest signals${inMarkets(chosen)}</h2>
    ${
      signals.length === 0
        ? html`<p>None yet.</p>`
        : html`${signalList("Latest signals", signals)}
            <p>
              <a href="${browseHref(browsePaths.signals, { ...chosen, offset: 0 })}"
                >All ${countOf(signalsTotal, "signal")}, by type and market</a
              >
            </p>`
    }
  </section>`;

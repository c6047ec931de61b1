/** The table of GPs on the browse page. */
import { html, type Html, type Part } from "#pages/html.ts";
import { counted } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { dayElement } from "#pages/times.ts";
import type { Gp } from "#records/gp.ts";
import type { Chosen } from "./browse-links.ts";
import { cutText } from "./fitting.ts";
import { money, place, valueLabels } from "./record-words.ts";
import { gpHref } from "./signal-list.ts";

export interface GpRow {
  gp: Gp;
  /** The short names of its markets. */
  markets: readonly string[];
  /** Day of its newest signal; null without any. */
  latest: string | null;
  signals: number;
}

const shownMax = { markets: 2, kinds: 3 } as const;
const nameLengthMax = 100;
const unknown = "–";

export const gpTable = (rows: readonly GpRow[], chosen: Chosen): Html =>
  table({
    label: "GPs",
    columns: [
      "Name",
      "Markets",
      "Invests in",
      { label: "Assets", isNumber: true },
      "Latest signal",
    ],
    rows: rows.map((row) => cellsOf(row, chosen)),
  });

const cellsOf = ({ gp, markets, latest, signals }: GpRow, chosen: Chosen): Part[] => [
  html`<a href="${gpHref(gp.id)}">${cutText(gp.name, nameLengthMax)}</a>
    <span class="muted">${place(gp.hq_city, gp.hq_state, gp.hq_country)}</span>`,
  fewOf(chosenFirst(markets, chosen.market)),
  valueLabels(
    chosenFirst([...gp.strategies, ...gp.property_types], chosen.tag).slice(0, shownMax.kinds),
  ),
  money(gp.aum_usd) || unknown,
  latest === null
    ? unknown
    : html`${dayElement(latest)} <span class="muted">${counted(signals, "signal")}</span>`,
];

const chosenFirst = (values: readonly string[], chosen: readonly string[]): string[] =>
  values.toSorted((a, b) => Number(chosen.includes(b)) - Number(chosen.includes(a)));

function fewOf(markets: readonly string[]): string {
  const shown = markets.slice(0, shownMax.markets).map((one) => cutText(one, nameLengthMax));
  const more = markets.length - shown.length;
  return shown.join("; ") + (more > 0 ? ` and ${more} more` : "");
}

/** What is known of a GP itself, as terms and what they are; what is unknown is left out. */
import type { ExternalIds } from "#records/common.ts";
import type { Gp } from "#records/gp.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { dayElement } from "#pages/times.ts";
import { browseHref, browsePaths, nothingChosen, type ChoiceName } from "./browse-links.ts";
import { fitting, listText } from "./fitting.ts";
import { hostOf, money, outside, place, provenanceWords } from "./record-words.ts";
import { valueLabel } from "./value-label.ts";

export interface ShownGp {
  /** As the operations serve it: at most 100 principals and signals, and how many there are. */
  gp: Gp;
  /** Title of each market that is named → what it is called. */
  marketNames: Readonly<Record<string, string>>;
}

export function gpFacts({ gp, marketNames }: ShownGp): Html {
  const markets = gp.markets.map((title) => marketNames[title] ?? title);
  const facts: readonly (readonly [term: string, what: Part])[] = [
    ["Legal name", gp.legal_name],
    ["Also known as", listText(gp.aliases)],
    ["Head office", place(gp.hq_city, gp.hq_state, gp.hq_country)],
    ["Markets", links("market", markets)],
    ["Strategies", links("tag", gp.strategies)],
    ["Property types", links("tag", gp.property_types)],
    ["Themes", links("theme", gp.themes)],
    ["Tags", links("tag", gp.tags)],
    ["Assets under management", assets(gp)],
    ["Raised so far", money(gp.raised_to_date_usd)],
    ["Founded", gp.founded_year],
    ["Website", gp.website !== null && outside(gp.website, hostOf(gp.website))],
    ["Known elsewhere as", elsewhere(gp.external_ids)],
    ["Former ids", listText(gp.former_ids)],
    ["Source", [provenanceWords(gp.provenance), sourceLink(gp.provenance.url)]],
  ];
  return html`<dl class="facts known">
    ${facts.map(
      ([term, what]) =>
        isSaid(what) &&
        html`<div>
          <dt>${term}</dt>
          <dd>${what}</dd>
        </div>`,
    )}
  </dl>`;
}

const isSaid = (what: Part): boolean =>
  what !== null && what !== undefined && what !== false && what !== "";

const linkBytesMax = 2000;

/** Each value leads to the GPs that carry it too. */
function links(name: ChoiceName, values: readonly string[]): Part {
  const all = values.map(
    (value) =>
      html`<a href="${browseHref(browsePaths.gps, { ...nothingChosen, [name]: [value] })}"
        >${valueLabel(value)}</a
      >`,
  );
  const shown = fitting(all, linkBytesMax);
  const more = all.length - shown.length;
  return (
    all.length > 0 && [
      shown.map((link, i) => [i > 0 && "; ", link]),
      more > 0 && ` and ${more} more`,
    ]
  );
}

const assets = ({ aum_usd, aum_as_of }: Gp): Part =>
  aum_usd !== null && [
    money(aum_usd),
    aum_as_of !== null && html` <span class="muted">on ${dayElement(aum_as_of)}</span>`,
  ];

const idNames: Readonly<Record<keyof ExternalIds, string>> = {
  cik: "CIK",
  crd: "CRD",
  lei: "LEI",
  sec_number: "SEC",
  form_d_file: "Form D",
  adv_fund: "ADV fund",
  hud_id: "HUD",
  other: "other",
};

const elsewhere = (ids: ExternalIds): string =>
  listText(
    Object.entries(ids).flatMap(([key, values]) =>
      (values ?? []).map((value) => `${idNames[key as keyof ExternalIds] ?? key} ${value}`),
    ),
  );

const sourceLink = (url: string | null): Part => url !== null && [", ", outside(url, hostOf(url))];

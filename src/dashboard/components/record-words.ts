/** Values of records in words: money, places, provenance, and labels of vocabulary values. */
import { html, type Html, type Part } from "#pages/html.ts";
import type { Provenance } from "#records/common.ts";

const short = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  notation: "compact",
  maximumFractionDigits: 1,
});

/** Such as `$1.8B`; empty if unknown. */
export const money = (usd: number | null): string => (usd === null ? "" : short.format(usd));

/** City, state and country as far as known; the country only outside the US. */
export const place = (city: string | null, state: string | null, country: string | null): string =>
  [city, state, country === "US" && (city ?? state) !== null ? null : country]
    .filter((part) => part !== null)
    .join(", ");

/** What a record is based on, as part of a sentence. */
const basisWords: Readonly<Record<Provenance["basis"], string>> = {
  stated: "as the source states it",
  adv_file_number: "by a file number the GP reports in its Form ADV",
  sponsor_text: "by a firm that the text of a filing names",
  adv_fund_name: "by the name of a fund the GP reports in its Form ADV",
  related_entity: "by a related entity that a filing names",
  cluster: "by people and addresses that several filings share",
  series_master: "by the company whose series it is",
  related_entity_deal: "by a related entity of this deal alone",
  issuer_stem: "by the name of the issuer alone",
  named_sponsor: "by the name of a sponsor in a public register",
};

/** Such as "demo, as the source states it, confidence 100 %". */
export const provenanceWords = ({ source, basis, confidence }: Provenance): string =>
  `${source}, ${basisWords[basis] ?? basis}, confidence ${Math.round(confidence * 100)} %`;

/** Longer ones are rare, and would fill the page. */
const addressLengthMax = 500;

/**
 * A link to another site, which learns nothing about this page.
 * @returns the label without a link unless the address is http or https.
 */
export const outside = (address: string | null, label: Part): Html =>
  address !== null && address.length <= addressLengthMax && isWebAddress(address)
    ? html`<a href="${address}" rel="noopener noreferrer">${label}</a>`
    : html`${label}`;

function isWebAddress(address: string): boolean {
  const { protocol } = URL.parse(address) ?? {};
  return protocol === "https:" || protocol === "http:";
}

/** The host name, as a short label of a link. */
export const hostOf = (address: string): string =>
  URL.parse(address)?.hostname.replace(/^www\./, "") ?? address;

/** Labels that differ from the value without its underscores. */
const labels: ReadonlyMap<string, string> = new Map([
  ["reit", "REIT"],
  ["dst", "Delaware statutory trust"],
  ["tic", "Tenancy in common"],
  ["qof", "Opportunity fund"],
  ["reg_d_506b", "Reg D 506(b)"],
  ["reg_d_506c", "Reg D 506(c)"],
  ["section_3c5", "Section 3(c)(5)"],
  ["1031_exchange_dst", "1031 exchange"],
  ["aum_change", "AUM change"],
  ["co_investment", "Co-investment"],
  ["value_add", "Value-add"],
]);

const slug = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;

/** Text that is no slug stays as its source wrote it. */
export function valueLabel(value: string): string {
  if (!slug.test(value)) return value;
  const words = value.replaceAll("_", " ");
  return labels.get(value) ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Separated by commas. */
export const valueLabels = (values: readonly string[]): string => values.map(valueLabel).join(", ");

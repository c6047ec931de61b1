/** Values of records in words: amounts, values of closed lists, and types of signals with their marks. */
import { html, type Html } from "./html.ts";
import { hueOf, mark } from "./plot.ts";

const short = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: "USD",
  notation: "compact",
  maximumSignificantDigits: 3,
});

/** Returns an amount such as `$1.84B`; empty if it is unknown. */
export const money = (usd: number | null): string => (usd === null ? "" : short.format(usd));

/** Labels of values for which replacing underscores is not enough. */
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
  ["aum_under_100m", "AUM under $100M"],
  ["aum_100m_500m", "AUM $100M to $500M"],
  ["aum_500m_1b", "AUM $500M to $1B"],
  ["aum_1b_5b", "AUM $1B to $5B"],
  ["aum_5b_20b", "AUM $5B to $20B"],
  ["aum_over_20b", "AUM over $20B"],
  ["capital_raised", "Reported sold"],
  ["under_5", "Under 5 %"],
  ["5_10", "5–10 %"],
  ["10_25", "10–25 %"],
  ["25_50", "25–50 %"],
  ["50_75", "50–75 %"],
  ["over_75", "Over 75 %"],
  ["co_investment", "Co-investment"],
  ["value_add", "Value-add"],
  ["cik", "CIK"],
  ["crd", "CRD"],
  ["lei", "LEI"],
  ["sec_number", "SEC number"],
  ["form_d_file", "Form D"],
  ["adv_fund", "ADV fund"],
  ["hud_id", "HUD"],
]);

const slug = /^(?!(?:gp|pr|sg|pj)_\w{16}$)[a-z0-9]+(?:_[a-z0-9]+)*$/;

/** Returns a value's label. An id, and text that is not a slug, stay as they are. */
export function valueLabel(value: string): string {
  if (!slug.test(value)) return value;
  const words = value.replaceAll("_", " ");
  return labels.get(value) ?? words.charAt(0).toUpperCase() + words.slice(1);
}

export const typeMark = (type: string): Html => html`${mark(hueOf(type))}${valueLabel(type)}`;

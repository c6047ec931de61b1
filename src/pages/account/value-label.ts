/** Values of the vocabularies as people write them: `value_add` is "Value add". */

/** Where taking the underscores out does not do. */
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

/** Any other text stays as its source wrote it. */
export function valueLabel(value: string): string {
  if (!slug.test(value)) return value;
  const words = value.replaceAll("_", " ");
  return labels.get(value) ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** With commas between. */
export const valueLabels = (values: readonly string[]): string => values.map(valueLabel).join(", ");

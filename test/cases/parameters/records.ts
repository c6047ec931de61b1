/** The records for the cases of parameters. */
import type { CanonicalRecord } from "#records/canonical.ts";
import { cast } from "../../support/cast.ts";

/** Names with characters that are special in other search engines. */
const signed = [
  "50% Equity",
  "50 Equity",
  "A_B Capital",
  "AxB Capital",
  "Back\\slash Fund",
  "O'Hara Group",
  '"Quoted" Partners',
  "(Bracketed) Partners",
  "Star* Realty",
  "Near/Far AND Not",
  "Plus+Minus-",
].map((name, i) => ({ record: "gp", id: `signed-${i}`, name }));
const linked = signed.map(({ id }, i) => ({
  record: "project",
  id: `p${i}`,
  name: `Project ${i}`,
  gps: [id],
}));
/** Enough for the largest page. */
const pages = Array.from({ length: 120 }, (_, i) => ({
  record: "project",
  id: `page-${i}`,
  name: `P ${String(i).padStart(3, "0")}`,
}));

export const records: readonly CanonicalRecord[] = [
  ...cast,
  ...signed,
  ...linked,
  ...pages,
] as readonly unknown[] as CanonicalRecord[];

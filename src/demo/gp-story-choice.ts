/** Which story of a GP comes next, by what kind of firm it is. */
import type { InventedGp } from "./cast.ts";
import { aumFallStory, gpStories } from "./gp-stories.ts";
import { chance, weighted, type Random } from "./random.ts";
import type { SignalType, Story } from "./stories.ts";

const ofAll: readonly (readonly [SignalType, number])[] = [
  ["acquisition", 11],
  ["disposition", 6],
  ["financing", 7],
  ["news", 5],
  ["leadership_change", 3],
  ["new_principal", 3],
  ["other", 1],
];
const ofIssuers: typeof ofAll = [
  ["new_offering", 26],
  ["offering_amended", 22],
  ["capital_raised", 15],
  ["first_sale", 7],
  ["fully_subscribed", 4],
  ["general_solicitation", 6],
  ["new_vehicle", 8],
  ["fund_close", 4],
];
const ofAdvisers: typeof ofAll = [
  ["aum_change", 13],
  ["fund_reported", 11],
];

/** By whether the GP offers shares, then by whether it is an adviser. */
const typeChoices = [
  [weighted(ofAll), weighted([...ofAll, ...ofAdvisers])],
  [weighted([...ofAll, ...ofIssuers]), weighted([...ofAll, ...ofIssuers, ...ofAdvisers])],
] as const;

/** What suits the GP: only issuers offer, only advisers report. */
export function someGpStory(random: Random, gp: InventedGp): Story {
  const type = someType(random, gp);
  return type === "aum_change" && chance(random, 0.25)
    ? aumFallStory
    : (gpStories.get(type) as Story);
}

function someType(random: Random, gp: InventedGp): SignalType {
  const choices = typeChoices[gp.formDFiles.length > 0 ? 1 : 0];
  const type = choices[gp.isAdviser ? 1 : 0](random);
  if (type === "general_solicitation" && !gp.tags.includes("reg_d_506c")) return "new_offering";
  const needsPerson = type === "new_principal" || type === "leadership_change";
  return needsPerson && gp.people.length === 0 ? "news" : type;
}

/** Turns an invented GP into its record: what of it a source would tell. */
import type { CanonicalGp } from "#records/canonical.ts";
import type { ExternalIds, Provenance } from "#records/common.ts";
import { roundAmount } from "./amounts.ts";
import { largeCount } from "./businesses.ts";
import type { InventedGp } from "./cast.ts";
import { dayOf, dayText, lastYear, recentDay, someTime } from "./dates.ts";
import { describeGp } from "./descriptions.ts";
import { inventLegalName, type GpName } from "./gp-names.ts";
import { trimmed } from "./lists.ts";
import { chance, logNormal, pick, weighted, whole, type Random } from "./random.ts";
import { inventManager } from "./vehicles.ts";

// Newer than the newest `aum_as_of`.
const updatedDays = 140;

export function gpRecordOf(
  random: Random,
  number: number,
  gp: InventedGp,
  gpName: GpName,
  externalIds: ExternalIds,
): CanonicalGp {
  const record: CanonicalGp = {
    record: "gp",
    id: gp.id,
    name: gp.name,
    legal_name: inventLegalName(random, gpName),
    aliases: someAliases(random, number, gpName),
    description: describeGp(random, gp),
    website: gp.host === null ? null : `https://${gp.host}`,
    hq_city: gp.city.name,
    hq_state: gp.city.state,
    hq_country: gp.city.country,
    founded_year: chance(random, 0.7) ? gp.foundedYear : null,
    aum_usd: null,
    aum_as_of: null,
    raised_to_date_usd: null,
    strategies: gp.strategies,
    property_types: gp.propertyTypes,
    tags: gp.tags,
    themes: gp.themes,
    markets: gp.metros.map(({ title }) => title),
    external_ids: externalIds,
    updated_at: someTime(random, recentDay(random, updatedDays)),
  };
  addAmounts(random, gp, record);
  if (chance(random, 0.12)) record.provenance = someProvenance(random);
  return record;
}

function someAliases(random: Random, number: number, { name, stem, latin }: GpName): string[] {
  const aliases = latin === name ? [] : [latin];
  const share = random();
  const count = Math.floor(share * share * (number <= largeCount ? 9 : 4));
  for (let at = 0; at < count; at++) {
    const alias = inventManager(random, stem);
    if (!aliases.includes(alias)) aliases.push(alias);
  }
  if (chance(random, 0.05)) aliases.push(shortName(latin));
  return trimmed(aliases);
}

/** `Northwind Residential Partners` → `NRP Group`. */
const shortName = (latin: string): string =>
  `${(latin.match(/(?<![^ ])[\p{L}\p{N}]/gu) ?? []).join("")} Group`;

const quarterEnds = [dayOf(lastYear - 1, 12, 31), dayOf(lastYear, 3, 31), dayOf(lastYear, 6, 30)];

function addAmounts(random: Random, gp: InventedGp, record: CanonicalGp): void {
  // Advisers have to tell; of the others fewer than half do.
  if (chance(random, gp.isAdviser ? 0.95 : 0.42)) {
    const oldYear = Math.max(gp.foundedYear, lastYear - whole(random, 2, 5));
    const day = chance(random, 0.9) ? pick(random, quarterEnds) : dayOf(oldYear, 12, 31);
    record.aum_usd = roundAmount(gp.scaleUsd);
    record.aum_as_of = dayText(day);
  }
  if (gp.formDFiles.length > 0 && chance(random, 0.8))
    record.raised_to_date_usd = Math.round(logNormal(random, gp.scaleUsd * 0.25, 0.5) / 50) * 50;
}

const someProvenance = weighted<Partial<Provenance>>([
  [{ basis: "related_entity", confidence: 0.8 }, 5],
  [{ basis: "cluster", confidence: 0.6 }, 4],
  [{ basis: "issuer_stem", confidence: 0.3 }, 2],
]);

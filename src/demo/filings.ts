/** What authorities would know of a GP: its invented numbers and the facts that go with them. */
import type { ExternalIds } from "#records/common.ts";
import { largeCount } from "./businesses.ts";
import { trimmed } from "./lists.ts";
import { chance, pickEach, weighted, type Random } from "./random.ts";
import type { Specialty } from "./specialties.ts";

interface Filings {
  externalIds: ExternalIds;
  tags: string[];
  formDFiles: readonly string[];
  isAdviser: boolean;
}

const someProfile = weighted([
  ["offerings", 50],
  ["adviser", 16],
  ["both", 18],
  ["none", 16],
] as const);

// Real numbers have not come this far, so none of these is anybody's.
const formDFileStart = 900_000;
const cikStart = 9_000_000;
const crdStart = 9_900_000;
const personCrdStart = 9_000_000;
const secNumberStart = 900_000;

/**
 * @param number the GP's own, from 1.
 * @param filed how many Form D files the GPs before it have; makes this one's unique.
 */
export function inventFilings(
  random: Random,
  number: number,
  filed: number,
  specialty: Specialty,
): Filings {
  const profile = someProfile(random);
  const isAdviser = profile === "adviser" || profile === "both";
  const fileCount =
    profile === "offerings" || profile === "both" ? someFileCount(random, number) : 0;
  const formDFiles = numbered(formDFileStart + filed, fileCount, (file) => `021-${file}`);
  const tags = fileCount > 0 ? offeringTags(random, fileCount, specialty) : [];
  const externalIds: ExternalIds = {};
  if (fileCount > 0) {
    externalIds.cik = numbered(cikStart + filed, fileCount, (cik) => String(cik).padStart(10, "0"));
    externalIds.form_d_file = formDFiles;
  }
  if (isAdviser) {
    const isRegistered = chance(random, 0.6);
    externalIds.crd = [String(crdStart + number)];
    externalIds.sec_number = [`${isRegistered ? 801 : 802}-${secNumberStart + number}`];
    tags.push(isRegistered ? "registered_adviser" : "exempt_reporting_adviser");
  }
  return { externalIds, tags: trimmed(tags), formDFiles, isAdviser };
}

function someFileCount(random: Random, number: number): number {
  const share = random();
  return 1 + Math.floor(share * share * (number <= largeCount ? 16 : 5));
}

function numbered(start: number, count: number, write: (value: number) => string): string[] {
  const numbers: string[] = [];
  for (let at = 1; at <= count; at++) numbers.push(write(start + at));
  return trimmed(numbers);
}

const offeringTagShares: readonly (readonly [string, number])[] = [
  ["reg_d_506b", 0.72],
  ["reg_d_506c", 0.3],
  ["pooled_fund", 0.45],
  ["section_3c5", 0.15],
  ["amended", 0.4],
  ["indefinite_offering", 0.22],
  ["reit", 0.04],
  ["tic", 0.02],
];

function offeringTags(random: Random, fileCount: number, { themes }: Specialty): string[] {
  const tags = pickEach(random, offeringTagShares);
  if (themes.includes("1031_exchange_dst") && chance(random, 0.2)) tags.push("dst");
  if (themes.includes("opportunity_zones") && chance(random, 0.12)) tags.push("qof");
  if (tags.includes("reg_d_506b") && chance(random, 0.1)) tags.push("non_accredited_allowed");
  if (fileCount === 1 && chance(random, 0.5)) tags.push("first_time_filer");
  if (fileCount >= 4) tags.push("serial_filer");
  return tags;
}

/** The number of a principal in the register of persons; `number` is the principal's own, from 1. */
export const personCrd = (number: number): string => String(personCrdStart + number);

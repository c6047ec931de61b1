/** Groups filings into vehicles, and weighs the firms that filings and Form ADV propose as sponsors. */
import { fold } from "#records/fold.ts";
import type { AdviserFiling, Filings, Firm, FormD, Place } from "#filings/rows.ts";
import { candidatesOf } from "./candidates.ts";
import { type Classification, classify, isRealEstateFund, mayBeRealEstate } from "./classify.ts";
import { type Candidate, candidateOf } from "./evidence.ts";
import {
  entityOf,
  firmKey,
  ownerName,
  personKey,
  professionIn,
  shortName,
  stemOf,
} from "./names.ts";
import { filedOn } from "./offerings.ts";

/** A real-estate issuer. @typeParam F kept facts of a filing; the whole filing while records are made. */
export interface Vehicle<F = Pick<FormD, "accession">> extends Classification {
  cik: string;
  /** Latest name of the issuer, as `shortName` returns it. */
  name: string;
  /** Its Form D filings, oldest first. */
  filings: readonly F[];
  /**
   * Best of the taken evidence for its sponsor, however weak; null if none was taken. Set to null once all vehicles
   * have their GPs, to save memory.
   */
  best: Weighed | null;
  /** GP and the evidence for it; null if the vehicle has no GP. */
  link: { gp: ResolvedGp; evidence: Candidate } | null;
}

interface Weighed extends Candidate {
  /** CRD number of the firm; null unless it was matched to exactly one known adviser. */
  crd: string | null;
}

/** Facts of a filing that are needed to find its vehicle's GP. The whole filing is read again for its records. */
type FilingFacts = Judged["facts"];

/** Vehicle whose GP is still to be found, with the facts of its filings. */
export type PlacedVehicle = Vehicle<FilingFacts>;

export interface ResolvedGp<F = Pick<FormD, "accession">> {
  /** `crd:` and its lowest CRD number, else `cik:` and the lowest CIK of its vehicles. */
  key: string;
  name: string;
  legalName: string | null;
  /** CRD numbers, lowest first. There are several only after a correction. */
  crds: readonly string[];
  /** Vehicles in order of CIK. */
  vehicles: readonly Vehicle<F>[];
  /** Best evidence for the GP; null for an adviser, which speaks for itself. */
  evidence: Candidate | null;
  /** True if a correction gave the name. */
  isRenamed: boolean;
}

export type Advisers = ReturnType<typeof indexAdvisers>;

/** CRD numbers by a key of the adviser; null if several advisers share the key. */
type Finder = Map<string, string | null>;

const add = (finder: Finder, key: string, crd: string) =>
  finder.set(key, finder.getOrInsert(key, crd) === crd ? crd : null);

/** Returns the keys of a firm in a state. Leaves out a stem of one word, which could be anybody's. */
const nameKeys = (name: string, state: string | null): string[] => {
  const stem = stemOf(name);
  return [`${firmKey(name)}|${state}`, ...(stem.includes(" ") ? [`${stem}|${state}`] : [])];
};

interface AdviserName extends Pick<AdviserFiling, "legalName" | "filedOn">, Pick<Place, "state"> {
  name: string;
  /** False if only the feed of firms has the adviser. */
  isFiled: boolean;
}

export function indexAdvisers(filings: Filings) {
  /** Latest name of each adviser by CRD number. */
  const names = new Map<string, AdviserName>();
  const byFile: Finder = new Map();
  const byFundName: Finder = new Map();
  /** CRD numbers by `firmKey` and state, and by stem and state. */
  const byName: Finder = new Map();
  /** Address hashes and folded names of owners and partners, by CRD number, as lines. Sets take far more memory. */
  const facts = new Map<string, string>();
  /** CRD numbers of advisers whose latest filing has at least half of its funds in real estate. */
  const realEstateAdvisers = new Set<string>();
  /** Folded file numbers and names of real-estate funds. */
  const realEstateFunds = new Set<string>();
  /** Adds the names of an adviser. Returns false for a firm that serves others, whose funds are its customers'. */
  const addNames = (latest: AdviserFiling | Firm, isFiled: boolean): boolean => {
    const { crd, legalName, businessName, otherNames, filedOn: date, place } = latest;
    const { state } = place;
    names.set(crd, { name: businessName ?? legalName, legalName, state, filedOn: date, isFiled });
    if ([legalName, businessName].some((name) => name && professionIn(name) !== null)) return false;
    for (const name of [legalName, businessName, ...otherNames])
      if (name) for (const key of nameKeys(name, state)) add(byName, key, crd);
    return true;
  };
  for (const all of filings.advisers()) {
    const latest = all.at(-1)!;
    const { crd, place } = latest;
    if (!addNames(latest, true)) continue;
    const funds = all.flatMap((filing) => filing.funds);
    const known = new Set([
      place.addressHash,
      ...latest.owners.flatMap((owner) => (owner.isPerson ? personKey(ownerName(owner)) : [])),
      ...funds.flatMap(({ partnerNames }) => partnerNames.map(firmKey)),
    ]);
    facts.set(crd, `\n${[...known].filter(Boolean).join("\n")}\n`);
    for (const fund of funds) {
      for (const file of fund.formDFiles) add(byFile, file, crd);
      add(byFundName, fold(fund.name), crd);
      if (isRealEstateFund(fund))
        for (const key of [...fund.formDFiles, fund.name]) realEstateFunds.add(fold(key));
    }
    const share = latest.funds.filter(isRealEstateFund).length / latest.funds.length;
    if (share >= 0.5) realEstateAdvisers.add(crd);
  }
  for (const firm of filings.firms()) {
    const known = names.get(firm.crd);
    if (known === undefined || firm.filedOn > known.filedOn) addNames(firm, known !== undefined);
  }
  return { names, byFile, byFundName, byName, facts, realEstateAdvisers, realEstateFunds };
}

/** Returns the keys of a filing's natural persons. */
const peopleOf = ({ persons }: FormD): string[] =>
  persons
    .filter((person) => person.first && person.last && entityOf(person) === null)
    .map(personKey);

/** Returns a filing's candidates, those from Form ADV first. Returns none if the filing cannot be real estate. */
export function weigh(filing: FormD, advisers: Advisers): Weighed[] {
  if (!mayBeRealEstate(filing)) return [];
  const { state } = filing.issuers[0]!.place;
  const named = candidatesOf(filing).map((candidate) => {
    const keys = candidate.isTaken && state !== null ? nameKeys(candidate.firm, state) : [];
    // A key that several advisers share finds none of them.
    const crd = keys.flatMap((key) => advisers.byName.get(key) ?? [])[0] ?? null;
    return { ...candidate, crd };
  });
  return [...adviserCandidates(filing, advisers), ...named];
}

/** Returns the taken candidate with the highest confidence, or null. The first wins a tie. Ignores empty stems. */
export const bestOf = <C extends Candidate>(candidates: readonly C[]): C | null =>
  candidates
    .filter(({ isTaken, stem }) => isTaken && stem !== "")
    .toSorted((one, other) => other.confidence - one.confidence)[0] ?? null;

/** Returns the real-estate vehicles, in order of CIK, and the number of filings left out, by reason. */
export function readVehicles(filings: Filings, advisers: Advisers) {
  const leftOut = new Map<string, number>();
  const byCik = new Map<string, Judged[]>();
  for (const filing of filings.formD()) {
    const judged = judge(filing, advisers);
    const { kind, reason } = judged.what;
    if (kind === "out") leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
    else byCik.getOrInsertComputed(filing.issuers[0]!.cik, () => []).push(judged);
  }
  const vehicles = [...byCik].sort(([a], [b]) => (a < b ? -1 : 1)).map(vehicleOf);
  return { vehicles, leftOut };
}

type Judged = ReturnType<typeof judge>;

function judge(filing: FormD, advisers: Advisers) {
  const { accession, fileNumber, filedOn: date, issuers } = filing;
  const { name, place } = issuers[0]!;
  const { state, addressHash } = place;
  const people = [...new Set(peopleOf(filing))];
  const candidates = weigh(filing, advisers);
  return {
    what: classify(filing, ...sponsorsOf(candidates, advisers)),
    best: bestOf(candidates),
    facts: { accession, fileNumber, filedOn: date, name, state, addressHash, people },
  };
}

function vehicleOf([cik, judged]: readonly [string, readonly Judged[]]): PlacedVehicle {
  const all = judged.toSorted((a, b) => (ageOf(a.facts) < ageOf(b.facts) ? -1 : 1));
  const what = all.map((one) => one.what);
  return {
    cik,
    // A fund in one filing is a fund in all, since projects do not pool.
    ...(what.find(({ kind }) => kind === "fund") ?? what[0]!),
    isAccommodation: what.every(({ isAccommodation }) => isAccommodation),
    name: shortName(all.at(-1)!.facts.name),
    filings: all.map(({ facts }) => facts),
    best: bestOf(all.toReversed().flatMap(({ best }) => best ?? [])),
    link: null,
  };
}

/** Returns a string that sorts filings by age. An undated filing counts as the last of its year. */
const ageOf = (filing: FilingFacts) =>
  `${filing.filedOn ?? `${filedOn(filing)}-99`} ${filing.accession}`;

/** Returns the names of the firms behind a filing, and the reason why one makes it real estate; null if none does. */
function sponsorsOf(
  candidates: readonly Weighed[],
  { names, realEstateFunds, realEstateAdvisers }: Advisers,
): [names: string[], adviserReason: string | null] {
  const found: string[] = [];
  let reason: string | null = null;
  for (const { firm, crd, basis, text } of candidates.filter(({ isTaken }) => isTaken)) {
    found.push(firm);
    if (crd === null) continue;
    const { name } = names.get(crd)!;
    found.push(name);
    if (basis.startsWith("adv_") && realEstateFunds.has(fold(text)))
      reason ??= `a Real Estate Fund in the Form ADV of "${name}"`;
    else if (realEstateAdvisers.has(crd)) reason ??= `its adviser "${name}" has Real Estate Funds`;
  }
  return [found, reason];
}

function adviserCandidates(filing: FormD, advisers: Advisers): Weighed[] {
  const { fileNumber } = filing;
  const { name } = filing.issuers[0]!;
  const propose = (crd: string | null, given: Omit<Parameters<typeof candidateOf>[1], "firm">) => {
    const firm = advisers.names.get(crd ?? "")?.legalName;
    return firm ? [{ ...candidateOf(filing.accession, { ...given, firm }), crd }] : [];
  };
  const byFundName = advisers.byFundName.get(fold(name)) ?? null;
  const agreement = byFundName && agreementOf(filing, byFundName, advisers);
  return [
    ...propose(advisers.byFile.get(fileNumber ?? "") ?? null, {
      basis: "adv_file_number",
      field: "Form D File Number",
      text: fileNumber!,
      why: "an adviser reports this file number in its Form ADV",
    }),
    ...propose(byFundName, {
      basis: "adv_fund_name",
      field: "Fund Name",
      text: name,
      why: `only one adviser reports a fund of this name, and ${agreement}`,
      refusal: agreement ? null : "an adviser reports a fund of this name, but nothing else agrees",
    }),
  ];
}

/** Returns the second fact in which a filing and an adviser agree, as a clause. Returns null if there is none. */
function agreementOf(filing: FormD, crd: string, advisers: Advisers): string | null {
  // Names without a letter or digit make empty facts, which would agree with each other.
  const has = (fact: string | null) =>
    fact !== null && fact.trim() !== "" && advisers.facts.get(crd)?.includes(`\n${fact}\n`);
  const { place } = filing.issuers[0]!;
  if (has(place.addressHash)) return "their addresses agree";
  if (peopleOf(filing).some(has)) return "they name the same person";
  const entities = filing.persons.flatMap((person) => entityOf(person) ?? []);
  if (entities.some((firm) => has(firmKey(firm)))) return "they name the same firm";
  const { state } = advisers.names.get(crd)!;
  return state !== null && state === place.state ? "their states agree" : null;
}

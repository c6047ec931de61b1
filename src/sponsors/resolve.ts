/**
 * Resolves sponsors: tells which firm stands behind each issuer, and which firms are one GP.
 *
 * 1. Every filing is classified. Those of real estate are grouped by issuer, each issuer a vehicle with one CIK.
 * 2. A vehicle's sponsor is that of its best evidence: a correction; the file number of its offering in an adviser's
 *    Form ADV; a firm named in a text or among the related persons; a fund of its name in one adviser's Form ADV, if a
 *    second fact agrees.
 * 3. Firms become GPs. Firms of one stem are one GP if they share a state, an address or a person. A firm that one
 *    adviser of its state is called like is that adviser. Name and state never make one GP of two CRD numbers.
 * 4. Vehicles that nothing names join the one GP with whose vehicles they share an address and a person. Several that
 *    share both, and the first words of their names, make a GP called by those words.
 * 5. Advisers that invest in real estate are GPs without any vehicle, too.
 *
 * The result depends on the rows alone, not on their order.
 */
import { fold } from "#records/fold.ts";
import type { AdviserFiling, Correction, Filings, FormD, Place } from "#filings/rows.ts";
import { candidatesOf } from "./candidates.ts";
import {
  type Classification,
  classify,
  isRealEstateFund,
  mayBeRealEstate,
  whyGp,
} from "./classify.ts";
import { type Candidate, candidateOf } from "./evidence.ts";
import { professionIn } from "./known-firms.ts";
import { filedOn } from "./offerings.ts";
import { entityOf, firmKey, isAddressLike, ownWords, readable, stemOf } from "./names.ts";

/** An issuer of real estate. @typeParam F what is held of a filing: the whole of it, while its records are made. */
export interface Vehicle<F = FilingFacts> extends Classification {
  cik: string;
  /** Its Form D filings, oldest first. */
  filings: readonly F[];
  /** GP and the evidence for it; null if nobody is named. */
  link: { gp: ResolvedGp; evidence: Candidate } | null;
}

/** Facts of a filing by which vehicles become those of a GP. The whole filing is read again where it is needed. */
interface FilingFacts
  extends
    Pick<FormD, "accession" | "fileNumber" | "filedOn">,
    Pick<Place, "state" | "addressHash"> {
  name: string;
  /** Folded first and last names of its persons, without firms. */
  people: readonly string[];
}

export interface ResolvedGp<F = FilingFacts> {
  /** `crd:N`, else `cik:` and the lowest CIK of its vehicles. */
  key: string;
  name: string;
  legalName: string | null;
  /** CRD numbers, lowest first; several only by a correction. */
  crds: readonly string[];
  /** Vehicles by CIK. */
  vehicles: readonly Vehicle<F>[];
  /** Best evidence for the GP; null for an adviser, which states itself. */
  evidence: Candidate | null;
  /** True if a correction gave the name. */
  isRenamed: boolean;
}

export interface Resolution {
  /** GPs by key. */
  gps: readonly ResolvedGp[];
  /** Vehicles of real estate, by CIK. */
  vehicles: readonly Vehicle[];
  /** Number of filings left out, by reason. */
  leftOut: ReadonlyMap<string, number>;
  /** Corrections that met nothing; those of persons are known once all records were made. */
  unmet: Set<Correction>;
  /** Returns all that a vehicle's filings let one weigh, that which is taken first. @param filings oldest first. */
  candidatesOf: (filings: readonly FormD[]) => Candidate[];
}

export interface ResolveOptions {
  /** Lowest confidence of a link to a GP. */
  minConfidence: number;
  /** Returns the public id that a key gets when it is first published. */
  publicId: (kind: "gp" | "principal", key: string) => string;
}

/** Addresses and people with more filings than this are those of service firms. */
const hubFilings = 60;

export function resolveSponsors(filings: Filings, options: ResolveOptions): Resolution {
  const advisers = indexAdvisers(filings);
  const { vehicles, leftOut, proposals } = readVehicles(filings, advisers);
  const houses = openHouses(options, advisers, vehicles);
  for (const { vehicle, evidence, crd } of proposals)
    if (evidence.confidence >= options.minConfidence) houses.add(vehicle, evidence, crd);
  for (const crd of gpAdvisers(filings, vehicles)) houses.addAdviser(crd);
  joinClusters(vehicles, houses);
  const unmet = new Set(filings.corrections.filter((one) => !houses.correct(one)));
  const candidatesOf = (some: readonly FormD[]) =>
    inOrder(some.map((filing) => weigh(filing, advisers))).flat();
  return { gps: houses.gps(), vehicles, leftOut, unmet, candidatesOf };
}

/** Returns what Form ADV says of a filing, and what the filing itself says. */
const weigh = (filing: FormD, advisers: Advisers): [Candidate[], Candidate[]] =>
  mayBeRealEstate(filing) ? [adviserCandidates(filing, advisers), candidatesOf(filing)] : [[], []];

/** Puts what filings say in the order of trust: Form ADV before any notice, then the latest. @param all oldest first. */
const inOrder = <T>(all: readonly (readonly [T, T])[]): T[] =>
  [0, 1].flatMap((kind) => all.toReversed().map((pair) => pair[kind]!));

/** Facts of all advisers that tell whose a vehicle is. */
type Advisers = ReturnType<typeof indexAdvisers>;

function add<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const found = map.get(key);
  if (found === undefined) map.set(key, new Set([value]));
  else found.add(value);
}

const only = <T>(set: ReadonlySet<T> | undefined): T | null =>
  set?.size === 1 ? [...set][0]! : null;

/** Keys under which a firm of a state is looked up. A stem of one word could be anybody's. */
const nameKeys = (name: string, state: string | null): string[] => {
  const stem = stemOf(name);
  return [`${firmKey(name)}|${state}`, ...(stem.includes(" ") ? [`${stem}|${state}`] : [])];
};

function indexAdvisers(filings: Filings) {
  /** Latest name of each adviser by CRD number. */
  const names = new Map<string, { name: string; legalName: string; state: string | null }>();
  const byFile = new Map<string, Set<string>>();
  const byFundName = new Map<string, Set<string>>();
  /** CRD numbers by `firmKey` and state, and by stem and state. */
  const byName = new Map<string, Set<string>>();
  /** Address hashes, and folded names of owners and partners, by CRD number. */
  const facts = new Map<string, Set<string>>();
  /** CRD numbers of which half the funds or more are Real Estate Funds, and the folded file numbers and names of these. */
  const realEstate = new Set<string>();
  for (const all of filings.advisers()) {
    const latest = all.at(-1)!;
    const { crd, legalName, businessName, otherNames, place } = latest;
    names.set(crd, { name: businessName ?? legalName, legalName, state: place.state });
    // A platform's funds are those of its customers.
    if ([legalName, businessName].some((name) => name && professionIn(name) !== null)) continue;
    for (const name of [legalName, businessName, ...otherNames])
      if (name) for (const key of nameKeys(name, place.state)) add(byName, key, crd);
    if (place.addressHash !== null) add(facts, crd, place.addressHash);
    for (const owner of latest.owners) if (owner.isPerson) add(facts, crd, nameOrder(owner.name));
    for (const fund of all.flatMap((filing) => filing.funds)) {
      for (const file of fund.formDFiles) add(byFile, file, crd);
      add(byFundName, fold(fund.name), crd);
      for (const partner of fund.partnerNames) add(facts, crd, firmKey(partner));
      if (isRealEstateFund(fund))
        for (const key of [...fund.formDFiles, fund.name]) realEstate.add(fold(key));
    }
    const share = latest.funds.filter(isRealEstateFund).length / latest.funds.length;
    if (share >= 0.5) realEstate.add(crd);
  }
  return { names, byFile, byFundName, byName, facts, realEstate };
}

/** Returns `LAST, FIRST, MIDDLE` as the folded first and last name. */
function nameOrder(name: string): string {
  const [last = "", first = ""] = name.split(",").map((part) => fold(part));
  return `${first.split(" ")[0]} ${last}`;
}

/** Returns the folded first and last names of a filing's persons, without firms. */
const peopleOf = ({ persons }: FormD): string[] =>
  persons
    .filter((person) => person.first && person.last && entityOf(person) === null)
    .map(({ first, last }) => `${fold(first!).split(" ")[0]} ${fold(last!)}`);

/** Best evidence of a vehicle, with the CRD number of the adviser that it names, or null. */
interface Proposal {
  evidence: Candidate;
  crd: string | null;
}

function readVehicles(filings: Filings, advisers: Advisers) {
  const leftOut = new Map<string, number>();
  const byCik = new Map<string, Vehicle & { filings: FilingFacts[] }>();
  const proposed = new Map<FilingFacts, readonly [Proposal | null, Proposal | null]>();
  for (const filing of filings.formD()) {
    const candidates = weigh(filing, advisers);
    const classification = classify(filing, ...sponsorsOf(filing, candidates.flat(), advisers));
    if (classification.kind === "out") {
      leftOut.set(classification.reason, (leftOut.get(classification.reason) ?? 0) + 1);
      continue;
    }
    const { cik, name, place } = filing.issuers[0]!;
    const { accession, fileNumber, filedOn: date } = filing;
    const { state, addressHash } = place;
    const people = [...new Set(peopleOf(filing))];
    const facts = { accession, fileNumber, filedOn: date, name, state, addressHash, people };
    const best = (some: readonly Candidate[]): Proposal | null => {
      const evidence = bestOf(some);
      return evidence && { evidence, crd: adviserOf(filing, evidence, advisers) };
    };
    proposed.set(facts, [best(candidates[0]), best(candidates[1])]);
    const found = byCik.get(cik);
    if (found === undefined)
      byCik.set(cik, { cik, ...classification, filings: [facts], link: null });
    else {
      found.filings.push(facts);
      // A fund in one filing is a fund in all, since projects do not pool.
      if (classification.kind === "fund" && found.kind === "project")
        Object.assign(found, classification);
      found.isAccommodation &&= classification.isAccommodation;
    }
  }
  const vehicles = [...byCik.values()].sort((a, b) => (a.cik < b.cik ? -1 : 1));
  const proposals = vehicles.flatMap((vehicle) => {
    const all = inOrder(vehicle.filings.sort(byAge).map((one) => proposed.get(one)!));
    const found = all.filter((one) => one !== null);
    const best = bestOf(found.map(({ evidence }) => evidence));
    return best === null ? [] : [{ vehicle, ...found.find(({ evidence }) => evidence === best)! }];
  });
  return { vehicles, leftOut, proposals };
}

/** Returns the names of the firms that stand behind a filing, and why one of them makes it real estate, or null. */
function sponsorsOf(
  filing: FormD,
  candidates: readonly Candidate[],
  advisers: Advisers,
): [names: string[], adviserReason: string | null] {
  const names: string[] = [];
  let reason: string | null = null;
  for (const candidate of candidates) {
    if (!candidate.isTaken) continue;
    names.push(candidate.firm);
    const crd = adviserOf(filing, candidate, advisers);
    if (crd === null) continue;
    const { name } = advisers.names.get(crd)!;
    names.push(name);
    const isOfForm = candidate.basis.startsWith("adv_");
    if (isOfForm && advisers.realEstate.has(fold(candidate.text)))
      reason ??= `a Real Estate Fund in the Form ADV of "${name}"`;
    else if (advisers.realEstate.has(crd)) reason ??= `its adviser "${name}" has Real Estate Funds`;
  }
  return [names, reason];
}

/** Returns a string that sorts filings by age. An undated one is taken as the last of its year. */
const ageOf = (filing: FilingFacts) =>
  `${filing.filedOn ?? `${filedOn(filing)}-99`} ${filing.accession}`;
const byAge = (a: FilingFacts, b: FilingFacts) => (ageOf(a) < ageOf(b) ? -1 : 1);

/** Returns the candidate that was taken with the highest confidence; of equal ones the first. */
function bestOf(candidates: Iterable<Candidate>): Candidate | null {
  let best: Candidate | null = null;
  for (const one of candidates)
    if (one.isTaken && one.stem !== "" && one.confidence > (best?.confidence ?? 0)) best = one;
  return best;
}

/** Returns what Form ADV says of a filing. */
function adviserCandidates(filing: FormD, advisers: Advisers): Candidate[] {
  const found: Candidate[] = [];
  const propose = (
    crd: string,
    basis: Candidate["basis"],
    field: string,
    text: string,
    why: string,
    refusal: string | null = null,
  ) => {
    const firm = advisers.names.get(crd)!.legalName;
    found.push(candidateOf(filing, { basis, field, text, firm, why, refusal }));
  };
  const byFile = only(advisers.byFile.get(filing.fileNumber ?? ""));
  if (byFile !== null) {
    const why = "an adviser reports this file number in its Form ADV";
    propose(byFile, "adv_file_number", "Form D File Number", filing.fileNumber!, why);
  }
  const { name } = filing.issuers[0]!;
  const byFundName = only(advisers.byFundName.get(fold(name)));
  if (byFundName === null) return found;
  const agreement = agreementOf(filing, byFundName, advisers);
  const why = `one adviser reports a fund of this name, and ${agreement}`;
  const refusal =
    agreement === null ? "an adviser reports a fund of this name, but nothing else agrees" : null;
  propose(byFundName, "adv_fund_name", "Fund Name", name, why, refusal);
  return found;
}

/** Returns the second fact in which a filing and an adviser agree, as a clause. Returns null if there is none. */
function agreementOf(filing: FormD, crd: string, advisers: Advisers): string | null {
  const facts = advisers.facts.get(crd);
  const { place } = filing.issuers[0]!;
  if (place.addressHash !== null && facts?.has(place.addressHash)) return "their addresses agree";
  if (peopleOf(filing).some((person) => facts?.has(person))) return "they name the same person";
  const entities = filing.persons.flatMap((person) => entityOf(person) ?? []);
  if (entities.some((firm) => facts?.has(firmKey(firm)))) return "they name the same firm";
  const { state } = advisers.names.get(crd)!;
  return state !== null && state === place.state ? "their states agree" : null;
}

/** Returns the CRD number of the adviser that the evidence names, or null. */
function adviserOf(filing: FormD, evidence: Candidate, advisers: Advisers): string | null {
  if (evidence.basis === "adv_file_number") return only(advisers.byFile.get(filing.fileNumber!));
  if (evidence.basis === "adv_fund_name")
    return only(advisers.byFundName.get(fold(filing.issuers[0]!.name)));
  const { state } = filing.issuers[0]!.place;
  if (state === null) return null;
  for (const key of nameKeys(evidence.firm, state)) {
    const crd = only(advisers.byName.get(key));
    if (crd !== null) return crd;
  }
  return null;
}

/** Returns the CRD numbers of the advisers that invest in real estate. */
function* gpAdvisers(filings: Filings, vehicles: readonly Vehicle[]): Iterable<string> {
  const all = vehicles.flatMap((vehicle) => vehicle.filings);
  const offerings = {
    files: new Set(all.flatMap(({ fileNumber }) => fileNumber ?? [])),
    fundNames: new Set(all.map(({ name }) => fold(name))),
  };
  for (const filed of filings.advisers()) {
    const latest: AdviserFiling = filed.at(-1)!;
    if (professionIn(latest.legalName) === null && whyGp(latest, offerings) !== null)
      yield latest.crd;
  }
}

/** A firm that is being put together from vehicles and advisers. */
interface House {
  /** House that this one was merged into. */
  into: House | null;
  crds: Set<string>;
  vehicles: Map<Vehicle, Candidate>;
  name: string | null;
}

type Houses = ReturnType<typeof openHouses>;

const withCrds = (all: ReadonlySet<string>, { crds }: House) => all.union(crds);

/** Keeps the houses found so far, and makes one of those that share a key. */
function openHouses(
  { publicId }: ResolveOptions,
  { names }: Advisers,
  vehicles: readonly Vehicle[],
) {
  const houses = new Set<House>();
  const byKey = new Map<string, House>();
  const houseOf = new Map<Vehicle, House>();

  const newHouse = (): House => {
    const house: House = { into: null, crds: new Set(), vehicles: new Map(), name: null };
    houses.add(house);
    return house;
  };

  const houseUnder = (key: string): House | undefined => {
    let house = byKey.get(key);
    while (house?.into) house = house.into;
    return house;
  };

  /** Makes one house of two: the larger takes in the smaller. */
  function merge(a: House, b: House): House {
    if (a === b) return a;
    const [one, other] = a.vehicles.size < b.vehicles.size ? [b, a] : [a, b];
    for (const crd of other.crds) one.crds.add(crd);
    for (const [vehicle, evidence] of other.vehicles) put(vehicle, evidence, one);
    one.name ??= other.name;
    other.into = one;
    houses.delete(other);
    return one;
  }

  function put(vehicle: Vehicle, evidence: Candidate, house: House): void {
    house.vehicles.set(vehicle, evidence);
    houseOf.set(vehicle, house);
  }

  const crdKey = (crd: string) => `crd:${crd}`;

  function addAdviser(crd: string): House {
    const found = houseUnder(crdKey(crd));
    if (found !== undefined) return found;
    const house = newHouse();
    house.crds.add(crd);
    byKey.set(crdKey(crd), house);
    return house;
  }

  function keyOf({ crds, vehicles }: House): string {
    const [crd] = [...crds].sort(byNumber);
    if (crd !== undefined) return crdKey(crd);
    return `cik:${[...vehicles.keys()].map(({ cik }) => cik).sort()[0]}`;
  }

  /** Houses by key and public id. Each CIK and CRD number of a house is a key of it. */
  const finders = new Map<string, () => House | undefined>();

  function find(id: string): House | undefined {
    const enter = (key: string, finder: () => House | undefined) =>
      finders.set(key, finder).set(publicId("gp", key), finder);
    if (finders.size === 0) {
      for (const crd of names.keys()) enter(crdKey(crd), () => houseUnder(crdKey(crd)));
      for (const vehicle of vehicles) enter(`cik:${vehicle.cik}`, () => houseOf.get(vehicle));
    }
    return finders.get(id)?.();
  }

  const correctedBy = (correction: Correction, firm: string): Candidate =>
    candidateOf(null, {
      basis: "corrected",
      field: `corrections.ndjson:${correction.line}`,
      text: correction.why,
      firm,
      why: "a correction says so",
    });

  const remove = (vehicle: Vehicle) => {
    const house = houseOf.get(vehicle);
    house?.vehicles.delete(vehicle);
    houseOf.delete(vehicle);
    if (house?.vehicles.size === 0 && house.crds.size === 0) houses.delete(house);
  };

  return {
    houseOf,
    put,
    /**
     * Adds a vehicle with its best evidence, to the houses with which it shares a key. If that would make one house of
     * two CRD numbers, those with a CRD number stay apart.
     */
    add(vehicle: Vehicle, evidence: Candidate, crd: string | null): void {
      const keys = houseKeys(vehicle, evidence);
      let house = crd === null ? newHouse() : addAdviser(crd);
      put(vehicle, evidence, house);
      const others = new Set(keys.flatMap((key) => houseUnder(key) ?? []));
      const isOneFirm = [house, ...others].reduce(withCrds, new Set<string>()).size < 2;
      for (const other of others)
        if (isOneFirm || other.crds.size === 0) house = merge(house, other);
      for (const key of keys) byKey.set(key, houseUnder(key) ?? house);
    },
    addAdviser,
    newHouse,
    /** Applies a correction. Returns false if it meets nothing, as one of a person, who is known once records are made. */
    correct(correction: Correction): boolean {
      switch (correction.kind) {
        case "is": {
          const house = find(correction.gp);
          if (house === undefined) return false;
          house.name = correction.name;
          return true;
        }
        case "sponsor": {
          const vehicle = vehicles.find(({ cik }) => cik === correction.cik);
          const crd = correction.gp.replace(/^crd:/, "");
          const house = find(correction.gp) ?? (names.has(crd) ? addAdviser(crd) : undefined);
          if (vehicle === undefined || house === undefined) return false;
          const firm = mostFrequent(house, "firm") || names.get([...house.crds][0]!)!.legalName;
          if (houseOf.get(vehicle) !== house) remove(vehicle);
          put(vehicle, correctedBy(correction, firm), house);
          return true;
        }
        case "same": {
          const [one, other] = correction.gps.map(find);
          if (one === undefined || other === undefined) return false;
          merge(one, other);
          return true;
        }
        case "apart": {
          const house = find(correction.gp);
          const parted = [...(house?.vehicles ?? [])].filter(([{ cik }]) =>
            correction.ciks.includes(cik),
          );
          if (house === undefined || parted.length === 0) return false;
          const other = newHouse();
          for (const [vehicle, { firm }] of parted) {
            remove(vehicle);
            put(vehicle, correctedBy(correction, firm), other);
          }
          return true;
        }
        default:
          return false;
      }
    },
    gps(): ResolvedGp[] {
      const gps = [...houses].map((house): ResolvedGp => {
        const vehicles = [...house.vehicles.keys()].sort((a, b) => (a.cik < b.cik ? -1 : 1));
        const crds = [...house.crds].sort(byNumber);
        const adviser = names.get(crds[0] ?? "");
        const evidence = bestOf(vehicles.map((vehicle) => house.vehicles.get(vehicle)!));
        const gp: ResolvedGp = {
          key: keyOf(house),
          name: house.name ?? (adviser ? readable(adviser.name) : mostFrequent(house, "name")),
          legalName: adviser?.legalName ?? mostFrequent(house, "firm"),
          crds,
          vehicles,
          evidence: adviser === undefined ? evidence : null,
          isRenamed: house.name !== null,
        };
        for (const [vehicle, found] of house.vehicles) vehicle.link = { gp, evidence: found };
        return gp;
      });
      return gps.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
  };
}

const byNumber = (a: string, b: string) => Number(a) - Number(b);

/** Returns the spelling that most vehicles' evidence has; of equals the first by bytes. */
function mostFrequent({ vehicles }: House, part: "name" | "firm"): string {
  const counts = new Map<string, number>();
  for (const evidence of vehicles.values())
    counts.set(evidence[part], (counts.get(evidence[part]) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))[0]?.[0] ?? "";
}

/** Returns keys of which vehicles of one house share at least one. */
function houseKeys({ filings }: Vehicle, { stem, firm }: Candidate): string[] {
  const own = (value: string) => `${stem}|${value}`;
  const keys = filings.flatMap(({ addressHash, people }) => [
    ...(addressHash === null ? [] : [own(addressHash)]),
    ...people.map(own),
  ]);
  const { state } = filings.at(-1)!;
  const name = stem.includes(" ") ? stem : firmKey(firm);
  return [...new Set([...keys, ...(state === null ? [] : [`${name}|in ${state}`])])].sort();
}

/** Joins vehicles that nothing names to those with which they share an address and a person. */
function joinClusters(vehicles: readonly Vehicle[], houses: Houses): void {
  const placed = vehicles.flatMap((vehicle) =>
    vehicle.filings.map(({ addressHash, people }) => ({ vehicle, addressHash, people })),
  );
  const uses = new Map<string | null, number>();
  for (const { addressHash, people } of placed)
    for (const key of [addressHash, ...people]) uses.set(key, (uses.get(key) ?? 0) + 1);
  const isOwn = (key: string) => uses.get(key)! <= hubFilings;
  const shared = new Map<string, Set<Vehicle>>();
  for (const { vehicle, addressHash, people } of placed)
    if (addressHash !== null && isOwn(addressHash))
      for (const person of people.filter(isOwn)) add(shared, `${addressHash}|${person}`, vehicle);
  for (const group of connected(shared.values())) {
    const [unnamed, named] = [false, true].map((is) =>
      group.filter((vehicle) => houses.houseOf.has(vehicle) === is),
    ) as [Vehicle[], Vehicle[]];
    const [house, ...others] = new Set(named.map((vehicle) => houses.houseOf.get(vehicle)!));
    if (unnamed.length === 0 || others.length > 0) continue;
    const firm = house?.vehicles.get(named[0]!)!.firm ?? commonBeginning(unnamed);
    if (firm === null) continue;
    const joined = house ?? houses.newHouse();
    for (const vehicle of unnamed) {
      const filing = vehicle.filings.at(-1)!;
      const evidence = candidateOf(filing, {
        basis: "cluster",
        field: "RELATEDPERSONS",
        text: filing.name,
        firm,
        why: "it shares an address and a person with other vehicles of the firm",
      });
      houses.put(vehicle, evidence, joined);
    }
  }
}

/** Returns the groups of vehicles that are connected by sets they are in together, each by CIK. */
function connected(sets: Iterable<ReadonlySet<Vehicle>>): Vehicle[][] {
  const groupOf = new Map<Vehicle, Set<Vehicle>>();
  for (const set of sets) {
    const joined = new Set<Vehicle>();
    for (const vehicle of set) for (const one of groupOf.get(vehicle) ?? [vehicle]) joined.add(one);
    for (const vehicle of joined) groupOf.set(vehicle, joined);
  }
  return [...new Set(groupOf.values())]
    .filter((group) => group.size > 1)
    .map((group) => [...group].sort((a, b) => (a.cik < b.cik ? -1 : 1)));
}

/** Returns the words with which the names of all vehicles begin, or null if they name nobody. */
function commonBeginning(vehicles: readonly Vehicle[]): string | null {
  const names = vehicles.map(({ filings }) => filings.at(-1)!.name);
  if (names.length < 2 || names.some(isAddressLike)) return null;
  const [first = [], ...others] = names.map((name) => name.split(/\s+/));
  let length = 0;
  const sameAt = (words: readonly string[]) => fold(words[length] ?? "") === fold(first[length]!);
  while (length < first.length && others.every(sameAt)) length++;
  const beginning = first
    .slice(0, length)
    .join(" ")
    .replace(/[\s,&-]+$/, "");
  const words = stemOf(beginning).split(" ");
  return ownWords(beginning).length > 0 && (words.length > 1 || words[0]!.length > 4)
    ? beginning
    : null;
}

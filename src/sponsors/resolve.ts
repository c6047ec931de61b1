/**
 * Resolves sponsors: finds out which firm is behind each issuer, and which firms are one GP.
 *
 * 1. Every filing is classified. Real-estate filings are grouped by issuer: each issuer is a vehicle, with one CIK.
 * 2. The best evidence, if sure enough, decides who is a vehicle's sponsor: a correction; the file number of its
 *    offering in an adviser's Form ADV; a firm named in a text, among related persons or as the master of a series; or
 *    a fund of the vehicle's name in only one adviser's Form ADV, if a second fact agrees.
 * 3. Firms become GPs. Firms with a common stem are one GP if they share an address or person. In one state, a stem of
 *    several words or an equal name is enough. A firm is an adviser if only one adviser in its state has its name. Only
 *    a correction merges two CRD numbers into one GP.
 * 4. Vehicles without a named sponsor join a GP if its vehicles, and no other GP's, share an address and a person with
 *    them. Several that share both form a GP if no GP's vehicles do. It takes its name from their common first words.
 * 5. Advisers that invest in real estate are GPs even without a vehicle. The feed of firms alone makes nobody a GP.
 *
 * The result depends on the rows alone, not on their order.
 */
import { fold } from "#records/fold.ts";
import type { Correction } from "#filings/corrections.ts";
import type { Filings, FormD } from "#filings/rows.ts";
import { investsInRealEstate } from "./classify.ts";
import { type Candidate, candidateOf, correctionOf } from "./evidence.ts";
import {
  baseName,
  firmKey,
  isAddressLike,
  mostFrequent,
  ownWords,
  professionIn,
  readable,
  stemOf,
} from "./names.ts";
import {
  type Advisers,
  bestOf,
  indexAdvisers,
  readVehicles,
  type PlacedVehicle,
  type ResolvedGp,
  type Vehicle,
  weigh,
} from "./vehicles.ts";

export interface Resolution {
  /** GPs in order of key. */
  gps: readonly ResolvedGp[];
  /** Real-estate vehicles, in order of CIK. */
  vehicles: readonly Vehicle[];
  /** Number of filings left out, by reason. */
  leftOut: ReadonlyMap<string, number>;
  /** Corrections that matched nothing. Those of persons are settled only after all records are made. */
  unmet: Set<Correction>;
  /** Returns all candidates from a vehicle's filings, those of the latest first. @param filings oldest first. */
  candidatesOf: (filings: readonly FormD[]) => Candidate[];
}

export interface ResolveOptions {
  minConfidence: number;
  /** Returns the public id that a key gets when it is first published. */
  publicId: (kind: "gp" | "principal", key: string) => string;
}

export function resolveSponsors(filings: Filings, options: ResolveOptions): Resolution {
  const advisers = indexAdvisers(filings);
  const { vehicles, leftOut } = readVehicles(filings, advisers);
  const houses = openHouses(options, advisers, vehicles);
  for (const vehicle of vehicles)
    if (vehicle.best !== null && vehicle.best.confidence >= options.minConfidence)
      houses.add(vehicle, vehicle.best);
  const forms = vehicles.flatMap((vehicle) => vehicle.filings);
  const files = new Set(forms.flatMap(({ fileNumber }) => fileNumber ?? []));
  const fundNames = new Set(forms.map(({ name }) => fold(name)));
  for (const filed of filings.advisers()) {
    const latest = filed.at(-1)!;
    const isGp = investsInRealEstate(latest, { files, fundNames });
    if (isGp && professionIn(latest.legalName) === null) houses.addAdviser(latest.crd);
  }
  joinClusters(vehicles, houses);
  const early = filings.corrections.filter((one) => !houses.correct(one));
  // A later correction may have made the GP that an earlier one is about.
  const unmet = new Set(early.filter((one) => !houses.correct(one)));
  const gps = houses.gps();
  // Facts that are no longer needed take up about half of the memory.
  for (const vehicle of vehicles as Vehicle[]) {
    vehicle.filings = vehicle.filings.map(({ accession }) => ({ accession }));
    vehicle.best = null;
  }
  return { gps, vehicles, leftOut, unmet, candidatesOf: weigherOf(advisers) };
}

// A closure inside `resolveSponsors` would keep all houses in memory.
const weigherOf = (advisers: Advisers) => (filings: readonly FormD[]) =>
  filings.toReversed().flatMap((filing) => weigh(filing, advisers));

/** A GP in the making. */
interface House {
  /** House that this one was merged into; null if it was not merged. */
  into: House | null;
  crds: Set<string>;
  /** Name that a correction gave it; null if none did. */
  name: string | null;
}

const crdKey = (crd: string) => `crd:${crd}`;
const cikKey = ({ cik }: Vehicle) => `cik:${cik}`;
const byNumber = (a: string, b: string) => Number(a) - Number(b);

/** Keeps the houses found so far. `add` merges those that share a key. */
function openHouses(
  { publicId }: ResolveOptions,
  { names }: Advisers,
  vehicles: readonly PlacedVehicle[],
) {
  /** Houses by the keys of their advisers and vehicles, and by the keys that their vehicles share. */
  const byKey = new Map<string, House>();
  const evidenceOf = new Map<PlacedVehicle, Candidate>();
  const newHouse = (): House => ({ into: null, crds: new Set(), name: null });

  function houseUnder(key: string): House | undefined {
    let house = byKey.get(key);
    // Halving the path makes later look-ups shorter.
    while (house?.into) house = house.into = house.into.into ?? house.into;
    return house;
  }

  const houseOf = (vehicle: PlacedVehicle) => houseUnder(cikKey(vehicle));

  function merge(one: House, other: House): void {
    if (one === other) return;
    for (const crd of other.crds) one.crds.add(crd);
    one.name ??= other.name;
    other.into = one;
  }

  function put(vehicle: PlacedVehicle, evidence: Candidate, house: House): void {
    byKey.set(cikKey(vehicle), house);
    evidenceOf.set(vehicle, evidence);
  }

  function addAdviser(crd: string): House {
    const house = houseUnder(crdKey(crd)) ?? newHouse();
    house.crds.add(crd);
    byKey.set(crdKey(crd), house);
    return house;
  }

  const keysById = new Map<string, string>();

  /** Returns the key for an id, which may be the key itself or its public id. Returns "" if there is none. */
  function keyOf(id: string): string {
    if (keysById.size === 0)
      for (const key of [...names.keys().map(crdKey), ...vehicles.map(cikKey)])
        keysById.set(key, key).set(publicId("gp", key), key);
    return keysById.get(id) ?? "";
  }

  const find = (id: string) => houseUnder(keyOf(id));

  const isClustered = (one: PlacedVehicle) => evidenceOf.get(one)!.basis === "cluster";
  const firmsOf = (some: readonly PlacedVehicle[]): string[] =>
    some.map((vehicle) => evidenceOf.get(vehicle)!.firm);

  return {
    houseOf,
    evidenceOf,
    newHouse,
    put,
    addAdviser,
    /**
     * Adds a vehicle with its best evidence, and merges the houses that share a key with it. Houses with a CRD number
     * other than the evidence's stay apart if two CRD numbers would be merged.
     */
    add(vehicle: PlacedVehicle, evidence: NonNullable<PlacedVehicle["best"]>): void {
      const keys = houseKeys(vehicle, evidence);
      const own = evidence.crd === null ? [] : [addAdviser(evidence.crd)];
      const found = new Set([...own, ...keys.flatMap((key) => houseUnder(key) ?? [])]);
      const isOneFirm = new Set([...found].flatMap(({ crds }) => [...crds])).size < 2;
      const [house = newHouse(), ...others] = [...found].filter(
        (one) => isOneFirm || own.includes(one) || one.crds.size === 0,
      );
      for (const other of others) merge(house, other);
      put(vehicle, evidence, house);
      for (const key of keys) byKey.set(key, houseUnder(key) ?? house);
    },
    /** Applies a correction. Returns false if it matches nothing yet. People are matched when records are made. */
    correct(correction: Correction): boolean {
      switch (correction.kind) {
        case "is": {
          const house = find(correction.gp);
          if (house !== undefined) house.name = correction.name;
          return house !== undefined;
        }
        case "sponsor": {
          const vehicle = vehicles.find(({ cik }) => cik === correction.cik);
          const [, crd] = keyOf(correction.gp).split("crd:");
          const house = find(correction.gp) ?? (crd && addAdviser(crd));
          if (!vehicle || !house) return false;
          const others = vehicles.filter((one) => houseOf(one) === house);
          const [lowest = ""] = [...house.crds].sort(byNumber);
          const firm = names.get(lowest)?.legalName ?? mostFrequent(firmsOf(others));
          put(vehicle, correctionOf(correction, firm), house);
          return true;
        }
        case "same": {
          const [one, other] = correction.gps.map(find);
          if (one && other) merge(one, other);
          return one !== undefined && other !== undefined;
        }
        case "apart": {
          const house = find(correction.gp);
          const parted = vehicles.filter(
            (one) => correction.ciks.includes(one.cik) && house && houseOf(one) === house,
          );
          const other = newHouse();
          for (const vehicle of parted)
            put(vehicle, correctionOf(correction, evidenceOf.get(vehicle)!.firm), other);
          return parted.length > 0;
        }
        default:
          return false;
      }
    },
    /** Turns the houses into GPs, and links their vehicles to them. */
    gps(): ResolvedGp[] {
      const named = vehicles.filter((vehicle) => evidenceOf.has(vehicle));
      const byHouse = Map.groupBy(named, (vehicle) => houseOf(vehicle)!);
      for (const [crd, { isFiled }] of names) {
        const house = isFiled ? houseUnder(crdKey(crd)) : undefined;
        if (house !== undefined) byHouse.getOrInsertComputed(house, () => []);
      }
      const gps = Array.from(byHouse, ([house, own]): ResolvedGp => {
        const crds = [...house.crds].sort(byNumber);
        const adviser = names.get(crds[0] ?? "");
        const gp: ResolvedGp = {
          key: crds[0] === undefined ? cikKey(own[0]!) : crdKey(crds[0]),
          name:
            house.name ??
            (adviser ? readable(adviser.name) : mostFrequent(firmsOf(own).map(baseName))),
          // The common first words of vehicles' names are nobody's legal name.
          legalName:
            adviser?.legalName ?? (own.every(isClustered) ? null : mostFrequent(firmsOf(own))),
          crds,
          vehicles: own,
          evidence: adviser ? null : bestOf(own.map((vehicle) => evidenceOf.get(vehicle)!)),
          isRenamed: house.name !== null,
        };
        for (const vehicle of own) vehicle.link = { gp, evidence: evidenceOf.get(vehicle)! };
        return gp;
      });
      return gps.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
  };
}

/** Returns the keys of a vehicle. Vehicles that share one belong to one house, unless that would merge CRD numbers. */
function houseKeys({ filings }: PlacedVehicle, { stem, firm }: Candidate): string[] {
  const own = (value: string) => `${stem}|${value}`;
  const keys = filings.flatMap(({ addressHash, people }) => [
    ...(addressHash === null ? [] : [own(addressHash)]),
    ...people.map(own),
  ]);
  const { state } = filings.at(-1)!;
  const name = stem.includes(" ") ? stem : firmKey(firm);
  return [...new Set([...keys, ...(state === null ? [] : [`${name}|in ${state}`])])].sort();
}

/** Maximum number of filings with one address or person. One in more filings is probably a service firm's. */
const hubFilings = 60;

/** Applies step 4: joins vehicles without a named sponsor to a GP, by an address and a person that they share. */
function joinClusters(
  vehicles: readonly PlacedVehicle[],
  houses: ReturnType<typeof openHouses>,
): void {
  const placed = vehicles.flatMap((vehicle) =>
    vehicle.filings.map(({ addressHash, people }) => ({ vehicle, addressHash, people })),
  );
  const uses = new Map<string | null, number>();
  for (const { addressHash, people } of placed)
    for (const key of [addressHash, ...people]) uses.set(key, (uses.get(key) ?? 0) + 1);
  const isOwn = (key: string) => uses.get(key)! <= hubFilings;
  const shared = new Map<string, Set<PlacedVehicle>>();
  for (const { vehicle, addressHash, people } of placed)
    if (addressHash !== null && isOwn(addressHash))
      for (const person of people.filter(isOwn))
        shared.getOrInsertComputed(`${addressHash}|${person}`, () => new Set()).add(vehicle);
  for (const group of connected(shared.values())) {
    const unnamed = group.filter((vehicle) => houses.houseOf(vehicle) === undefined);
    const named = group.filter((vehicle) => !unnamed.includes(vehicle));
    const [house, ...others] = new Set(named.map((vehicle) => houses.houseOf(vehicle)!));
    if (unnamed.length === 0 || others.length > 0) continue;
    const firm = named[0] ? houses.evidenceOf.get(named[0])!.firm : commonBeginning(unnamed);
    if (firm === null) continue;
    const joined = house ?? houses.newHouse();
    for (const vehicle of unnamed) {
      const { accession, name } = vehicle.filings.at(-1)!;
      const evidence = candidateOf(accession, {
        basis: "cluster",
        field: "ENTITYNAME",
        text: name,
        firm,
        why: "it shares an address and a person with other vehicles of the firm",
      });
      houses.put(vehicle, evidence, joined);
    }
  }
}

/** Returns the groups of vehicles that overlapping sets connect, each sorted by CIK. Leaves out single vehicles. */
function connected(sets: Iterable<ReadonlySet<PlacedVehicle>>): PlacedVehicle[][] {
  const groupOf = new Map<PlacedVehicle, Set<PlacedVehicle>>();
  for (const set of sets) {
    const joined = new Set<PlacedVehicle>();
    for (const vehicle of set) for (const one of groupOf.get(vehicle) ?? [vehicle]) joined.add(one);
    for (const vehicle of joined) groupOf.set(vehicle, joined);
  }
  return [...new Set(groupOf.values())]
    .filter((group) => group.size > 1)
    .map((group) => [...group].sort((a, b) => (a.cik < b.cik ? -1 : 1)));
}

/** Returns the words that begin all vehicles' names. Returns null for one vehicle, an address or unspecific words. */
function commonBeginning(vehicles: readonly PlacedVehicle[]): string | null {
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

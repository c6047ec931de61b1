/** Invents GPs. They are numbered by prominence: the first have the most money, people, projects and signals. */
import type { CanonicalGp } from "#records/canonical.ts";
import { someFoundedYear, someHeadOffice, someMetros, someStrategies } from "./businesses.ts";
import type { InventedGp } from "./cast.ts";
import { inventFilings } from "./filings.ts";
import { hostOf, inventName, type GpName } from "./gp-names.ts";
import { gpRecordOf } from "./gp-record.ts";
import { metros, someMetro, type Metro } from "./places.ts";
import { chance, logNormal, pickSome, startRandom, whole, type Random } from "./random.ts";
import { someSpecialty, type Specialty } from "./specialties.ts";

/** What the GPs so far have taken, and where they are. */
interface Register {
  names: Set<string>;
  formDFileCount: number;
  areas: ReadonlyMap<Metro, InventedGp[]>;
}

/** Makes the function that invents GP after GP, by number from 1, and adds each to `gps`. */
export function gpInventor(seed: number, gps: InventedGp[]): (number: number) => CanonicalGp {
  const random = startRandom(seed, "gps");
  const areas = new Map(metros.map((metro) => [metro, []]));
  const register: Register = { names: new Set(), formDFileCount: 0, areas };
  return (number) => {
    const { gp, record } = inventGp(random, number, register);
    gps.push(gp);
    return record;
  };
}

function inventGp(
  random: Random,
  number: number,
  register: Register,
): { gp: InventedGp; record: CanonicalGp } {
  const specialty = someSpecialty(random);
  const gpName = freeName(random, specialty, register.names);
  const filings = inventFilings(random, number, register.formDFileCount, specialty);
  const home = someMetro(random);
  const neighbours = register.areas.get(home) as InventedGp[];
  const gp: InventedGp = {
    id: `gp-${number}`,
    name: gpName.name,
    stem: gpName.stem,
    city: someHeadOffice(random, gpName.country, home),
    metros: someMetros(random, home, number),
    neighbours,
    propertyTypes: specialty.main.concat(pickSome(random, specialty.also, whole(random, 0, 2))),
    strategies: someStrategies(random, specialty),
    tags: filings.tags,
    themes: pickSome(random, specialty.themes, whole(random, 0, 2)),
    formDFiles: filings.formDFiles,
    isAdviser: filings.isAdviser,
    scaleUsd: logNormal(random, 120e6 * (1 + 2400 / (60 + number)), 1.2),
    foundedYear: someFoundedYear(random),
    host: chance(random, 0.6) ? hostOf(gpName) : null,
    people: [],
    projects: [],
  };
  neighbours.push(gp);
  register.formDFileCount += gp.formDFiles.length;
  return { gp, record: gpRecordOf(random, number, gp, gpName, filings.externalIds) };
}

// Two firms of one name do happen, and a service over them has to tell them apart.
const sharedNameShare = 0.01;

function freeName(random: Random, specialty: Specialty, names: Set<string>): GpName {
  let gpName = inventName(random, specialty);
  while (names.has(gpName.name) && !chance(random, sharedNameShare))
    gpName = inventName(random, specialty);
  names.add(gpName.name);
  return gpName;
}

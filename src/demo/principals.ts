/** Invents principals: who runs a GP, with which title, since when. */
import type { CanonicalPrincipal } from "#records/canonical.ts";
import { fold } from "#records/fold.ts";
import type { principalRoles } from "#records/vocabulary.ts";
import { withNeighbours, type InventedGp } from "./cast.ts";
import { dayOf, dayText, lastDay, roughDay, someTime } from "./dates.ts";
import { someMetro, someCity } from "./places.ts";
import {
  chance,
  pick,
  pickEarly,
  startRandom,
  weighted,
  weightedKeys,
  whole,
  type Random,
} from "./random.ts";
import words from "./words.json" with { type: "json" };

/** A title, and the roles that go with it. */
interface Position {
  weight: number;
  title: string;
  roles: (typeof principalRoles)[number][];
}

const positions = words.positions as Position[];
const somePosition = weighted(positions.map((one) => [one, one.weight]));

// Enough for headlines to name different ones.
const peopleKeptMax = 4;

/** Makes the function that invents principal after principal, by number from 1; each GP gets one first. */
export function principalInventor(
  seed: number,
  gps: readonly InventedGp[],
): (number: number) => CanonicalPrincipal {
  const random = startRandom(seed, "principals");
  return (number) => {
    const employers = someEmployers(random, number, gps);
    const position = somePosition(random);
    const record = inventPrincipal(random, number, employers, position);
    const person = { name: record.name, title: position.title };
    for (const gp of employers)
      if (gp.people.length < peopleKeptMax) gp.people = gp.people.concat(person);
    return record;
  };
}

const freeShare = 0.015;
const someOtherCount = weighted([
  [0, 84],
  [1, 11],
  [2, 5],
] as const);

function someEmployers(random: Random, number: number, gps: readonly InventedGp[]): InventedGp[] {
  if (gps.length === 0 || chance(random, freeShare)) return [];
  return withNeighbours(random, gps[number - 1] ?? pickEarly(random, gps), someOtherCount(random));
}

// Beyond the numbers that the register of persons has reached.
const crdStart = 9_000_000;

function inventPrincipal(
  random: Random,
  number: number,
  gps: readonly InventedGp[],
  position: Position,
): CanonicalPrincipal {
  const name = somePersonName(random);
  const [gp] = gps;
  const city = gp?.city ?? someCity(random, someMetro(random));
  const startDay = someStartDay(random, gp?.foundedYear ?? 2010);
  const firstSeenDay = whole(random, Math.max(startDay, dayOf(2009)), lastDay);
  const lastSeenDay = whole(random, firstSeenDay, lastDay);
  return {
    record: "principal",
    id: `principal-${number}`,
    name: name.full,
    first_name: name.first,
    middle_name: name.middle,
    last_name: name.last,
    title: chance(random, 0.93) ? position.title : null,
    roles: [...position.roles],
    city: city.name,
    state: city.state,
    country: city.country,
    email: gp?.host && chance(random, 0.33) ? mailOf(name, gp.host) : null,
    linkedin_url: null,
    ownership_band:
      position.roles.includes("owner") && chance(random, 0.8) ? someBand(random) : null,
    start_date: chance(random, 0.6) ? roughDay(random, startDay) : null,
    first_seen_date: dayText(firstSeenDay),
    last_seen_date: dayText(lastSeenDay),
    external_ids: gp?.isAdviser && chance(random, 0.5) ? { crd: [String(crdStart + number)] } : {},
    gps: gps.map(({ id }) => id),
    updated_at: someTime(random, lastSeenDay),
  };
}

interface PersonName {
  full: string;
  first: string;
  middle: string | null;
  last: string;
}

const someSuffix = weightedKeys(words.nameSuffixes);
const initialLetters = "ABCDEFGHIJKLMNOPRSTVW";
function somePersonName(random: Random): PersonName {
  const first = pick(random, words.firstNames);
  const last = pick(random, words.lastNames);
  const middle = someMiddleName(random, first);
  const name = middle === null ? `${first} ${last}` : `${first} ${middle} ${last}`;
  return { full: name + someSuffix(random), first, middle, last };
}

function someMiddleName(random: Random, first: string): string | null {
  const draw = random();
  if (draw < 0.62) return null;
  if (draw < 0.9) return `${initialLetters[whole(random, 0, initialLetters.length - 1)]}.`;
  const middle = pick(random, words.firstNames);
  return middle === first ? null : middle;
}

const someBand = weightedKeys(words.ownershipBands);

/** After the GP was founded, and not before 1985. */
function someStartDay(random: Random, foundedYear: number): number {
  const span = lastDay - dayOf(Math.max(foundedYear, 1985));
  return lastDay - Math.floor(random() * span);
}

const localParts = new Map(
  [...words.firstNames, ...words.lastNames].map((name) => [name, fold(name).replaceAll(" ", "-")]),
);

const mailOf = ({ first, last }: PersonName, host: string): string =>
  `${localParts.get(first)}.${localParts.get(last)}@${host}`;

/** Invents principals: the people who run a GP, their titles and dates. */
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
const someBand = weightedKeys(words.ownershipBands);

// Enough for headlines to name different people.
const peopleKeptMax = 4;
// The register of persons has not reached these numbers.
const crdStart = 9_000_000;

/** Returns a function that invents one principal after another, by number from 1. Each GP gets one first. */
export function principalInventor(
  seed: number,
  gps: readonly InventedGp[],
): (number: number) => CanonicalPrincipal {
  const random = startRandom(seed, "principals");
  return (number) => {
    const employers = someEmployers(random, number, gps);
    const [gp] = employers;
    const { title, roles } = somePosition(random);
    const name = somePersonName(random);
    for (const { people } of employers)
      if (people.length < peopleKeptMax) people.push({ name: name.full, title });
    const city = gp?.city ?? someCity(random, someMetro(random));
    const startDay = whole(random, dayOf(Math.max(gp?.foundedYear ?? 2010, 1985)), lastDay);
    const firstSeenDay = whole(random, Math.max(startDay, dayOf(2009)), lastDay);
    const lastSeenDay = whole(random, firstSeenDay, lastDay);
    const { website = null, external_ids = {} } = gp?.record ?? {};
    return {
      record: "principal",
      id: `principal-${number}`,
      name: name.full,
      first_name: name.first,
      middle_name: name.middle,
      last_name: name.last,
      title: chance(random, 0.93) ? title : null,
      roles: [...roles],
      city: city.name,
      state: city.state,
      country: city.country,
      email: website !== null && chance(random, 0.33) ? mailOf(name, website) : null,
      linkedin_url: null,
      ownership_band: roles.includes("owner") && chance(random, 0.8) ? someBand(random) : null,
      start_date: chance(random, 0.6) ? roughDay(random, startDay) : null,
      first_seen_date: dayText(firstSeenDay),
      last_seen_date: dayText(lastSeenDay),
      external_ids:
        external_ids.crd && chance(random, 0.5) ? { crd: [String(crdStart + number)] } : {},
      gps: employers.map(({ record }) => record.id),
      updated_at: someTime(random, lastSeenDay),
    };
  };
}

const freeShare = 0.015;
const someOtherCount = weighted([
  [0, 84],
  [1, 11],
  [2, 5],
]);

function someEmployers(random: Random, number: number, gps: readonly InventedGp[]): InventedGp[] {
  if (gps.length === 0 || chance(random, freeShare)) return [];
  return withNeighbours(random, gps[number - 1] ?? pickEarly(random, gps), someOtherCount(random));
}

interface PersonName {
  full: string;
  first: string;
  middle: string | null;
  last: string;
}

const someSuffix = weightedKeys(words.nameSuffixes);

function somePersonName(random: Random): PersonName {
  const first = pick(random, words.firstNames);
  const last = pick(random, words.lastNames);
  const middle = chance(random, 0.62) ? null : `${pick(random, words.firstNames)[0]}.`;
  const name = middle === null ? `${first} ${last}` : `${first} ${middle} ${last}`;
  return { full: name + someSuffix(random), first, middle, last };
}

const mailOf = ({ first, last }: PersonName, website: string): string =>
  `${[first, last].map((name) => fold(name).replaceAll(" ", "-")).join(".")}@${new URL(website).host}`;

/** Where the invented GPs and projects are: real metropolitan areas, weighted by how much of the business is there. */
import places from "./places.json" with { type: "json" };
import { pickEarly, type Random } from "./random.ts";

export interface Metro {
  /** Title of the Census Bureau's core-based statistical area, delineation of 2015. */
  title: string;
  /** Degrees, to about a kilometre. */
  latitude: number;
  longitude: number;
  cities: readonly City[];
}

export interface City {
  name: string;
  /** Two letters; null abroad. */
  state: string | null;
  /** ISO 3166, two letters. */
  country: string;
  /** First three digits of its ZIP codes; empty abroad. */
  zipStart: string;
}

/** The largest first. */
export const metros: readonly Metro[] = places.metros.map((metro) => ({
  ...metro,
  cities: metro.cities.map(([name = "", state = "", zipStart = ""]) => {
    return { name, state, country: "US", zipStart };
  }),
}));

/** The largest come up most. */
export const someMetro = (random: Random): Metro => pickEarly(random, metros, 5);

/** A city of the area; the first has a third of its addresses or more. */
export const someCity = (random: Random, { cities }: Metro): City => pickEarly(random, cities, 5);

/** Where GPs with names in another language may have their head office, by country. */
export const citiesAbroad: ReadonlyMap<string, City> = new Map(
  Object.entries(places.citiesAbroad).map(([country, name]) => [
    country,
    { name, state: null, country, zipStart: "" },
  ]),
);

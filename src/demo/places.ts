/** Places of the invented GPs and projects: real metropolitan areas, weighted by their share of the business. */
import places from "./places.json" with { type: "json" };
import { pickEarly, type Random } from "./random.ts";

export interface Metro {
  /** Title of the Census Bureau's core-based statistical area, delineation of 2015. */
  title: string;
  /** Degrees, exact to about 1 km. */
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

/** All areas, largest first. */
export const metros: readonly Metro[] = places.metros.map((metro) => ({
  ...metro,
  cities: metro.cities.map(([name = "", state = "", zipStart = ""]) => {
    return { name, state, country: "US", zipStart };
  }),
}));

/** Draws an area; the largest come up most. */
export const someMetro = (random: Random): Metro => pickEarly(random, metros, 5);

/** Draws a city of the area; the first has at least a third of the addresses. */
export const someCity = (random: Random, { cities }: Metro): City => pickEarly(random, cities, 5);

/** Cities by country where GPs with foreign names may have their head office. */
export const citiesAbroad: ReadonlyMap<string, City> = new Map(
  Object.entries(places.citiesAbroad).map(([country, name]) => [
    country,
    { name, state: null, country, zipStart: "" },
  ]),
);

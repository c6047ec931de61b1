/** Reads the tables by which an address becomes a metropolitan area: ZIP to county, and county to area. */
import { isUtf8 } from "node:buffer";
import { CsvError, parse } from "csv-parse/sync";
import { ImportFault } from "#importers/import-fault.ts";
import { fold } from "#records/fold.ts";
import { stateCode } from "#records/us-states.ts";
import { text } from "./cells.ts";
import columns from "./geography-columns.json" with { type: "json" };
import type { Geography } from "./rows.ts";

type Kind = "zip_county" | "county_cbsa";
type Rows = readonly (readonly string[])[];

/** Lines at the beginning of a file among which its header is; files of the Census begin with a title. */
const headerLines = 5;
const delimiters = [",", "|", "\t", ";"];
const withoutHeader = /^"?\d{3,5}"?,"?\d{4,5}"?,[^,\n]*,"?[A-Z]{2}"?,/;
/** Columns of a file without a header, by its first cells. */
const orderWithoutHeader = ["zip", "county", "city", "state"];

type Column = "zip" | "county" | "city" | "state" | "weight" | "title" | "stateFips" | "countyFips";

/** Where the columns of a table are, and on which line its rows begin, counted from 0. */
interface Layout {
  kind: Kind;
  delimiter: string;
  begin: number;
  places: Partial<Record<Column, number>>;
}

/** Returns the layout of a table of ZIPs or counties by its beginning. Returns undefined for another file. */
export function geographyLayout(beginning: string): Layout | undefined {
  const lines = beginning.split(/\r?\n/, headerLines);
  if (withoutHeader.test(beginning)) {
    const places = Object.fromEntries(orderWithoutHeader.map((name, at) => [name, at]));
    return { kind: "zip_county", delimiter: ",", begin: 0, places };
  }
  for (const [at, line] of lines.entries()) {
    const delimiter = delimiters.find((one) => line.includes(one)) ?? ",";
    const names = line.split(delimiter).map((name) => fold(name).replaceAll(" ", ""));
    const found = Object.entries(columns.aliases).flatMap(([name, aliases]) => {
      const place = aliases.map((alias) => names.indexOf(alias)).find((one) => one >= 0);
      return place === undefined ? [] : [[name, place] as const];
    });
    const places = Object.fromEntries(found) as Layout["places"];
    const has = (...wanted: Column[]) => wanted.every((name) => places[name] !== undefined);
    const layout = { delimiter, begin: at + 1, places };
    if (has("title", "stateFips", "countyFips") || has("title", "county"))
      return { kind: "county_cbsa", ...layout };
    const row = lines[at + 1]?.split(delimiter).map((cell) => cell.replaceAll('"', "").trim());
    // Many other tables have a ZIP code and the name of a county.
    if (has("zip", "county") && /^\d{4,5}$/.test(row?.[places.county!] ?? ""))
      return { kind: "zip_county", ...layout };
  }
  return undefined;
}

/** A county that a ZIP or a city touches, and how much of it lies there. */
type Shares = Map<string, Map<string, number>>;

export interface GeographyTables extends Geography {
  /** Adds a table. @throws ImportFault if it is damaged or has no row. */
  add(bytes: Buffer, file: string, layout: Layout): void;
}

/** Opens empty tables. What they say depends on the tables that are added, and not on their order. */
export function openGeography(): GeographyTables {
  const zips: Shares = new Map();
  const cities: Shares = new Map();
  const titles = new Map<string, string>();
  const addZip = (cell: (name: Column) => string | null, order: number) => {
    const zip = cell("zip")?.padStart(5, "0").slice(0, 5);
    const county = cell("county")?.padStart(5, "0");
    if (zip === undefined || county === undefined || !/^\d{10}$/.test(zip + county)) return false;
    // Without a weight, the county that is listed first counts most.
    addShare(
      zips,
      zip,
      county,
      Number(cell("weight")?.replaceAll(",", "")) || 1 / (order + 2e9),
      Math.max,
    );
    const [city, state] = [cell("city"), stateCode(cell("state") ?? "")];
    if (city !== null && state !== undefined)
      addShare(cities, `${fold(city)},${state}`, county, 1, (a, b) => a + b);
    return true;
  };
  const addTitle = (cell: (name: Column) => string | null) => {
    const whole =
      cell("county") ??
      `${cell("stateFips")?.padStart(2, "0")}${cell("countyFips")?.padStart(3, "0")}`;
    const county = whole.padStart(5, "0");
    const title = cell("title");
    if (title === null || !/^\d{5}$/.test(county)) return false;
    const known = titles.get(county);
    if (known === undefined || title < known) titles.set(county, title);
    return true;
  };
  return {
    add(bytes, file, { kind, delimiter, begin, places }) {
      let taken = 0;
      for (const [order, row] of readRows(bytes, file, delimiter).slice(begin).entries()) {
        const cell = (name: Column) => {
          const at = places[name];
          return at === undefined ? null : text(row[at]);
        };
        if (kind === "zip_county" ? addZip(cell, order) : addTitle(cell)) taken++;
      }
      if (taken === 0)
        throw new ImportFault(
          file,
          null,
          "has columns of ZIP codes or counties, but no row with them; download it again",
        );
    },
    marketOf({ zip, city, state, country }) {
      if (country !== null && country !== "US") return null;
      const byZip = zip === null ? undefined : largest(zips.get(zip.slice(0, 5)));
      const byCity = () =>
        city === null || state === null ? undefined : largest(cities.get(`${fold(city)},${state}`));
      const county = byZip ?? byCity();
      return county === undefined ? null : (titles.get(county) ?? null);
    },
  };
}

function addShare(
  shares: Shares,
  key: string,
  county: string,
  weight: number,
  join: (a: number, b: number) => number,
): void {
  let counties = shares.get(key);
  if (counties === undefined) shares.set(key, (counties = new Map()));
  const known = counties.get(county);
  counties.set(county, known === undefined ? weight : join(known, weight));
}

/** Returns the county with the largest share, of equal ones the lowest. */
function largest(counties: ReadonlyMap<string, number> | undefined): string | undefined {
  let best: string | undefined;
  let most = 0;
  for (const [county, weight] of counties ?? [])
    if (weight > most || (weight === most && best !== undefined && county < best))
      [best, most] = [county, weight];
  return best;
}

function readRows(bytes: Buffer, file: string, delimiter: string): Rows {
  const written = isUtf8(bytes)
    ? bytes.toString("utf8")
    : new TextDecoder("windows-1252").decode(bytes);
  try {
    return parse(written, {
      delimiter,
      relax_quotes: true,
      relax_column_count: true,
      bom: true,
    }) as string[][];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new ImportFault(
      file,
      Number(error["lines"] ?? 1),
      "has a quote that is never closed; the file may be cut off: download it again",
    );
  }
}

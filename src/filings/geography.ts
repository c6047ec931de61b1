/** Reads the tables by which an address becomes a metropolitan area: ZIP to county, and county to area. */
import { CsvError, parse } from "csv-parse/sync";
import { ImportFault } from "#importers/import-fault.ts";
import { fold } from "#records/fold.ts";
import { stateCode } from "#records/us-states.ts";
import { decoded, text } from "./cells.ts";
import columns from "./geography-columns.json" with { type: "json" };
import type { Geography } from "./rows.ts";

/** Lines at the beginning of a file among which its header is; files of the Census begin with a title. */
const headerLines = 5;
const delimiters = [",", "|", "\t", ";"];
const withoutHeader = /^"?\d{3,5}"?,"?\d{4,5}"?,[^,\n]*,"?[A-Z]{2}"?(?:[,\r\n]|$)/;

type Column = keyof typeof columns.aliases;

/** Kind of table, the places of its columns, and the line on which its rows begin, counted from 0. */
interface Layout {
  kind: "zip_county" | "county_cbsa";
  delimiter: string;
  begin: number;
  places: Partial<Record<Column, number>>;
}

/** Returns the layout of a table of ZIPs or counties by its beginning. Returns undefined for another file. */
export function geographyLayout(beginning: string): Layout | undefined {
  if (withoutHeader.test(beginning)) {
    const places = { zip: 0, county: 1, city: 2, state: 3 };
    return { kind: "zip_county", delimiter: ",", begin: 0, places };
  }
  const lines = beginning.split(/\r?\n/, headerLines + 1);
  for (const [at, line] of lines.slice(0, headerLines).entries()) {
    const delimiter = delimiters.find((one) => line.includes(one)) ?? ",";
    const names = line.split(delimiter).map((name) => fold(name).replaceAll(" ", ""));
    const places: Layout["places"] = {};
    for (const [column, aliases] of Object.entries(columns.aliases))
      for (const alias of aliases.toReversed())
        if (names.includes(alias)) places[column as Column] = names.indexOf(alias);
    const layout = { delimiter, begin: at + 1, places };
    const { zip, county, title, countyFips = county } = places;
    if (title !== undefined && countyFips !== undefined) return { kind: "county_cbsa", ...layout };
    // Many other tables have a ZIP code and the name of a county.
    const value = lines[at + 1]?.split(delimiter)[county ?? -1]?.replaceAll(/["\s]/g, "");
    if (zip !== undefined && /^\d{4,5}$/.test(value ?? ""))
      return { kind: "zip_county", ...layout };
  }
  return undefined;
}

/** How much of a ZIP code or a city lies in each county. */
type Shares = Map<string, Map<string, number>>;

/** Most characters of a market of a record. */
const titleLengthMax = 100;

/** Opens empty tables. What they say depends on the tables that are added, and not on their order. */
export function openGeography() {
  const zips: Shares = new Map();
  const cities: Shares = new Map();
  const titles = new Map<string, string>();
  const cityKey = (city: string, state: string) => `${fold(city)},${state}`;
  type CellOf = (name: Column) => string | null;
  const addZip = (cell: CellOf, order: number) => {
    const zip = cell("zip")?.padStart(5, "0").slice(0, 5);
    const county = cell("county")?.padStart(5, "0");
    if (zip === undefined || county === undefined || !/^\d{10}$/.test(zip + county)) return false;
    // Without a weight, the county that is listed first counts most.
    const weight = Number(cell("weight")?.replaceAll(",", "")) || 1 / (order + 2e9);
    addShare(zips, zip, county, (known) => Math.max(known, weight));
    const [city, state] = [cell("city"), stateCode(cell("state") ?? "")];
    if (city !== null && state !== undefined)
      addShare(cities, cityKey(city, state), county, (known) => known + 1);
    return true;
  };
  const addTitle = (cell: CellOf) => {
    const [state, inState, title] = [cell("stateFips"), cell("countyFips"), cell("title")];
    const parts = state === null ? null : `${state.padStart(2, "0")}${inState?.padStart(3, "0")}`;
    const county = (parts ?? cell("county") ?? "").padStart(5, "0");
    const isTitle = title !== null && title.length <= titleLengthMax && fold(title) !== "";
    if (!isTitle || !/^\d{5}$/.test(county)) return false;
    const known = titles.get(county);
    if (known === undefined || title < known) titles.set(county, title);
    return true;
  };
  return {
    /** Adds a table. @throws ImportFault if it is damaged or has no row. */
    add(bytes: Buffer, file: string, { kind, delimiter, begin, places }: Layout): void {
      const take = kind === "zip_county" ? addZip : addTitle;
      const taken = readRows(bytes, file, delimiter)
        .slice(begin)
        .filter((row, order) => take((name) => text(row[places[name] ?? -1]), order));
      if (taken.length > 0) return;
      const reason =
        "has columns of ZIP codes or counties, but no row with them; download it again";
      throw new ImportFault(file, null, reason);
    },
    marketOf({ zip, city, state, country }: Parameters<Geography["marketOf"]>[0]): string | null {
      if (country !== null && country !== "US") return null;
      const county =
        largest(zips.get(zip?.slice(0, 5) ?? "")) ??
        largest(cities.get(cityKey(city ?? "", state ?? "")));
      return titles.get(county ?? "") ?? null;
    },
  };
}

function addShare(
  shares: Shares,
  key: string,
  county: string,
  next: (known: number) => number,
): void {
  const counties = shares.get(key) ?? new Map<string, number>();
  shares.set(key, counties.set(county, next(counties.get(county) ?? 0)));
}

/** Returns the county with the largest share, of equal ones the lowest. */
const largest = (counties: ReadonlyMap<string, number> = new Map()): string | undefined =>
  [...counties].sort(([a, share], [b, other]) => other - share || Number(a) - Number(b))[0]?.[0];

function readRows(bytes: Buffer, file: string, delimiter: string): string[][] {
  try {
    return parse(decoded(bytes), { delimiter, relax_quotes: true, relax_column_count: true });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const reason = "has a quote that is never closed; the file may be cut off: download it again";
    throw new ImportFault(file, Number(error["lines"] ?? 1), reason);
  }
}

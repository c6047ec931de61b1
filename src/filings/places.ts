/** Reduces addresses to places without streets, and finds metropolitan areas in tables of ZIP codes and counties. */
import { hash } from "node:crypto";
import { CsvError, parse } from "csv-parse/sync";
import { titleCase } from "#importers/cells.ts";
import { ImportFault } from "#importers/import-fault.ts";
import { fold } from "#records/fold.ts";
import { stateCode, usStates } from "#records/us-states.ts";
import { decoded, text } from "./cells.ts";
import edgar from "./edgar-places.json" with { type: "json" };
import columns from "./geography-columns.json" with { type: "json" };
import words from "./street-words.json" with { type: "json" };

/** Address as filed; blanks are null or missing. `Place` says what is kept of its streets. */
interface Address {
  streets: readonly (string | null | undefined)[];
  city: string | null | undefined;
  /** USPS or EDGAR code, or the name of a state or country. */
  stateOrCountry: string | null | undefined;
  /** Name of the country, if the filing has a cell for it. */
  country?: string | null | undefined;
  zip: string | null | undefined;
}

/** Address without streets. */
export interface Place {
  city: string | null;
  /** USPS code of a US state; null outside the US, or if the filing names no known state. */
  state: string | null;
  /** ISO 3166-1 alpha-2 code; null if the filing names no known country or state. */
  country: string | null;
  zip: string | null;
  /** Hash of the folded street (without suite) and ZIP, with a new salt for each import; null without a street. */
  addressHash: string | null;
  /** Firm named in a street line, such as `Acme Management LLC` in `C/O Acme Management LLC`; null if there is none. */
  firmInStreet: string | null;
}

export type PlaceReader = (address: Address) => Place;

type Region = Pick<Place, "state" | "country">;

const codes: readonly (readonly [string, readonly string[]])[] = Object.entries(edgar.codes);
const regions = new Map<string, Region>([
  ...Object.keys(usStates).map((code) => [code, { state: code, country: "US" }] as const),
  ...codes.map(([code, [country = null, , state = null]]) => [code, { state, country }] as const),
]);
/** ISO codes by folded name of a country. */
const countries = new Map<string, string>([
  ...codes.map(([, [country = "", name = ""]]) => [fold(name), country] as const),
  ...Object.entries(edgar.names),
]);

function regionOf(code: string | null, country: string | null): Region {
  const named = country === null ? null : (countries.get(fold(country)) ?? null);
  // Outside the US, a code such as `GA` means something other than Georgia.
  if (country !== null && named !== "US") return { state: null, country: named };
  if (code === null) return { state: null, country: named };
  const state = stateCode(code) ?? null;
  return (
    regions.get(code.toUpperCase()) ?? {
      state,
      country: state === null ? (named ?? countries.get(fold(code)) ?? null) : "US",
    }
  );
}

const anyOf = (list: readonly string[]) => `(?:${list.join("|")})`;
const { legalForms, firmWords, streetWords, suites } = words;
const legalForm = new RegExp(`^(.*?[a-z].* ${anyOf(legalForms)})(?![a-z0-9])`);
const endsInFirmWord = new RegExp(` ${anyOf(firmWords)}$`);
const streetWord = new RegExp(`(?:^| )${anyOf(streetWords)}(?: |$)`);
const suite = new RegExp(`(?:^| )(?:${anyOf(suites)} |\\d+(?:st|nd|rd|th) fl\\w*$).*$`);
const careOf = /(?:^|[\s,;(])(?:c\s*\/\s*o|care of)[\s:.]+(.*)$/i;
const attention = /(?:^|[\s,;(])attn\b/i;
const street = /[,;](?=\s*(?:\d|suite|ste|p\.?\s?o\.?))/i;
const abbreviations = new Map(Object.entries(words.abbreviations));

/** Returns the firm named in an address line. Returns null for a street, and for a person after `c/o`. */
export function firmIn(line: string): string | null {
  const cared = careOf.exec(line)?.[1];
  const [first = ""] = (cared ?? line).split(street).map((part) => part.trim());
  const folded = fold(first);
  if (endsInFirmWord.test(folded) && !streetWord.test(folded)) return first;
  const form = legalForm.exec(folded)?.[1];
  if (form !== undefined) return cutAfter(first, form);
  // A person has at least two names, so a single word after `c/o` is a firm.
  return cared !== undefined && /^[a-z][a-z0-9]{3,}$/.test(folded) ? first : null;
}

/** Returns the shortest beginning of a text that folds to the given words, or the whole text if none does. */
function cutAfter(written: string, folded: string): string {
  const ends = Array.from(written.matchAll(/[\s,;]|$/g), ({ index }) => index);
  const end = ends.find((one) => one > 0 && fold(written.slice(0, one)) === folded);
  return written.slice(0, end);
}

const unit = String.raw`[\s,]{1,3}(?:${anyOf(suites)}\b\.?\s?#?|#)\s?[\w-]{1,9}`;
/** Pattern of a street or PO box in a text, with its suite. `250 Park Avenue Partners` is a firm and does not match. */
const streetInText = new RegExp(
  String.raw`\s{0,3}(?:\b(?:(?:residing|located) )?at )?(?:(?<![\w-])\d[\w-]{0,9}\s(?:[\w.'’-]{1,30}\s){1,4}?${anyOf(streetWords)}\b\.?(?:\s(?:[ns]\.?[ew]?|[ew])\b\.?)?|\bp\.?\s?o\.?\sbox\s\w{1,9})(?:${unit}){0,3}(?=$|[;:)]|,(?!\s${anyOf(legalForms)}\b)|\s[a-z. ]{2,30},?\s[a-z]{2}\s\d{5})`,
  "gi",
);

/** Returns a text without the streets that some filers write into it. Returns null if nothing is left. */
export function withoutStreets(written: string | null): string | null {
  const found = written?.replace(streetInText, "");
  if (found === undefined || found === written) return written;
  const tidied = found.replace(/(?:\s*[,;])+(?=\s*[,;])/g, "").replace(/^[\s,;]+|[\s,;]+$/g, "");
  return tidied === "" ? null : tidied;
}

/** Returns a street line as it is compared: folded, with long words abbreviated, without a suite. */
const comparable = (line: string): string =>
  fold(line.replace(/#.*$/, ""))
    .replace(suite, "")
    .replaceAll(/[a-z]+/g, (word) => abbreviations.get(word) ?? word)
    .trim();

const hashLength = 22;
/** Maximum number of addresses that a reader remembers. */
const knownMax = 1000;

/** Returns a reader of addresses. @param salt random text of this import, for the hashes. */
export function openPlaces(salt: string): PlaceReader {
  const read = ({ streets, city, stateOrCountry, country, zip }: Address): Place => {
    const lines = streets.flatMap((line) => text(line) ?? []);
    const firms = lines.map(firmIn);
    const isStreet = (line: string, i: number) =>
      firms[i] === null && !careOf.test(line) && !attention.test(line);
    const streetText = lines.filter(isStreet).map(comparable).join(" ").trim();
    const region = regionOf(text(stateOrCountry), text(country));
    const postal = text(zip);
    const area = region.country === "US" ? postal?.slice(0, 5) : fold(postal ?? "");
    const hashed = hash("sha256", `${salt}\n${streetText}\n${area ?? ""}`, "base64url");
    return {
      city: titleCase(text(city) ?? "") || null,
      ...region,
      zip: postal,
      addressHash: streetText === "" ? null : hashed.slice(0, hashLength),
      firmInStreet: firms.find((firm) => firm !== null) ?? null,
    };
  };
  // The persons of a filing often share the issuer's address.
  const known = new Map<string, Place>();
  return (address) => {
    if (known.size === knownMax) known.clear();
    return known.getOrInsertComputed(JSON.stringify(address), () => read(address));
  };
}

/** Number of lines at the start to search for a header. Census files begin with a title. */
const headerLines = 5;
const delimiters = [",", "|", "\t", ";"];
const withoutHeader = /^"?\d{3,5}"?,"?\d{4,5}"?,[^,\n]*,"?[A-Z]{2}"?(?:[,\r\n]|$)/;

type Column = keyof typeof columns.aliases;

/** Kind and delimiter of a table, the places of its columns, and the index of its first row of data. */
interface Layout {
  kind: "zip_county" | "county_cbsa";
  delimiter: string;
  begin: number;
  places: Partial<Record<Column, number>>;
}

/** Returns the layout of a table of ZIP codes or counties. Returns undefined for the beginning of any other file. */
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
    // Many other tables have a ZIP code and a county's name, but no county code.
    const value = lines[at + 1]?.split(delimiter)[county ?? -1]?.replaceAll(/["\s]/g, "");
    if (zip !== undefined && /^\d{4,5}$/.test(value ?? ""))
      return { kind: "zip_county", ...layout };
  }
  return undefined;
}

/** Weights by ZIP code or city, then by county. */
type Shares = Map<string, Map<string, number>>;

/** Maximum length of a record's market, in characters. */
const titleLengthMax = 100;

/** Opens empty tables. The order in which files are added does not matter. */
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
    // Without weights, the county listed first counts most.
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
    /** Adds a table. @throws ImportFault if it is damaged or has no usable row. */
    add(bytes: Buffer, file: string, { kind, delimiter, begin, places }: Layout): void {
      const take = kind === "zip_county" ? addZip : addTitle;
      const taken = readRows(bytes, file, delimiter)
        .slice(begin)
        .filter((row, order) => take((name) => text(row[places[name] ?? -1]), order));
      if (taken.length > 0) return;
      const reason = "has columns for ZIP codes or counties, but no usable row; download it again";
      throw new ImportFault(file, null, reason);
    },
    /** Returns the metropolitan area of a US address, such as `Dallas-Fort Worth-Arlington, TX`; null if unknown. */
    marketOf({ zip, city, state, country }: Omit<Place, "addressHash" | "firmInStreet">) {
      if (country !== null && country !== "US") return null;
      const county =
        largest(zips.get(zip?.slice(0, 5) ?? "")) ??
        largest(cities.get(cityKey(city ?? "", state ?? "")));
      return titles.get(county ?? "") ?? null;
    },
  };
}

function addShare(shares: Shares, key: string, county: string, next: (known: number) => number) {
  const counties = shares.getOrInsertComputed(key, () => new Map());
  counties.set(county, next(counties.get(county) ?? 0));
}

/** Returns the county with the largest weight, or the lowest number among equals; undefined if there is none. */
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

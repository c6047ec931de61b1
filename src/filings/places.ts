/** Turns an address into a place without streets. */
import { hash } from "node:crypto";
import { fold } from "#records/fold.ts";
import { stateCode, usStates } from "#records/us-states.ts";
import { text } from "./cells.ts";
import edgar from "./edgar-places.json" with { type: "json" };
import type { Place } from "./rows.ts";
import words from "./street-words.json" with { type: "json" };

/** Address as filed. Its streets go no further than `Place` allows. */
export interface Address {
  streets: readonly (string | null | undefined)[];
  city: string | null | undefined;
  /** USPS or EDGAR code, or the name of a state or country. */
  stateOrCountry: string | null | undefined;
  /** Name of the country, where the filing has a cell for it. */
  country?: string | null | undefined;
  zip: string | null | undefined;
}

export type PlaceReader = (address: Address) => Place;

interface Region {
  state: string | null;
  country: string | null;
}

const elsewhere: Region = { state: null, country: null };
const regions = new Map<string, Region>([
  ...Object.keys(usStates).map((code): [string, Region] => [code, { state: code, country: "US" }]),
  ...Object.entries(edgar.codes).map(
    ([code, [country = null, , state = null]]): [string, Region] => [code, { state, country }],
  ),
]);
/** ISO codes by folded name of a country. */
const countries = new Map<string, string>([
  ...Object.values(edgar.codes).map(([country = "", name = ""]): [string, string] => [
    fold(name),
    country,
  ]),
  ["united states", "US"],
  ...Object.entries(edgar.names),
]);

function regionOf(code: string | null, country: string | null): Region {
  const name = country === null ? undefined : countries.get(fold(country));
  // In a US address `GA` is Georgia, in a Spanish one a province.
  if (country !== null && name !== "US") return { state: null, country: name ?? null };
  if (code === null) return name === undefined ? elsewhere : { state: null, country: name };
  const found = regions.get(code.toUpperCase());
  if (found !== undefined) return found;
  const state = stateCode(code);
  return state === undefined
    ? { state: null, country: name ?? countries.get(fold(code)) ?? null }
    : { state, country: "US" };
}

const anyOf = (list: readonly string[]) => list.join("|");
const legalForm = new RegExp(`^(.*?\\b(?:${anyOf(words.legalForms)}))(?![a-z0-9])`);
const endsInFirmWord = new RegExp(`(?:^|\\s)(?:${anyOf(words.firmWords)})$`);
const streetWord = new RegExp(`(?:^|\\s)(?:${anyOf(words.streetWords)})(?:\\s|$)`);
const suite = new RegExp(
  `(?:^|\\s)(?:(?:${anyOf(words.suites)})\\s|\\d+(?:st|nd|rd|th) fl\\w*$).*$`,
);
const careOf = /(?:^|[\s,;(])(?:c\s*\/\s*o|care of)[\s:.]+(.*)$/i;
const attention = /(?:^|[\s,;(])attn\b/i;
const abbreviations = new Map(Object.entries(words.abbreviations));

/** Returns the firm that a line of an address names. Returns null for a street, and for a person after `c/o`. */
export function firmIn(line: string): string | null {
  const cared = careOf.exec(line)?.[1];
  const named = cared ?? line;
  const parts = named.split(/[,;](?=\s*(?:\d|suite|ste|p\.?\s?o\.?))/i);
  const first = parts[0]!.trim();
  const folded = fold(first);
  const isStreet = streetWord.test(folded);
  if (!isStreet && endsInFirmWord.test(folded) && folded.includes(" ")) return first;
  const form = legalForm.exec(folded)?.[1];
  if (form !== undefined && /[a-z].* /.test(form)) return cutAfter(first, form);
  // A person has two names or more, so that a single word after `c/o` is a firm's.
  return cared !== undefined && /^[a-z][a-z0-9]{3,}$/.test(folded) ? first : null;
}

/** Returns the beginning of a text whose folded form is given. */
function cutAfter(written: string, folded: string): string {
  for (const { index } of written.matchAll(/[\s,;]|$/g)) {
    const beginning = written.slice(0, index);
    if (beginning !== "" && fold(beginning) === folded) return beginning;
  }
  return written;
}

/** Returns a street without suite and firm, in the spelling in which streets are compared; "" without a street. */
function comparableStreet(lines: readonly string[]): string {
  return lines
    .filter((line) => firmIn(line) === null && !careOf.test(line) && !attention.test(line))
    .map((line) => fold(line.replace(/#.*$/, "")).replace(suite, "").trim())
    .filter((line) => line !== "")
    .join(" ")
    .split(" ")
    .map((word) => abbreviations.get(word) ?? word)
    .join(" ");
}

const hashLength = 22;
/** Number of addresses that a reader remembers. */
const knownMax = 1000;

/** Returns a reader of addresses. @param salt random text of this import, on which only hashes depend. */
export function openPlaces(salt: string): PlaceReader {
  const read = ({ streets, city, stateOrCountry, country, zip }: Address): Place => {
    const lines = streets.flatMap((line) => text(line) ?? []);
    const code = text(stateOrCountry);
    const region = regionOf(code, text(country));
    const postal = text(zip);
    const street = comparableStreet(lines);
    const area = region.country === "US" ? (postal?.slice(0, 5) ?? "") : fold(postal ?? "");
    return {
      city: text(city),
      stateOrCountry: code,
      ...region,
      zip: postal,
      addressHash:
        street === ""
          ? null
          : hash("sha256", `${salt}\n${street}\n${area}`, "base64url").slice(0, hashLength),
      firmInStreet: lines.map(firmIn).find((firm) => firm !== null) ?? null,
    };
  };
  // The persons of a filing share their issuer's address.
  const known = new Map<string, Place>();
  return (address) => {
    const { streets, city, stateOrCountry, country, zip } = address;
    const key = [...streets, city, stateOrCountry, country, zip].join("\n");
    let place = known.get(key);
    if (place === undefined) {
      if (known.size === knownMax) known.clear();
      known.set(key, (place = read(address)));
    }
    return place;
  };
}

/** Turns an address into a place without streets. */
import { hash } from "node:crypto";
import { fold } from "#records/fold.ts";
import { stateCode, usStates } from "#records/us-states.ts";
import { text } from "./cells.ts";
import edgar from "./edgar-places.json" with { type: "json" };
import type { Place } from "./rows.ts";
import words from "./street-words.json" with { type: "json" };

/** Address as filed. Its streets go no further than `Place` allows. */
interface Address {
  streets: readonly (string | null | undefined)[];
  city: string | null | undefined;
  /** USPS or EDGAR code, or the name of a state or country. */
  stateOrCountry: string | null | undefined;
  /** Name of the country, where the filing has a cell for it. */
  country?: string | null | undefined;
  zip: string | null | undefined;
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
  // In a US address `GA` is Georgia, in a Spanish one a province.
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

/** Returns the firm that a line of an address names. Returns null for a street, and for a person after `c/o`. */
export function firmIn(line: string): string | null {
  const cared = careOf.exec(line)?.[1];
  const [first = ""] = (cared ?? line).split(street).map((part) => part.trim());
  const folded = fold(first);
  if (endsInFirmWord.test(folded) && !streetWord.test(folded)) return first;
  const form = legalForm.exec(folded)?.[1];
  if (form !== undefined) return cutAfter(first, form);
  // A person has two names or more, so that a single word after `c/o` is a firm's.
  return cared !== undefined && /^[a-z][a-z0-9]{3,}$/.test(folded) ? first : null;
}

/** Returns the beginning of a text whose folded form is given. */
function cutAfter(written: string, folded: string): string {
  const ends = Array.from(written.matchAll(/[\s,;]|$/g), ({ index }) => index);
  const end = ends.find((one) => one > 0 && fold(written.slice(0, one)) === folded);
  return written.slice(0, end);
}

const unit = String.raw`[\s,]{1,3}(?:${anyOf(suites)}\b\.?\s?#?|#)\s?[\w-]{1,9}`;
/** A street within a text, up to its suite. What goes on in words of a firm, as in `250 Park Avenue Partners`, is none. */
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

/** Returns a street line without suite, in the spelling in which streets are compared. */
const comparable = (line: string): string =>
  fold(line.replace(/#.*$/, ""))
    .replace(suite, "")
    .replaceAll(/[a-z]+/g, (word) => abbreviations.get(word) ?? word)
    .trim();

const hashLength = 22;
/** Number of addresses that a reader remembers. */
const knownMax = 1000;

/** Returns a reader of addresses. @param salt random text of this import, on which only hashes depend. */
export function openPlaces(salt: string): PlaceReader {
  const read = ({ streets, city, stateOrCountry, country, zip }: Address): Place => {
    const lines = streets.flatMap((line) => text(line) ?? []);
    const firms = lines.map(firmIn);
    const isStreet = (line: string, i: number) =>
      firms[i] === null && !careOf.test(line) && !attention.test(line);
    const streetText = lines.filter(isStreet).map(comparable).join(" ").trim();
    const code = text(stateOrCountry);
    const region = regionOf(code, text(country));
    const postal = text(zip);
    const area = region.country === "US" ? postal?.slice(0, 5) : fold(postal ?? "");
    const hashed = hash("sha256", `${salt}\n${streetText}\n${area ?? ""}`, "base64url");
    return {
      city: text(city),
      stateOrCountry: code,
      ...region,
      zip: postal,
      addressHash: streetText === "" ? null : hashed.slice(0, hashLength),
      firmInStreet: firms.find((firm) => firm !== null) ?? null,
    };
  };
  // The persons of a filing share their issuer's address.
  const known = new Map<string, Place>();
  return (address) => {
    const key = JSON.stringify(address);
    const place = known.get(key) ?? read(address);
    if (known.size === knownMax) known.clear();
    known.set(key, place);
    return place;
  };
}

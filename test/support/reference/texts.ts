/** Texts as the reference compares them: folded, by their words, under every spelling of a market. */

/** Names as written: name, legal name, aliases. */
export function namesOf({ name, legal_name, aliases }: Readonly<Record<string, any>>): string[] {
  return [name, ...(typeof legal_name === "string" ? [legal_name] : []), ...(aliases ?? [])];
}

/** The best rank (0-4) of the names that satisfy every word; undefined where none does. */
export function rankOf(record: Readonly<Record<string, any>>, folded: string): number | undefined {
  let best: number | undefined;
  for (const name of namesOf(record).map(fold)) {
    if (!folded.split(" ").every((word) => standsIn(name, word))) continue;
    const rank = rankOfName(name, folded);
    if (best === undefined || rank < best) best = rank;
  }
  return best;
}

function standsIn(name: string, word: string): boolean {
  if (word === "") return false;
  const points = Array.from(word);
  const anywhere = points.length >= 4 || points.some(isOfUnspacedScript);
  return anywhere ? name.includes(word) : name.split(" ").some((one) => one.startsWith(word));
}

// By use, not by script alone: the long mark "ー" belongs to Hiragana and Katakana alike. Digits are not letters.
function isOfUnspacedScript(point: string): boolean {
  const scripts = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}]/u;
  return /\p{L}/u.test(point) && scripts.test(point);
}

function rankOfName(name: string, query: string): number {
  if (name === query) return 0;
  if (name.startsWith(query)) return 1;
  if (name.includes(` ${query}`)) return 2;
  return name.includes(query) ? 3 : 4;
}

const hyphenatedCities = [
  "Winston-Salem",
  "Wilkes-Barre",
  "Dover-Foxcroft",
  "Milton-Freewater",
  "Fuquay-Varina",
];

/** The spellings as shown, title first; only the title where it is not of the form `City-City, ST-ST`. */
export function marketSpellings(title: string): string[] {
  const [before, after, ...more] = title.split(",").map((part) => part.trim());
  if (before === undefined || after === undefined || more.length > 0) return [title];
  const states = after.split("-");
  if (!states.every((state) => /^[A-Za-z]{2}$/.test(state))) return [title];
  const cities = citiesOf(before);
  const citiesAndStates = cities.flatMap((city) => states.map((state) => `${city}, ${state}`));
  return [title, before, ...cities, ...citiesAndStates].filter((spelling) => fold(spelling) !== "");
}

function citiesOf(text: string): string[] {
  const cities: string[] = [];
  let rest = text;
  while (rest !== "") {
    const city = hyphenatedCityAt(rest) ?? rest.split("-")[0] ?? "";
    cities.push(city.trim());
    rest = rest.slice(city.length + 1);
  }
  return cities.filter((city) => fold(city) !== "");
}

function hyphenatedCityAt(text: string): string | undefined {
  const start = `${text.toLowerCase()}-`;
  const found = hyphenatedCities.find((city) => start.startsWith(`${city.toLowerCase()}-`));
  return found && text.slice(0, found.length);
}

export function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

const letters = new Map(
  "ß ss,æ ae,œ oe,ø o,đ d,ð d,ł l,þ th,ı i,ħ h,ς σ".split(",").map((pair) => {
    const [letter = "", plain = ""] = pair.split(" ");
    return [letter, plain];
  }),
);
const deleted = ["'", "’", "‘", "ʼ", "."];
const foldedTexts = new Map<string, string>();

/** Text as it is compared; empty where it holds no letter and no number. */
export function fold(text: string): string {
  const known = foldedTexts.get(text);
  if (known !== undefined) return known;
  const points = Array.from(text).map(foldedPoint).join("");
  const words = points.split(" ").filter((word) => word !== "");
  foldedTexts.set(text, words.join(" "));
  return words.join(" ");
}

// Every rule looks at one code point only, so the whole is the sum of the parts.
function foldedPoint(point: string): string {
  const lower = withoutMarks(point).map((one) => one.toLowerCase());
  return withoutMarks(lower.join("")).map(asCompared).join("");
}

function withoutMarks(text: string): string[] {
  return Array.from(text.normalize("NFKD")).filter((point) => !/\p{M}/u.test(point));
}

function asCompared(point: string): string {
  if (deleted.includes(point)) return "";
  const written = letters.get(point) ?? point;
  return /[\p{L}\p{N}]/u.test(written) ? written : " ";
}

/** Browsing signals by their own type and market, newest first, with the number of each. */
import { fold } from "#records/fold.ts";
import { addBits, type Bitset, forEachBit, hasBit, makeBitset, only } from "./bitset.ts";
import type { DatasetParts } from "./dataset-parts.ts";
import type { Documents } from "./documents.ts";
import { spellingsOfMarket } from "./market-spellings.ts";
import { bufferOver } from "./packed-texts.ts";
import type { Bounds } from "./read-model.ts";

interface SignalFilter {
  /** Any of them; of every type if left out or empty. */
  types?: readonly string[] | undefined;
  /** Any of them, each in any spelling. */
  markets?: readonly string[] | undefined;
  /** Only what belongs to one of these GPs. */
  gps?: Bitset | undefined;
}

export interface FoundSignals {
  total: number;
  /** Positions of those on the page, newest first. */
  positions: number[];
  /** Type → how many signals of that type satisfy the rest of the filter. */
  ofType: Map<string, number>;
  /** Title of a market → how many signals in it satisfy the rest of the filter. */
  ofMarket: Map<string, number>;
}

export interface SignalBrowse {
  /** Titles of all markets that signals name. */
  markets: readonly string[];
  select(filter: SignalFilter, bounds: Bounds): FoundSignals;
}

/** Reads two members of every signal, which takes about 40 ms for 20,000: keep the result as long as the dataset. */
export function openSignalBrowse(parts: DatasetParts): SignalBrowse {
  const types = readMember(parts.documents.signal, "type", "title");
  const markets = readMember(parts.documents.signal, "market", "property_types");
  const spellings = markets.values.map(
    (title) => new Set(title === null ? [] : spellingsOfMarket(title).map(({ folded }) => folded)),
  );
  return {
    markets: markets.values.filter((title) => title !== null),
    select(filter, bounds) {
      const isOfType = types.values.map((type) => isAmong(filter.types, (one) => one === type));
      const isInMarket = spellings.map((known) =>
        isAmong(filter.markets, (one) => known.has(fold(one))),
      );
      const ofGps = filter.gps && signalsOf(parts, filter.gps);
      const typeCounts = new Uint32Array(types.values.length);
      const marketCounts = new Uint32Array(markets.values.length);
      const positions: number[] = [];
      let total = 0;
      for (let signal = 0; signal < types.numbers.length; signal++) {
        if (ofGps !== undefined && !hasBit(ofGps, signal)) continue;
        const type = types.numbers[signal]!;
        const market = markets.numbers[signal]!;
        if (isInMarket[market]!) typeCounts[type]!++;
        if (!isOfType[type]!) continue;
        marketCounts[market]!++;
        if (!isInMarket[market]!) continue;
        if (total >= bounds.offset && positions.length < bounds.limit) positions.push(signal);
        total++;
      }
      return {
        total,
        positions,
        ofType: countsOf(types, typeCounts),
        ofMarket: countsOf(markets, marketCounts),
      };
    },
  };
}

const isAmong = (
  asked: readonly string[] | undefined,
  isOne: (asked: string) => boolean,
): boolean => asked === undefined || asked.length === 0 || asked.some(isOne);

function signalsOf({ recordsOfGp, documents }: DatasetParts, gps: Bitset): Bitset {
  const { starts, items } = recordsOfGp.signal;
  const signals = makeBitset(documents.signal.ownLengths.length);
  forEachBit(only(gps), (gp) => addBits(signals, items, starts[gp]!, starts[gp + 1]!));
  return signals;
}

const countsOf = ({ values }: MemberValues, counts: Uint32Array): Map<string, number> =>
  new Map(
    values.flatMap((value, number) =>
      value === null || counts[number] === 0 ? [] : [[value, counts[number]!] as const],
    ),
  );

/** One member of every document of a kind. No index of a dataset has it, so it is read from the JSON, once. */
interface MemberValues {
  /** For each document the number of its value. */
  numbers: Uint32Array;
  /** Null where the member is null. */
  values: readonly (string | null)[];
}

/**
 * Looks between the name of the member and the next one's, which is far faster than parsing everything. JSON escapes
 * quotes inside a text, so that nothing but a name can look like one.
 * @param member holds a text or null; @param next follows it in every document (records/signal.ts).
 * @throws Error where a document has no such members.
 */
function readMember(documents: Documents, member: string, next: string): MemberValues {
  const { starts, lengths } = documents;
  const bytes = bufferOver(documents.bytes);
  const [name, following] = [Buffer.from(`,"${member}":`), Buffer.from(`,"${next}":`)];
  const numbers = new Uint32Array(lengths.length);
  const numberOf = new Map<string, number>();
  for (let document = 0; document < lengths.length; document++) {
    const from = bytes.indexOf(name, starts[document]) + name.length;
    const to = bytes.indexOf(following, from);
    if (from < name.length || to === -1 || to > starts[document]! + lengths[document]!)
      throw new Error(`document ${document} has no '${member}' before '${next}'`);
    const value = bytes.toString("utf8", from, to);
    let number = numberOf.get(value);
    if (number === undefined) numberOf.set(value, (number = numberOf.size));
    numbers[document] = number;
  }
  return { numbers, values: Array.from(numberOf.keys(), (value) => JSON.parse(value)) };
}

/** The words that tell one firm from another: `Northwind`, `Blue Heron`, `Hale & Whitlock`, `Pier 9`. */
import { phrases } from "./lists.ts";
import { firmSurnames } from "./people-words.ts";
import { pick, pickEarly, weighted, whole, type Random } from "./random.ts";
import {
  afterNumbers,
  animals,
  beforeNumbers,
  colours,
  compoundHeads,
  compoundTails,
  landforms,
  ordinals,
  regions,
  singles,
  trees,
} from "./words.ts";

const trades = phrases("Fisher | Miller | Cooper | Mason | Potter | Shepherd | Weaver | Ferryman");
const consonants = "BCDFGHJKLMNPRSTVW";
const letter = (random: Random) => consonants[whole(random, 0, consonants.length - 1)] as string;
const surname = (random: Random) => pick(random, firmSurnames);

const kinds = weighted<(random: Random) => string>([
  [(random) => pickEarly(random, compoundHeads) + pickEarly(random, compoundTails), 34],
  [(random) => `${pick(random, colours)} ${pick(random, animals)}`, 6],
  [(random) => `${pick(random, colours)} ${pick(random, landforms)}`, 6],
  [(random) => `${pick(random, trees)} ${pick(random, landforms)}`, 8],
  [(random) => pick(random, trees), 3],
  [(random) => pick(random, animals), 3],
  [surname, 8],
  [(random) => `${surname(random)} & ${surname(random)}`, 5],
  [(random) => `${letter(random)}.${letter(random)}. ${surname(random)}`, 2],
  [(random) => `${letter(random)}&${letter(random)}`, 3],
  [(random) => pick(random, regions), 7],
  [(random) => pick(random, singles), 10],
  [(random) => `${pick(random, trades)}'s ${pick(random, landforms)}`, 1.5],
  [(random) => `${pick(random, beforeNumbers)} ${whole(random, 2, 99)}`, 1],
  [(random) => `${whole(random, 2, 99)} ${pick(random, afterNumbers)}`, 0.7],
  [(random) => `${pick(random, ordinals)} ${pick(random, landforms)}`, 1],
  [(random) => String(whole(random, 1801, 1999)), 0.5],
]);

export const inventStem = (random: Random): string => kinds(random)(random);

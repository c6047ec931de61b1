/** What a query may give as tags, themes and markets. */
import type { CanonicalGp } from "#records/canonical.ts";
import { fold } from "../reference/fold.ts";
import { spellingsCarried, type Facet } from "../reference/matching.ts";
import { spell } from "./names.ts";
import { misspelt, pieces } from "./pieces.ts";
import { repeat, type Random } from "./random.ts";
import {
  marketTitles,
  special,
  tagSpellings,
  themeSpellings,
  unsearchable,
  words,
} from "./words.ts";

/** One to ten values, some of them repeated. */
export function valuesAsked(random: Random, facet: Facet, gp: CanonicalGp | undefined): string[] {
  const count = random.pick([1, 1, 1, 1, 2, 2, 3, 10]);
  const drawn = repeat(count, () => value(random, facet, gp));
  return random.chance(0.1) ? drawn.concat(drawn).slice(0, 10) : drawn;
}

function value(random: Random, facet: Facet, gp: CanonicalGp | undefined): string {
  const all = { tag: tagSpellings.flat(), theme: themeSpellings.flat(), market: marketTitles }[
    facet
  ];
  const carried = gp ? spellingsCarried(gp, facet) : [];
  const real = random.pick(carried.length > 0 && random.chance(0.8) ? carried : all);
  const kind = random.below(20);
  if (kind < 10) return real;
  if (kind < 12) return spell(random, real);
  if (kind < 13) return fold(real);
  if (kind < 15) return misspelt(random, real);
  if (kind < 16) return random.pick(pieces(real));
  if (kind < 17) return `${random.pick(pieces(real))}, ${random.pick(["TX", "nc", "NJ", "Pa"])}`;
  if (kind < 18)
    return random.pick([...words, "value_add", "multi family", "Winston", "Asia", "Fort Worth TX"]);
  return random.pick(kind < 19 ? special : unsearchable);
}

/** What a query may give as the name of a GP. */
import type { CanonicalGp } from "#records/canonical.ts";
import { fold } from "../reference/fold.ts";
import { namesOf } from "../reference/matching.ts";
import { spell } from "./names.ts";
import { misspelt, part, pieces } from "./pieces.ts";
import type { Random } from "./random.ts";
import { special, unsearchable, words } from "./words.ts";

/**
 * @param other a GP whose words may stand beside those of the first.
 * @param ids of GPs.
 */
export function nameAsked(
  random: Random,
  gp: CanonicalGp | undefined,
  other: CanonicalGp | undefined,
  ids: readonly string[],
): string {
  const kind = random.below(20);
  if (kind < 12 && gp) return nameLike(random, random.pick(namesOf(gp)));
  if (kind < 14 && gp && other)
    return random.some(2, [...pieces(gp.name), ...pieces(other.name)]).join(" ");
  if (kind < 15) return spell(random, random.pick(words));
  if (kind < 16 && ids.length > 0) return random.pick(ids);
  if (kind < 17) return idLike(random, ids);
  if (kind < 19) return random.pick(special);
  return random.pick(unsearchable);
}

/** A real name, whole or in part, turned round, respelt, or nearly. */
function nameLike(random: Random, name: string): string {
  const parts = pieces(name);
  const variations = [
    () => name,
    () => spell(random, name),
    () => fold(name),
    () => part(random, name, 12),
    () => part(random, fold(name), 3),
    () => random.pick(parts),
    () =>
      Array.from(name)
        .slice(0, 1 + random.below(name.length))
        .join(""),
    () => Array.from(name).slice(random.below(name.length)).join(""),
    () => random.some(2, parts).join(" "),
    () => random.some(parts.length, parts).join(", "),
    () =>
      random
        .some(3, parts)
        .map((word) => part(random, word, 5))
        .join(" "),
    () => `${random.pick(parts)} ${random.pick(words)}`,
    () => misspelt(random, name),
    () => `"${name}"*`,
    () => fold(name).replaceAll(" ", ""),
  ];
  return random.pick(variations)();
}

/** What looks like an id and, nearly always, is none. */
function idLike(random: Random, ids: readonly string[]): string {
  const id = ids.length === 0 ? "gp_0000000000000000" : random.pick(ids);
  const variations = [
    id.toUpperCase(),
    id.slice(0, -1),
    `${id}0`,
    id.slice(3),
    misspelt(random, id),
    `${id} x`,
  ];
  return random.pick([...variations, id.replace("_", " "), "gp_", "gp", "pr_0000000000000000"]);
}

/** Names made of few words, so that they overlap, in spellings that mostly fold alike. */
import type { CanonicalGp } from "#records/canonical.ts";
import { repeat, type Random } from "./random.ts";

const nameLengthMax = 500;

/** A name of one to four of the words, rarely of very many. */
export function nameOf(random: Random, own: readonly string[]): string {
  const count = random.chance(0.02) ? 60 : 1 + random.below(4);
  const parts = repeat(count, () => random.pick(own));
  if (random.chance(0.05)) parts.push(parts[0] as string);
  const joined = parts.join(
    random.pick([" ", " ", " ", " ", "-", " & ", ", ", "  ", "/", "_", " — "]),
  );
  const ending = random.pick(["", "", "", "", ".", "!", " (Fund II)", ", LLC", " 🏢", "®"]);
  return cut(spell(random, joined + ending));
}

/** The name of an earlier GP, as it is or in another spelling that mostly folds alike. */
export function nameOfAnother(
  random: Random,
  own: readonly string[],
  before: readonly CanonicalGp[],
): string {
  if (before.length === 0) return nameOf(random, own);
  const { name } = random.pick(before);
  return random.chance(0.5) ? name : cut(spell(random, name));
}

export function legalNameOf(random: Random, name: string): string {
  if (random.chance(0.2)) return name;
  return cut(
    random.chance(0.3) ? `The ${name}` : `${name}, ${random.pick(["LLC", "L.L.C.", "LP"])}`,
  );
}

/** Another case, composition or width. */
export function spell(random: Random, text: string): string {
  const spellings = [
    (plain: string) => plain.toUpperCase(),
    (plain: string) => plain.toLowerCase(),
    (plain: string) => plain.normalize("NFD"),
    (plain: string) => plain.normalize("NFC"),
    fullWidth,
    (plain: string) => plain.replaceAll(" ", "  "),
  ];
  return random.chance(0.5) ? text : random.pick(spellings)(text);
}

function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (point) => String.fromCharCode(point.charCodeAt(0) + 0xfee0));
}

function cut(text: string): string {
  return Array.from(text).slice(0, nameLengthMax).join("").trim();
}

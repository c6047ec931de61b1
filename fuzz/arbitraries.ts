/** Draws what requests and files have in common: rare things, and damage done to a text. */
import fc, { type Arbitrary } from "fast-check";

/** Draws one of several, as often as their weights say; a failure shrinks towards the first. */
export const weighted = <T>(
  ...entries: readonly (readonly [weight: number, Arbitrary<T>])[]
): Arbitrary<T> =>
  fc.oneof(
    { withCrossShrink: true },
    ...entries.map(([weight, arbitrary]) => ({ weight, arbitrary })),
  );

/** Draws the usual value, and in the given percentage of cases a rare one. */
export const sometimes = <T>(percent: number, rare: Arbitrary<T>, usual: T): Arbitrary<T> =>
  weighted([1000 - percent * 10, fc.constant(usual)], [percent * 10, rare]);

/** A replacement of what is found first behind a place in a text. */
export interface Damage {
  /** In ten-thousandths of the length of the text. */
  at: number;
  find: RegExp;
  /** As `String.replace` takes it, so `$&` is what was found. */
  put: string;
}

export const places = 10_000;
export const place = fc.nat(places - 1);

/** Draws damage of several kinds, as often as their weights say. */
export const damageOf = (
  ...kinds: readonly (readonly [weight: number, find: RegExp, puts: readonly string[]])[]
): Arbitrary<Damage> =>
  weighted(
    ...kinds.map(
      ([weight, find, puts]) =>
        [
          weight,
          fc.record({ at: place, find: fc.constant(find), put: fc.constantFrom(...puts) }),
        ] as const,
    ),
  );

/** Kinds that need not know what the text means: parts lost or doubled, and other bytes. */
export const anyText = [
  ...[1, 4, 12, 200].map((length) => [2, new RegExp(`^[^]{1,${length}}`), ["", "$&$&"]] as const),
  [2, /^[^]+/, [""]],
  [6, /^[^]/, Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))],
] as const;

/** Does one damage after the other. */
export const damaged = (text: string, damages: readonly Damage[]): string =>
  damages.reduce((before, { at, find, put }) => {
    const start = Math.floor((at / places) * before.length);
    return before.slice(0, start) + before.slice(start).replace(find, put);
  }, text);

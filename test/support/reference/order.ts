/** The order of text by the bytes of its UTF-8, and of things by several keys. */

export function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** The things in a new list, by the first key that differs; numbers by size, text by bytes. */
export function sortedBy<T>(things: readonly T[], keysOf: (thing: T) => (string | number)[]): T[] {
  return things
    .map((thing) => ({ thing, keys: keysOf(thing) }))
    .sort((one, other) => {
      const differences = one.keys.map((key, place) => compareKeys(key, other.keys[place]));
      return differences.find((difference) => difference !== 0) ?? 0;
    })
    .map(({ thing }) => thing);
}

function compareKeys(one: string | number, other: string | number | undefined): number {
  return typeof one === "number" && typeof other === "number"
    ? one - other
    : compareBytes(String(one), String(other));
}

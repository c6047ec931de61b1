/** Typed arrays that a worker fills and the HTTP thread reads, without copying. */

export const sharedBytes = (length: number) => new Uint8Array(new SharedArrayBuffer(length));
export const sharedNumbers = (length: number) => new Uint32Array(new SharedArrayBuffer(length * 4));

/** A shared copy of a list of numbers below 2^32. */
export function shareNumbers(numbers: ArrayLike<number>): Uint32Array {
  const shared = sharedNumbers(numbers.length);
  shared.set(numbers);
  return shared;
}

/** Many short lists in two arrays: list i is `items[starts[i]]` up to `items[starts[i + 1]]`. */
export interface Lists {
  starts: Uint32Array;
  items: Uint32Array;
}

/**
 * Groups pairs by their first member; within a group the order of the pairs stays.
 * @param owners list number of each pair, each below `count`.
 * @param items what belongs to it, at the same place.
 */
export function packLists(
  count: number,
  owners: ArrayLike<number>,
  items: ArrayLike<number>,
): Lists {
  const starts = sharedNumbers(count + 1);
  for (let i = 0; i < owners.length; i++) starts[owners[i]! + 1]!++;
  for (let i = 0; i < count; i++) starts[i + 1]! += starts[i]!;
  const next = starts.slice(0, count);
  const packed = sharedNumbers(items.length);
  for (let i = 0; i < owners.length; i++) packed[next[owners[i]!]!++] = items[i]!;
  return { starts, items: packed };
}

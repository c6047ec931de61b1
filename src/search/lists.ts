/** Many short lists of numbers in two arrays. */

/** List i is `items[starts[i]]` up to `items[starts[i + 1]]`. */
export interface Lists {
  starts: Uint32Array;
  items: Uint32Array;
}

/**
 * Groups pairs by their first member; within a group the order of the pairs stays.
 * @param owners list number of each pair, each below `count`.
 * @param items what belongs to it, at the same place; numbers below 2^32.
 */
export function packLists(
  count: number,
  owners: ArrayLike<number>,
  items: ArrayLike<number>,
): Lists {
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < owners.length; i++) starts[owners[i]! + 1]!++;
  for (let i = 0; i < count; i++) starts[i + 1]! += starts[i]!;
  const next = starts.slice(0, count);
  const packed = new Uint32Array(items.length);
  for (let i = 0; i < owners.length; i++) packed[next[owners[i]!]!++] = items[i]!;
  return { starts, items: packed };
}

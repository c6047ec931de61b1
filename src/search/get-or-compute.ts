/** Caches values in maps. Node 24, on which the library runs, has no `Map.prototype.getOrInsertComputed`. */

/** Returns the value of a key, and computes it first if there is none. */
export function getOrCompute<K, V extends {}>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  compute: (key: K) => V,
): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = compute(key)));
  return value;
}

/** Calls `getOrCompute` on a map of at most `max` entries. Drops the oldest entry to make room. */
export function getOrKeep<V extends {}>(
  map: Map<string, V>,
  key: string,
  max: number,
  compute: () => V,
): V {
  if (map.size >= max && !map.has(key)) map.delete(map.keys().next().value!);
  return getOrCompute(map, key, compute);
}

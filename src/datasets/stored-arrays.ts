/** Stores a tree of number arrays in the table `array`: one row for each array, named by its path in the tree. */
import type { DatabaseSync } from "node:sqlite";

const arrays = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array } as const;
type Element = keyof typeof arrays;

/** A row of the table `array`. */
export interface StoredArray {
  name: string;
  element: Element;
  /** Bytes, little-endian, as in memory. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** Yields every array in a tree of objects, in the order of their members. */
export function* arraysIn(tree: object, path: readonly string[] = []): Generator<StoredArray> {
  for (const [member, value] of Object.entries(tree) as [string, unknown][]) {
    const place = [...path, member];
    if (ArrayBuffer.isView(value))
      yield { name: place.join("."), element: elementOf(value), bytes: bytesOf(value) };
    else if (typeof value === "object" && value !== null) yield* arraysIn(value, place);
  }
}

/** Returns the memory blocks of a tree's arrays, each once, for transfer to another thread. */
export const buffersIn = (tree: object): ArrayBuffer[] => [
  ...new Set(Array.from(arraysIn(tree), ({ bytes }) => bytes.buffer)),
];

/**
 * Frees an array's memory at once. V8 sees only a small object, so discarded arrays worth half a dataset would pile up
 * before a collection, and the process's memory would never shrink again.
 */
export const free = ({ buffer }: { buffer: ArrayBufferLike }) =>
  void (buffer as ArrayBuffer).transfer(0);

const elementOf = (array: ArrayBufferView): Element =>
  array instanceof Uint8Array ? "u8" : array instanceof Uint32Array ? "u32" : "f64";

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);

export function treeOf(all: readonly StoredArray[]): object {
  const tree: Record<string, unknown> = {};
  for (const array of all) {
    const path = array.name.split(".");
    const last = path.pop()!;
    let branch = tree;
    for (const member of path) branch = (branch[member] ??= {}) as Record<string, unknown>;
    branch[last] = numbersOf(array);
  }
  return tree;
}

/** Returns an array's bytes as numbers, without a copy. */
function numbersOf({ element, bytes }: StoredArray) {
  const { BYTES_PER_ELEMENT: size } = arrays[element];
  return new arrays[element](bytes.buffer, bytes.byteOffset, bytes.length / size);
}

export function writeArrays(db: DatabaseSync, all: Iterable<StoredArray>): void {
  const insert = db.prepare("insert into array values (?, ?, ?)");
  for (const { name, element, bytes } of all) insert.run(name, element, bytes);
}

/** Yields the stored arrays in the order in which they were written. @param like SQL pattern of their names. */
export const readArrays = (db: DatabaseSync, like = "%") =>
  db
    .prepare("select name, element, bytes from array where name like ? order by rowid")
    .iterate(like) as unknown as Iterable<StoredArray>;

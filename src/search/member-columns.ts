/** Reads members out of stored documents into columns of numbers: what no index of a dataset has is read from the JSON. */
import type { Documents } from "./documents.ts";
import { bufferOver } from "./packed-texts.ts";

/** A member to read, and the one that follows it in every document of the kind (records/). */
interface Member {
  name: string;
  next: string;
}

/** One member of the documents of a kind. */
export interface Column {
  /** For each document the number of its value. */
  numbers: Uint32Array;
  /** The different values, as they stand in the JSON. */
  values: readonly unknown[];
}

export interface ColumnReader {
  /** Reads the documents from one number up to another; each has to be read once, in any order. */
  read(from: number, to: number): void;
  /** The columns in the order of the members, once every document is read. */
  columns(): Column[];
}

/**
 * Looks between the name of a member and the next one's, which is far faster than parsing everything: 3 µs a document for
 * six members. JSON escapes quotes inside a text, so that nothing but a name can look like one.
 * @param members in the order in which they stand in a document.
 */
export function openColumnReader(documents: Documents, members: readonly Member[]): ColumnReader {
  const { starts, lengths } = documents;
  const bytes = bufferOver(documents.bytes);
  const columns = members.map(({ name, next }) => ({
    name,
    next,
    before: Buffer.from(`,"${name}":`),
    after: Buffer.from(`,"${next}":`),
    numbers: new Uint32Array(lengths.length),
    numberOf: new Map<string, number>(),
  }));
  return {
    /** @throws Error where a document has no such members. */
    read(from, to) {
      for (let document = from; document < to; document++) {
        const end = starts[document]! + lengths[document]!;
        let at = starts[document]!;
        for (const { name, next, before, after, numbers, numberOf } of columns) {
          const start = bytes.indexOf(before, at) + before.length;
          const stop = bytes.indexOf(after, start);
          if (start < before.length || stop === -1 || stop > end)
            throw new Error(`document ${document} has no '${name}' before '${next}'`);
          const value = bytes.toString("utf8", start, stop);
          let number = numberOf.get(value);
          if (number === undefined) numberOf.set(value, (number = numberOf.size));
          numbers[document] = number;
          at = stop;
        }
      }
    },
    columns: () =>
      columns.map(({ numbers, numberOf }) => ({
        numbers,
        values: Array.from(numberOf.keys(), (value) => JSON.parse(value) as unknown),
      })),
  };
}

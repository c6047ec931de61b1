/** Damages text files the way spreadsheets, downloads, editors and people do. */
import { pick, weighted, whole, type Random } from "#demo/random.ts";
import { bitFlipped, byteReplaced, type Mutation, put } from "../mutation.ts";
import {
  columnsChanged,
  encodingChanged,
  keyRepeated,
  latin,
  lineEndsChanged,
  linesChanged,
  nested,
  quotesChanged,
  valueChanged,
} from "./mutate-text.ts";
import { pieces } from "./pieces.ts";

const none = Buffer.alloc(0);

const mutations = weighted<Mutation>([
  [bitFlipped, 4],
  [byteReplaced, 3],
  [(random, bytes) => put(bytes, place(random, bytes), 0, latin(pick(random, pieces))), 7],
  [(random, bytes) => put(bytes, place(random, bytes), whole(random, 1, 15), none), 4],
  [(random, bytes) => bytes.subarray(0, place(random, bytes)), 2],
  [(random, bytes) => bytes.subarray(place(random, bytes)), 1],
  [linesChanged, 6],
  [lineEndsChanged, 3],
  [columnsChanged, 5],
  [quotesChanged, 2],
  [valueChanged, 6],
  [keyRepeated, 3],
  [encodingChanged, 2],
  [nested, 1],
]);

/** @param times how often. */
export function mutateFile(random: Random, bytes: Buffer, times: number): Buffer {
  let mutated = bytes;
  for (let left = times; left > 0; left--) mutated = mutations(random)(random, mutated);
  return mutated;
}

const place = (random: Random, bytes: Buffer) => whole(random, 0, bytes.length);

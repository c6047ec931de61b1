/** What a mutation is, and those that need not know what the bytes mean. */
import { whole, type Random } from "#demo/random.ts";

export type Mutation = (random: Random, bytes: Buffer) => Buffer;

export const put = (bytes: Buffer, at: number, lost: number, piece: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + lost)]);

export const bitFlipped: Mutation = (random, bytes) =>
  changed(random, bytes, (one) => one ^ (1 << whole(random, 0, 7)));

export const byteReplaced: Mutation = (random, bytes) =>
  changed(random, bytes, () => whole(random, 0, 255));

/** @param change makes another byte of one; none is changed where there is none. */
export function changed(random: Random, bytes: Buffer, change: (one: number) => number): Buffer {
  if (bytes.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  const at = whole(random, 0, bytes.length - 1);
  copy[at] = change(copy[at]!);
  return copy;
}

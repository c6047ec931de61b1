/** Index from the id or a former id of a GP to its position. */
import { indexOfText, packTexts, type PackedTexts } from "./packed-texts.ts";

export interface IdIndex {
  /** Ids in byte order. */
  ids: PackedTexts;
  gpOfId: Uint32Array;
}

export function indexIds(entries: readonly { id: string; gp: number }[]): IdIndex {
  // Ids are ASCII, so the order of their code units is the order of their bytes.
  const sorted = entries.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    ids: packTexts(sorted.map(({ id }) => id)),
    gpOfId: Uint32Array.from(sorted, ({ gp }) => gp),
  };
}

const idShape = /^gp_[0-9a-z]{16}$/;

/** Returns the position of the GP with an id, or -1. */
export function positionOfId(index: IdIndex, id: string): number {
  if (!idShape.test(id)) return -1;
  const place = indexOfText(index.ids, Buffer.from(id));
  return place === -1 ? -1 : index.gpOfId[place]!;
}

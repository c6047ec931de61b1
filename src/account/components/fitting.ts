/** Keeps a page small whatever its records hold: as many pieces as fit, and texts cut at a length. */
import { html, type Part } from "#pages/html.ts";

export const bytesOf = (piece: Part): number => Buffer.byteLength(html`${piece}`.markup);

/** Of a row of a table beside its cells. */
const rowBytes = 70;

/** The first of them that together take no more markup than that; the first one in any case. */
export function fitting<P extends Part>(pieces: readonly P[], bytesMax: number): P[] {
  let bytes = 0;
  return pieces.filter((piece, i) => {
    bytes += bytesOf(piece) + rowBytes;
    return i === 0 || bytes <= bytesMax;
  });
}

/** Cut between words where there are any. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const cut = text.slice(0, lengthMax);
  const space = cut.lastIndexOf(" ");
  return `${(space > lengthMax / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`;
}

const listLengthMax = 1500;

/** With commas between; of a very long list the first ones, and how many more there are. */
export function listText(texts: readonly string[], separator = "; "): string {
  const shown = fitting(
    texts.map((text) => cutText(text, listLengthMax)),
    listLengthMax,
  );
  const more = texts.length - shown.length;
  return shown.join(separator) + (more > 0 ? ` and ${more} more` : "");
}

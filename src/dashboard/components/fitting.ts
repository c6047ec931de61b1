/** Keeps pages small whatever the records contain: takes as many pieces as fit, and cuts long texts. */
import { html, type Part } from "#pages/html.ts";

export const bytesOf = (piece: Part): number => Buffer.byteLength(html`${piece}`.markup);

/** Markup of a table row without its cells. */
const rowBytes = 70;

/** The first pieces whose markup fits, and at least one. */
export function fitting<P extends Part>(pieces: readonly P[], bytesMax: number): P[] {
  let bytes = 0;
  return pieces.filter((piece, i) => {
    bytes += bytesOf(piece) + rowBytes;
    return i === 0 || bytes <= bytesMax;
  });
}

/** Cuts between words if possible. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const cut = text.slice(0, lengthMax);
  const space = cut.lastIndexOf(" ");
  return `${(space > lengthMax / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`;
}

const listLengthMax = 1500;

/** Joined; a very long list is cut and ends with how many more there are. */
export function listText(texts: readonly string[], separator = "; "): string {
  const shown = fitting(
    texts.map((text) => cutText(text, listLengthMax)),
    listLengthMax,
  );
  const more = texts.length - shown.length;
  return shown.join(separator) + (more > 0 ? ` and ${more} more` : "");
}

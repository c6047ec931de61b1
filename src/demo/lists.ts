/** Lists: read from text, so that many words fit on a screen, and kept small. */

/** The words of a text, split at spaces and line breaks. */
export const words = (text: string): string[] => text.trim().split(/\s+/);

/** The phrases of a text, split at `|` and line breaks. */
export const phrases = (text: string): string[] => text.trim().split(/\s*[|\n]\s*/);

/** The lines of a text, each cut into its cells at `|`. */
export const rows = (text: string): string[][] =>
  text
    .trim()
    .split(/\s*\n\s*/)
    .map((line) => line.split(/\s*\|\s*/));

/**
 * A copy that takes no more memory than its values. The first value pushed to an empty array makes room for 17
 * (V8), which adds up over a hundred thousand lists that stay.
 */
export const trimmed = <T>(list: readonly T[]): T[] => list.slice();

/** What reading a line or a cell gives instead of a value where the text is not valid. */

export class Unreadable {
  /** What would be right: "must be a whole number". */
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

const quotedLengthMax = 50;

/** A text from a file as a message shows it: on one line, shortened, in quotes. */
export function quoted(text: string): string {
  const shown = Array.from(text.slice(0, quotedLengthMax * 2));
  const cut = shown.length > quotedLengthMax;
  return JSON.stringify(cut ? `${shown.slice(0, quotedLengthMax).join("")}…` : text);
}

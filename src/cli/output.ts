/** Output of commands: lines and tables for people, without control characters, and progress of long commands. */
import { grouped } from "#words.ts";

/** Control characters except line breaks; line separators; marks that change the direction of text. */
const obeyed =
  /\r(?!\n)|[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Escapes everything that a terminal would obey rather than show, except line breaks. An escape character becomes
 * `\u001b`. JSON keeps its meaning, because the escaped characters occur only inside its strings.
 */
export const harmless = (text: string): string =>
  text.replace(obeyed, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Escapes what `harmless` does, and line feeds as `\n`, for text that must stay on one line. */
export const onOneLine = (text: string): string => harmless(text.replaceAll("\n", "\\n"));

/** Maximum number of lines of a list shown to people. `--json` lists more. */
const shownMax = 20;

/** Returns the first `shownMax` lines and, if there are more, a line with the number of the others. */
export const firstLines = (lines: readonly string[]): readonly string[] =>
  lines.length > shownMax
    ? [
        ...lines.slice(0, shownMax),
        `… and ${lines.length - shownMax} more; add --json to list them`,
      ]
    : lines;

/**
 * Returns a table of some members of rows, in columns two spaces apart under the members' names in capitals.
 * @param none text to return instead if there are no rows; if empty, only the names are returned.
 */
export function table<Row extends object>(
  rows: readonly Row[],
  members: readonly (keyof Row & string)[],
  none = "",
): string {
  if (rows.length === 0 && none !== "") return none;
  const all = [
    members.map((name) => name.replaceAll("_", " ").toUpperCase()),
    ...rows.map((row) => members.map((name) => onOneLine(cellText(row[name])))),
  ];
  const widths = members.map((_, i) => all.reduce((max, row) => Math.max(max, row[i]!.length), 0));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Returns a value as people read it, with a dash for null. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "number") return grouped(value);
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "string" ? timeText(value) : JSON.stringify(value);
}

/** Removes the fraction of a second from a UTC time. Returns "-" for null, and other text unchanged. */
export const timeText = (text: string | null): string =>
  text?.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$/, "$1Z") ?? "-";

interface Options {
  /** True to show progress even without a terminal, in at most one line a second. */
  isPipedToo?: boolean;
  stream?: Pick<NodeJS.WriteStream, "isTTY" | "write">;
  /** Returns the time of a monotonic clock, in ms. */
  now?: () => number;
}

/** Returns a display of progress. On a terminal it rewrites one line; elsewhere it is silent unless `isPipedToo`. */
export function showProgress({
  isPipedToo = false,
  stream = process.stderr,
  now = () => performance.now(),
}: Options = {}) {
  if (!stream.isTTY && !isPipedToo) return { show() {}, clear() {} };
  const everyMilliseconds = stream.isTTY ? 100 : 1000;
  // As if shown just now, so that short work shows no progress.
  let shownAt = now();
  let isShown = false;
  return {
    /** Shows a count, unless one was just shown. @param what name of the counted things, such as "lines read". */
    show(count: number, what: string): void {
      if (now() - shownAt < everyMilliseconds) return;
      shownAt = now();
      isShown = true;
      const text = `${grouped(count)} ${what}`;
      stream.write(stream.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
    },
    clear(): void {
      if (stream.isTTY && isShown) stream.write("\r\u001b[K");
      isShown = false;
    },
  };
}

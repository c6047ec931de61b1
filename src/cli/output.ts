/** What commands print: lines for people, or one JSON document for programs. */
import type { Surroundings } from "./surroundings.ts";

/** The options every command that prints a result has; give them to `.option(...jsonOption)`. */
export const jsonOption = ["--json", "print the result as JSON"] as const;

export interface OutputOptions {
  json?: boolean;
}

/** @param json what programs read; @param text what people read, made only when asked for. */
export function printResult(
  { print }: Surroundings,
  options: OutputOptions,
  json: unknown,
  text: () => string,
): void {
  print(options.json === true ? JSON.stringify(json) : text());
}

/** Columns two spaces apart under upper-case headings. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings.map((heading) => heading.toUpperCase()), ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** `2026-11-21T09:30:00Z` of ISO text with a fraction of a second; a dash where there is no time. */
export const timeText = (iso: string | null | undefined): string =>
  iso === null || iso === undefined ? "-" : iso.replace(/\.\d+Z$/, "Z");

/** NDJSON: a value on each line. */

export const linesOf = (...values: readonly object[]) =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

export const readLines = (text: string): any[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

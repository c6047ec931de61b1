/** Records as the rows that a table of them must have, worked out from their JSON alone. */
import { parse } from "csv-parse/sync";

/** Column → cell; all others of its row are empty. */
export type Row = Readonly<Record<string, string>>;

/** Of each object in a list, the members that a table shows. */
const shown: Readonly<Record<string, readonly string[]>> = {
  gps: ["id", "name"],
  funds: ["name"],
  principals: ["name"],
  signals: ["title"],
};

/** @param record a member of `data`. */
export const rowOf = (record: object): Row =>
  Object.fromEntries(Object.entries(record).flatMap(([name, value]) => cellsOf(name, value)));

function cellsOf(name: string, value: unknown): [string, string][] {
  if (value === null) return [];
  if (typeof value === "number") return [[name, `${value}`]];
  if (typeof value === "string") return [[name, harmless(value)]];
  if (!Array.isArray(value))
    return Object.entries(value as object).flatMap(([key, inner]) =>
      cellsOf(`${name}.${key}`, inner),
    );
  const keys = shown[name];
  if (keys === undefined) return [[name, harmless(value.join("; "))]];
  return keys.map((key) => [
    `${name}.${key}`,
    harmless(value.map((one: Record<string, string>) => one[key]).join("; ")),
  ]);
}

const signs = "=+\\-@⁺⁻⁼₊₋₌−﬩﹢﹣﹦﹫＋－＝＠";
const begins = new RegExp(`^\\s*?[\\t\\r${signs}]`);
const within = new RegExp(`([;\\t\\r\\n](?:[^\\S\\t\\r\\n]|")*)([${signs}])`, "g");

/** With an apostrophe before what a spreadsheet would run, in a part of the text, too. */
function harmless(text: string): string {
  const parts = text.replaceAll(within, "$1'$2");
  return parts !== text || begins.test(text) ? `'${parts}` : text;
}

/** Reads CSV as RFC 4180 has it; rows without their empty cells. */
export function readTable(csv: string): { columns: string[]; rows: Row[] } {
  const [columns = [], ...lines] = parse(csv, { record_delimiter: "\r\n" });
  const rows = lines.map((cells) =>
    Object.fromEntries(columns.map((name, i) => [name, cells[i]!]).filter(([, cell]) => cell)),
  );
  return { columns, rows: rows as Row[] };
}

/** The same of a record, for comparing. */
export const filledCells = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== ""));

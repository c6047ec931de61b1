/** What LibreOffice makes of files that people open: their sheets, cell by cell, with the type it takes each for. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { hasTool } from "./machine.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface Sheet {
  name: string;
  /** Without empty cells at the end of a row, and empty rows at the end of the sheet. */
  rows: SheetCell[][];
}

export interface SheetCell {
  type: "empty" | "string" | "float" | "date" | "time" | "boolean" | "percentage" | "currency";
  /** As it is shown. */
  text: string;
  /** Of a number. */
  number: number | null;
  /** Null where the cell holds what it shows, and LibreOffice computes nothing. */
  formula: string | null;
}

/** Marks the test as skipped where LibreOffice is not installed; in CI it has to be. */
export const hasLibreOffice = (t: TestContext): boolean =>
  hasTool(t, "soffice", "libreoffice-calc-nogui");

/** As a person who chooses UTF-8 and the comma in the dialog that LibreOffice shows for text. */
export const csvInUtf8 = "CSV:44,34,76,1";
/** The same with another separator, as a program takes it where a comma stands before decimals. */
export const csvCutAtSemicolons = "CSV:59,34,76,1";
export const csvCutAtTabs = "CSV:9,34,76,1";

/**
 * Opens all of them in one run, as a double click does, or with a filter.
 * @param files of different names.
 * @returns for each file its sheets.
 */
export async function openInLibreOffice(
  t: TestContext,
  files: readonly string[],
  filter?: string,
): Promise<Sheet[][]> {
  const folder = temporaryFolder(t);
  await promisify(execFile)(
    "soffice",
    [
      // A profile of its own, or a second run would hand its files to the first and end at once.
      `-env:UserInstallation=file://${join(folder, "profile")}`,
      "--headless",
      ...(filter === undefined ? [] : [`--infilter=${filter}`]),
      "--convert-to",
      "fods",
      "--outdir",
      folder,
      ...files,
    ],
    { timeout: 120_000 },
  );
  return files.map((file) =>
    sheetsIn(readFileSync(join(folder, `${basename(file, extname(file))}.fods`), "utf8")),
  );
}

/** @param document a flat OpenDocument spreadsheet (OpenDocument 1.3, part 3, §9). */
const sheetsIn = (document: string): Sheet[] =>
  [...document.matchAll(/<table:table (.*?)>(.*?)<\/table:table>/gs)].map(([, head, content]) => ({
    name: attribute(head!, "table:name") ?? "",
    rows: withoutEnd(rowsIn(content!), (row) => row.length === 0),
  }));

const rowsIn = (content: string): SheetCell[][] =>
  [...content.matchAll(/<table:table-row\b([^>]*?)(?:\/>|>(.*?)<\/table:table-row>)/gs)].flatMap(
    ([, head, cells = ""]) =>
      repeated(
        head!,
        "table:number-rows-repeated",
        withoutEnd(cellsIn(cells), ({ type }) => type === "empty"),
      ),
  );

const cellsIn = (content: string): SheetCell[] =>
  [...content.matchAll(/<table:table-cell\b([^>]*?)(?:\/>|>(.*?)<\/table:table-cell>)/gs)].flatMap(
    ([, head, shown = ""]) => {
      const value = attribute(head!, "office:value");
      const cell: SheetCell = {
        type: (attribute(head!, "office:value-type") ?? "empty") as SheetCell["type"],
        text: textIn(shown),
        number: value === undefined ? null : Number(value),
        formula: attribute(head!, "table:formula") ?? null,
      };
      return repeated(head!, "table:number-columns-repeated", cell);
    },
  );

/** What fills the rest of a sheet, a million rows, is empty and cut off in any case. */
const repeatedMax = 1000;

function repeated<T>(head: string, name: string, one: T): T[] {
  const times = Number(attribute(head, name) ?? 1);
  return Array.from({ length: Math.min(times, repeatedMax) }, () => one);
}

function withoutEnd<T>(all: readonly T[], isEmpty: (one: T) => boolean): T[] {
  return all.slice(0, all.findLastIndex((one) => !isEmpty(one)) + 1);
}

function attribute(head: string, name: string): string | undefined {
  const [, value] = new RegExp(`\\b${name}="([^"]*)"`).exec(head) ?? [];
  return value === undefined ? undefined : decoded(value);
}

/** Paragraphs are lines; runs of spaces and tabs are elements. */
const textIn = (shown: string): string =>
  [...shown.matchAll(/<text:p\b[^>]*?(?:\/>|>(.*?)<\/text:p>)/gs)]
    .map(([, line = ""]) =>
      decoded(
        line
          .replaceAll(/<text:s(?: text:c="(\d+)")?\/>/g, (_, count = "1") =>
            " ".repeat(Number(count)),
          )
          .replaceAll("<text:tab/>", "\t")
          .replaceAll("<text:line-break/>", "\n")
          .replaceAll(/<[^>]*>/g, ""),
      ),
    )
    .join("\n");

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

const decoded = (text: string): string =>
  text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|([a-z]+));/gi, (whole, decimal, hex, name) =>
    name === undefined
      ? String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))
      : (entities[name] ?? whole),
  );

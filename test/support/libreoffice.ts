/** What LibreOffice makes of files that people open: their sheets, cell by cell, with the type it takes each for. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { SaxesParser } from "saxes";
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

/** What fills the rest of a sheet, a million rows, is empty and cut off in any case. */
const repeatedMax = 1000;

/** @param document a flat OpenDocument spreadsheet (OpenDocument 1.3, part 3, §9). */
function sheetsIn(document: string): Sheet[] {
  const sheets: Sheet[] = [];
  let row: SheetCell[] = [];
  /** Paragraphs of a cell, and the one that is being read; its runs of spaces and its tabs are elements. */
  let lines: string[] = [];
  let line = "";
  const say = (text: string) => void (line += text);
  const parser = new SaxesParser();
  parser.on("text", say);
  parser.on("opentag", ({ name, attributes }) => {
    if (name === "table:table") sheets.push({ name: attributes["table:name"]!, rows: [] });
    if (name === "table:table-row") row = [];
    if (name === "table:table-cell") lines = [];
    if (name === "text:p") line = "";
    if (name === "text:s") say(" ".repeat(Number(attributes["text:c"] ?? 1)));
    if (name === "text:tab") say("\t");
    if (name === "text:line-break") say("\n");
  });
  parser.on("closetag", ({ name, attributes }) => {
    const { rows } = sheets.at(-1) ?? { rows: [] };
    const value = attributes["office:value"];
    if (name === "text:p") lines.push(line);
    if (name === "table:table-cell")
      addRepeated(row, attributes["table:number-columns-repeated"], {
        type: (attributes["office:value-type"] ?? "empty") as SheetCell["type"],
        text: lines.join("\n"),
        number: value === undefined ? null : Number(value),
        formula: attributes["table:formula"] ?? null,
      });
    if (name === "table:table-row") {
      cutEnd(row, ({ type }) => type === "empty");
      addRepeated(rows, attributes["table:number-rows-repeated"], row);
    }
    if (name === "table:table") cutEnd(rows, ({ length }) => length === 0);
  });
  parser.write(document).close();
  return sheets;
}

function addRepeated<T>(all: T[], times: string | undefined, one: T): void {
  for (let i = 0; i < Math.min(Number(times ?? 1), repeatedMax); i++) all.push(one);
}

function cutEnd<T>(all: T[], isEmpty: (one: T) => boolean): void {
  all.length = all.findLastIndex((one) => !isEmpty(one)) + 1;
}

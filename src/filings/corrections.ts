/** Reads the operator's corrections, one JSON object a line, as docs/importing.md describes. */
import { ImportFault, quoted, Unreadable } from "#importers/import-fault.ts";
import { parseStrictJson } from "#importers/strict-json.ts";
import { accessionIn, cik } from "./cells.ts";
import type { Correction } from "./rows.ts";

const shapes = [
  '{"gp": ID, "is": NAME}',
  '{"cik": CIK, "gp": ID}',
  '{"same": [ID, ID]}',
  '{"apart": [ID, CIK, …]}',
  '{"person": ID, "apart": [ACCESSION, …]}',
  '{"person": ID, "field": FIELD, "value": VALUE}',
];

/** Reports whether the beginning of a file is that of corrections. */
export const looksLikeCorrections = (beginning: string): boolean =>
  /^\s*\{[^\n]*"(?:why|is|same|apart|person)"\s*:/.test(beginning);

/** @throws ImportFault for the first line that is no correction. */
export function readCorrections(bytes: Buffer, file: string): Correction[] {
  return bytes
    .toString("utf8")
    .split("\n")
    .flatMap((written, at) => {
      const line = at + 1;
      if (written.trim() === "") return [];
      const value = parseStrictJson(written);
      const fault = (reason: string) => new ImportFault(file, line, reason);
      if (value instanceof Unreadable) throw fault(value.reason);
      const found = correctionOf(value as Record<string, unknown>);
      if (typeof found === "string") throw fault(found);
      return [{ ...found.correction, why: found.why, line } as Correction];
    });
}

type Read = { correction: object; why: string } | string;

function correctionOf(value: Record<string, unknown>): Read {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return "must be a JSON object";
  const { why, ...rest } = value;
  if (!isText(why)) return 'needs "why": the reason for the correction, in a sentence';
  const correction = kindOf(rest);
  return typeof correction === "string" ? correction : { correction, why };
}

function kindOf({
  gp,
  is,
  cik: number,
  same,
  apart,
  person,
  field,
  value,
  ...others
}: Record<string, unknown>): object | string {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `has the unknown member ${quoted(unknown)}; ${expected}`;
  const given = Object.entries({ gp, is, cik: number, same, apart, person, field, value })
    .flatMap(([name, one]) => (one === undefined ? [] : [name]))
    .join();
  if (given === "gp,is" && isText(gp) && isText(is)) return { kind: "is", gp, name: is };
  if (given === "gp,cik" && isText(gp)) {
    const found = cikOf(number);
    return found === null ? `has no CIK in "cik"` : { kind: "sponsor", cik: found, gp };
  }
  if (given === "same" && isTexts(same, 2) && same.length === 2) return { kind: "same", gps: same };
  if (given === "apart" && isTexts(apart, 2)) {
    const [id, ...rest] = apart;
    const ciks = rest.map(cikOf);
    return ciks.includes(null)
      ? 'has no CIK in "apart", behind the id'
      : { kind: "apart", gp: id, ciks };
  }
  if (given === "apart,person" && isText(person) && isTexts(apart, 1)) {
    const accessions = apart.map(accessionIn);
    return accessions.includes(null)
      ? 'has no accession number, such as 0001234567-25-000001, in "apart"'
      : { kind: "personApart", person, accessions };
  }
  if (given === "person,field,value" && isText(person) && isText(field))
    return { kind: "personField", person, field, value };
  return `is no correction; ${expected}`;
}

const expected = `write ${shapes.join(", or ")}, each with "why"`;
const isText = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "";
const isTexts = (value: unknown, min: number): value is string[] =>
  Array.isArray(value) && value.length >= min && value.every(isText);
const cikOf = (value: unknown) =>
  cik(
    typeof value === "number" ? String(value) : isText(value) ? value.replace(/^cik:/, "") : null,
  );

/** Reads the operator's corrections, one JSON object a line, as docs/importing.md describes under "Corrections". */
import { ImportFault, Unreadable } from "#importers/import-fault.ts";
import { parseStrictJson } from "#importers/json.ts";
import { checkRecord } from "#records/check-record.ts";
import type { RecordKind } from "#records/kinds.ts";
import { accessionIn, cik, decoded, unseen } from "./cells.ts";

/** Correction by the operator. Its GPs and persons are given as source keys or public ids. */
export type Correction = { why: string; file: string; line: number } & (
  | { kind: "is"; gp: string; name: string }
  | { kind: "sponsor"; cik: string; gp: string }
  | { kind: "same"; gps: readonly [string, string] }
  | { kind: "apart"; gp: string; ciks: readonly string[] }
  | { kind: "personApart"; person: string; accessions: readonly string[] }
  | { kind: "personField"; person: string; field: string; value: unknown }
);

const shapes = [
  '{"gp": ID, "is": NAME}',
  '{"cik": CIK, "gp": ID}',
  '{"same": [ID, ID]}',
  '{"apart": [ID, CIK, …]}',
  '{"person": ID, "apart": [ACCESSION, …]}',
  '{"person": ID, "field": FIELD, "value": VALUE}',
];

export const looksLikeCorrections = (beginning: string): boolean =>
  /^\s*\{[^\n]*"(?:why|is|same|apart|person)"\s*:/.test(beginning);

/** Reads corrections. Skips blank lines. @throws ImportFault for the first line that is not a correction. */
export function readCorrections(bytes: Buffer, file: string): Correction[] {
  const lines = decoded(bytes).replace("\ufeff", "").split("\n");
  return lines.flatMap((written, at) => {
    if (written.trim() === "") return [];
    const value = parseStrictJson(written);
    const found = value instanceof Unreadable ? value.reason : correctionOf(value as Given | null);
    if (typeof found === "string") throw new ImportFault(file, at + 1, found);
    return [{ ...found, file, line: at + 1 } as Correction];
  });
}

type Given = Record<string, unknown>;

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "";
const isTexts = (value: unknown, min: number): value is string[] =>
  Array.isArray(value) && value.length >= min && value.every(isText);
const cikOf = (value: unknown) =>
  cik(isText(value) || typeof value === "number" ? String(value).replace(/^cik:/, "") : null);

/** Members of a record that cannot be corrected. */
const fixed = ["record", "id", "gps", "provenance", "updated_at"];

const hidden = new RegExp(String.raw`\p{Cc}|${unseen.source}`, "u");

/** Returns words for the first invisible character in a text, and the remedy. Returns undefined if there is none. */
function whyHidden(text: string): string | undefined {
  const [character] = hidden.exec(text) ?? [];
  return (
    character &&
    `the invisible character U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}; remove it`
  );
}

/** Returns why a value does not fit a member of a record. Returns undefined if it fits. */
function whyUnfit(record: RecordKind, field: string, value: unknown): string | undefined {
  if (fixed.includes(field)) return `cannot change ${field}; correct another member`;
  const fault = whyHidden(JSON.stringify(value));
  if (fault !== undefined) return `has a value with ${fault}`;
  const [unfit] = checkRecord({ record, id: "x", name: "x", [field]: value });
  return unfit && `has an invalid value: ${unfit.field} ${unfit.reason}`;
}

/** Readers by a correction's sorted keys, without `why`. Each returns members, a fault, or false for wrong types. */
const readers: Readonly<Record<string, (given: Given) => object | string | false>> = {
  "gp,is": ({ gp, is }) =>
    isText(gp) && isText(is) && (whyUnfit("gp", "name", is) ?? { kind: "is", gp, name: is }),
  "cik,gp": ({ cik: number, gp }) =>
    cikOf(number) === null
      ? 'needs a CIK in "cik", such as 0001234567'
      : isText(gp) && { kind: "sponsor", cik: cikOf(number), gp },
  same: ({ same }) => isTexts(same, 2) && same.length === 2 && { kind: "same", gps: same },
  apart({ apart }) {
    if (!isTexts(apart, 2)) return false;
    const ciks = apart.slice(1).map(cikOf);
    if (ciks.includes(null)) return 'needs CIKs after the id in "apart", such as 0001234567';
    return { kind: "apart", gp: apart[0], ciks };
  },
  "apart,person"({ person, apart }) {
    if (!isText(person) || !isTexts(apart, 1)) return false;
    const accessions = apart.map(accessionIn);
    if (accessions.includes(null))
      return 'needs accession numbers in "apart", such as 0001234567-25-000001';
    return { kind: "personApart", person, accessions };
  },
  "field,person,value": ({ person, field, value }) =>
    isText(person) &&
    isText(field) &&
    (whyUnfit("principal", field, value) ?? { kind: "personField", person, field, value }),
};

function correctionOf(given: Given | null): object | string {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return "must be a JSON object";
  const { why, ...rest } = given;
  if (!isText(why)) return 'needs "why": the reason for the correction, in a sentence';
  const fault = whyHidden(why);
  if (fault !== undefined) return `has a "why" with ${fault}`;
  const keys = Object.keys(rest).toSorted().join();
  const found = (Object.hasOwn(readers, keys) && readers[keys]!(rest)) || null;
  if (found === null) return `is not a correction; write ${shapes.join(", or ")}, each with "why"`;
  return typeof found === "string" ? found : { ...found, why };
}

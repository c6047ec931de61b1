/** Reads cells of the SEC's files, and declares the types that the readers of filings share. */
import { isUtf8 } from "node:buffer";
import { clean } from "#importers/cells.ts";
import { existsInCalendar } from "#records/fields.ts";
import { fold } from "#records/fold.ts";

/** Place where a row was read, for reports. */
export interface RowOrigin {
  /** File as the operator gave it, with the member of an archive after `!`. */
  file: string;
  /** Line on which the row begins, counted from 1; 1 for a filing that is a file of its own. */
  line: number;
}

/** Reason why a recognised filing is left out. */
export type SkipReason =
  | "test"
  /** A filing with the same number has been read already. */
  | "twice"
  | "other_form"
  /** The accession number is neither in the header nor in the path. */
  | "no_accession"
  | "no_issuer"
  | "no_offering"
  /** Schedules of a Form ADV whose base row is in no archive. */
  | "no_base";

export interface RejectedRows {
  count: number;
  /** Line of the first rejected row; null if there is none. */
  firstLine: number | null;
}

const windows1252 = new TextDecoder("windows-1252");

/** Decodes bytes as UTF-8, or as windows-1252 if they are not UTF-8. */
export const decoded = (bytes: Buffer): string =>
  isUtf8(bytes) ? bytes.toString("utf8") : windows1252.decode(bytes);

type Written = string | null | undefined;

const tidy = /^[!-~]+(?: [!-~]+)*$/;
export const unseen = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/g;

/** Maximum length of a text, in characters. Forms allow less; finding a firm in a megabyte of text would take hours. */
const textLengthMax = 4000;

/** E-mail addresses and phone numbers, which some filers write into names and clarifications. */
const contact =
  /[\s,;]{0,3}(?:[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}|(?<![\d-])\(?\d{3}\)?[\s.-]{1,2}\d{3}[\s.-]\d{4}(?![\d-]))/g;
/** Pattern of a part that every contact has. Searching for it takes a tenth of the time. */
const mayHoldContact = /@|\d{3}[\s.-]\d{4}/;

/**
 * Returns text with single spaces, without invisible characters, e-mail addresses and phone numbers. Reads only the
 * first 4,000 characters, more than any form allows. Returns null for blanks and `None`.
 */
export function text(written: Written): string | null {
  if (written === null || written === undefined || written === "") return null;
  const cut = written.slice(0, textLengthMax);
  const seen = tidy.test(cut) ? cut : cut.replace(unseen, "").replace(/\p{Cc}+/gu, " ");
  const cell = mayHoldContact.test(seen) ? seen.replace(contact, "") : seen;
  const found = tidy.test(cell) ? cell : clean(cell);
  return found === "" || (found.length === 4 && found.toLowerCase() === "none") ? null : found;
}

const months = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
const dates = [
  /^(?<year>\d{4})-?(?<month>\d\d)-?(?<day>\d\d)(?!\d)/,
  /^(?<day>\d{1,2})-(?<name>[A-Z]{3})-(?<year>\d{4}|\d\d)(?!\d)/i,
  /^(?<month>\d{1,2})\/(?<day>\d{1,2})\/(?<year>\d{4})(?!\d)/,
];

/**
 * Returns a date as `YYYY-MM-DD`, from `2026-06-30`, `20260630`, `30-JUN-2026`, `30-JUN-26` or `06/30/2026`, each with
 * or without a time of day. Returns null if the cell is not an existing date.
 */
export function date(cell: Written): string | null {
  const written = text(cell);
  for (const shape of written === null ? [] : dates) {
    const { year, month, name, day } = shape.exec(written!)?.groups ?? {};
    if (year === undefined) continue;
    const number = month ?? String(months.indexOf(name!.toUpperCase()) / 3 + 1);
    const iso = [year.padStart(4, "20"), number.padStart(2, "0"), day!.padStart(2, "0")].join("-");
    return existsInCalendar(iso) ? iso : null;
  }
  return null;
}

/**
 * Returns an amount in whole dollars, or a count. Accepts thousands separators, apostrophes around the number, and a
 * dollar sign before it. Rounds cents. Returns null for anything else, such as `Indefinite`.
 */
export function whole(cell: Written): number | null {
  const written = text(cell)?.replace(/^[\s'$]+|[\s']+$/g, "");
  if (written === undefined || !/^\d[\d,]*(?:\.\d*)?$/.test(written)) return null;
  const value = Math.round(Number(written.replaceAll(",", "")));
  return Number.isSafeInteger(value) ? value : null;
}

export const isIndefinite = (cell: Written): boolean => /^\s*indefinite\s*$/i.test(cell ?? "");

export const flag = (cell: Written): boolean => /^\s*(?:true|1|y|yes)\s*$/i.test(cell ?? "");

/** Returns a name. Returns null if it has no letter or digit. */
export function named(cell: Written): string | null {
  const found = text(cell);
  return fold(found ?? "") === "" ? null : found;
}

/** Returns a CRD number without leading zeros. Returns null if it is not a positive number of up to ten digits. */
export const crd = (cell: Written): string | null =>
  /^0*([1-9]\d{0,9})$/.exec(text(cell) ?? "")?.[1] ?? null;

/** Returns a CIK of ten digits. Returns null if the cell is not a CIK. */
export const cik = (cell: Written): string | null => crd(cell)?.padStart(10, "0") ?? null;

/** Returns an offering's file number as `021-400013`, also from `21-400013`. Returns null for other cells. */
export const formDFile = (cell: Written): string | null => {
  const found = /^0?21-?0*([1-9]\d{0,9})$/.exec(text(cell) ?? "");
  return found === null ? null : `021-${found[1]}`;
};

/** Returns the last accession number in a text such as a path, with dashes. Returns null if there is none. */
export function accessionIn(written: string): string | null {
  const all = [...written.matchAll(/(?<!\d)(\d{10})-?(\d\d)-?(\d{6})(?!\d)/g)];
  return all.at(-1)?.slice(1).join("-") ?? null;
}

const personRoles = ["executive_officer", "director", "promoter"] as const;

/** Returns the roles for relationships such as `Executive Officer`. Leaves out unknown relationships. */
export function roles(cells: readonly Written[]) {
  const given = cells.map((cell) => text(cell)?.toLowerCase().replace(" ", "_"));
  return given.flatMap((one) => personRoles.find((role) => role === one) ?? []);
}

/** Reads cells as the SEC's files have them, and names what the readers of filings hand on. */
import { isUtf8 } from "node:buffer";
import { clean } from "#importers/cells.ts";
import { existsInCalendar } from "#records/fields.ts";
import { fold } from "#records/fold.ts";

/** Why a recognised filing is left out. The report counts filings by it. */
export type SkipReason =
  | "test"
  /** Another file has it, too. */
  | "twice"
  | "other_form"
  /** Neither its header nor its path tells its accession number. */
  | "no_accession"
  | "no_issuer"
  | "no_offering"
  /** Schedules of a Form ADV whose base is in no archive. */
  | "no_base";

/** Rows of a table that could not be read. */
export interface RejectedRows {
  count: number;
  /** Line of the first; null if there is none. */
  firstLine: number | null;
}

const windows1252 = new TextDecoder("windows-1252");

/** Decodes bytes, those that are not UTF-8 as windows-1252. */
export const decoded = (bytes: Buffer): string =>
  isUtf8(bytes) ? bytes.toString("utf8") : windows1252.decode(bytes);

type Written = string | null | undefined;

const tidy = /^[!-~]+(?: [!-~]+)*$/;
export const unseen = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/g;

/** Longest text, in characters. Forms allow less; finding a firm in a text of a megabyte would take hours. */
const textLengthMax = 4000;

/** E-mail addresses and phone numbers, which some filers write into names and clarifications. */
const contact =
  /[\s,;]{0,3}(?:[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}|(?<![\d-])\(?\d{3}\)?[\s.-]{1,2}\d{3}[\s.-]\d{4}(?![\d-]))/g;
/** Finds what every one of them has, in a tenth of the time. */
const mayHoldContact = /@|\d{3}[\s.-]\d{4}/;

/**
 * Returns text with single spaces, without control and bidirectional characters, e-mail addresses and phone numbers.
 * Cuts what is longer than any form allows. Returns null for blanks and `None`.
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
 * or without a time of day. Returns null if the cell has no day that exists.
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
 * Returns an amount in whole dollars, or a count. Accepts thousands separators, cents, which are rounded, and the
 * quotes, dollar signs and spaces around a number. Returns null for all else, such as `Indefinite`.
 */
export function whole(cell: Written): number | null {
  const written = text(cell)?.replace(/^[\s'$]+|[\s']+$/g, "");
  if (written === undefined || !/^\d[\d,]*(?:\.\d*)?$/.test(written)) return null;
  const value = Math.round(Number(written.replaceAll(",", "")));
  return Number.isSafeInteger(value) ? value : null;
}

export const isIndefinite = (cell: Written): boolean => /^\s*indefinite\s*$/i.test(cell ?? "");

export const flag = (cell: Written): boolean => /^\s*(?:true|1|y|yes)\s*$/i.test(cell ?? "");

/** Returns a name. Returns null for one without letters and digits. */
export function named(cell: Written): string | null {
  const found = text(cell);
  return fold(found ?? "") === "" ? null : found;
}

/** Returns a CRD number without leading zeros. Returns null if the cell is no number of at most ten digits. */
export const crd = (cell: Written): string | null =>
  /^0*([1-9]\d{0,9})$/.exec(text(cell) ?? "")?.[1] ?? null;

/** Returns a CIK of ten digits. Returns null if the cell is no CIK. */
export const cik = (cell: Written): string | null => crd(cell)?.padStart(10, "0") ?? null;

/** Returns the file number of an offering as `021-400013`, from `21-400013`, too. Returns null if it is none. */
export const formDFile = (cell: Written): string | null => {
  const found = /^0?21-?0*([1-9]\d{0,9})$/.exec(text(cell) ?? "");
  return found === null ? null : `021-${found[1]}`;
};

/** Returns the last accession number in a text such as a path, with its dashes. Returns null if there is none. */
export function accessionIn(written: string): string | null {
  const all = [...written.matchAll(/(?<!\d)(\d{10})-?(\d\d)-?(\d{6})(?!\d)/g)];
  return all.at(-1)?.slice(1).join("-") ?? null;
}

const personRoles = ["executive_officer", "director", "promoter"] as const;
export type PersonRole = (typeof personRoles)[number];

/** Returns the roles that relationships such as `Executive Officer` stand for. */
export function roles(cells: readonly Written[]): PersonRole[] {
  const given = cells.map((cell) => text(cell)?.toLowerCase().replace(" ", "_"));
  return given.flatMap((one) => personRoles.find((role) => role === one) ?? []);
}

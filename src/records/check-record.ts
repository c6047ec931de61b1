/** Checks a canonical record and puts its faults into words, member by member. */
import { canonicalSchemas, canonicalValidators, type RecordFault } from "./canonical.ts";
import { membersOf } from "./declarations.ts";
import { datePattern, existsInCalendar, isDate } from "./fields.ts";
import { eachOf, type RecordKind, recordKinds } from "./kinds.ts";
import { fold } from "./fold.ts";
import { Fund } from "./gp.ts";
import type { TSchema } from "./schema.ts";
import { mayBeInUs, stateMembers, usStates } from "./us-states.ts";

/** The parts of a validator's finding that decide how it is worded. */
export interface Finding {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

// Text may contain line breaks and tabs. Any other ASCII control character means a damaged file.
const controlCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/**
 * Returns the faults of a record, at most one for each `field`. The list is empty if the record has none.
 * @param record any JSON value that an importer yields.
 * @param isPlain true for a record of a plain entry; see `SourceEntry`.
 */
export function checkRecord(record: unknown, isPlain = false): RecordFault[] {
  if (typeof record !== "object" || record === null || Array.isArray(record))
    return [{ field: "record", reason: "must be a JSON object" }];
  const kind = (record as { record?: unknown }).record as RecordKind;
  if (!recordKinds.includes(kind))
    return [{ field: "record", reason: `must be one of ${recordKinds.join(", ")}` }];
  const validator = canonicalValidators[kind];
  if (!validator.Check(record)) return schemaFaults(kind, validator.Errors(record)[1]);
  return valueFaults(kind, record as Record<string, unknown>, isPlain);
}

function schemaFaults(kind: RecordKind, findings: readonly Finding[]): RecordFault[] {
  const fieldOf = (pointer: string) => pointer.slice(1).replaceAll("/", ".");
  return wordFindings(findings, fieldOf, {
    boolean: () => `is not a member of a ${kind}; correct its name or remove it`,
  });
}

/** Function that puts a finding into words. @param given its parameters. @param field its field. */
type Reason = (given: Readonly<Record<string, unknown>>, field: string) => string;

/**
 * Puts a validator's findings into words, at most one for each field.
 * @param fieldOf function that returns the name of a field from its JSON pointer.
 * @param own reasons by keyword, besides the usual ones or instead of them; `boolean` is for unknown members.
 */
export function wordFindings(
  findings: readonly Finding[],
  fieldOf: (pointer: string) => string,
  own: Readonly<Record<string, Reason>>,
): RecordFault[] {
  const faults = new Map<string, string>();
  const add = (field: string, reason: string) => faults.set(field, faults.get(field) ?? reason);
  for (const { keyword, instancePath, params, message } of findings) {
    const field = fieldOf(instancePath);
    const given = params as Record<string, unknown>;
    if (keyword === "required")
      for (const name of given["requiredProperties"] as string[])
        add(field === "" ? name : `${field}.${name}`, "is required");
    // "additionalProperties" is found once for the whole object, "boolean" for each unknown member.
    else if (keyword !== "additionalProperties")
      add(field, (own[keyword] ?? reasons[keyword])?.(given, field) ?? message);
  }
  return Array.from(faults, ([field, reason]) => ({ field, reason }));
}

/** Reasons by the keyword of a finding. */
const reasons: Readonly<Record<string, Reason>> = {
  type: ({ type }) => `must be ${typeWords(type)}`,
  enum: ({ allowedValues }) =>
    `must be one of ${(allowedValues as (string | null)[]).filter((value) => value !== null).join(", ")}`,
  minLength: () => "must not be empty; leave it out if it is unknown and not required",
  maxLength: ({ limit }) => `must have at most ${Number(limit)} characters`,
  minimum: ({ limit }) => `must be at least ${Number(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${Number(limit)}`,
  maximum: ({ limit }) => `must be at most ${Number(limit)}`,
  pattern: ({ pattern }) => patternWords(String(pattern)),
};

const notInCalendar = "must be a date or time that exists";

function typeWords(type: unknown): string {
  const words: Record<string, string> = {
    string: "text",
    integer: "a whole number",
    number: "a number",
    boolean: "true or false",
    array: "a list",
    object: "an object",
  };
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null");
  return types.map((one) => words[String(one)] ?? String(one)).join(" or ");
}

function patternWords(pattern: string): string {
  if (pattern.startsWith("^https?")) return "must begin with http:// or https://";
  if (pattern === datePattern) return "must be a date: YYYY, YYYY-MM or YYYY-MM-DD";
  const time = "a time in UTC such as 2026-03-31T12:00:00Z";
  return pattern.startsWith(datePattern)
    ? `must be a date (YYYY, YYYY-MM or YYYY-MM-DD) or ${time}`
    : `must be ${time}`;
}

const foldedMembers = ["name", "legal_name", "aliases", "tags", "themes", "market", "markets"];

/** Returns a schema's date members and folded members, each with a check to run after the schema's own check. */
const checksOf = (schema: TSchema) =>
  membersOf(schema).flatMap(([name, member]) => {
    if (isDate(member)) return [{ name, check: dayFault }];
    return foldedMembers.includes(name) ? [{ name, check: foldFault }] : [];
  });

const checkedMembers = eachOf(recordKinds, (kind) => checksOf(canonicalSchemas[kind]));
const checkedOfFund = checksOf(Fund);

/**
 * Returns true only if JSON has no lone surrogates and no ASCII control characters other than line breaks and tabs.
 * `JSON.stringify` escapes all of these but DEL. Returns false for some harmless JSON, too.
 */
const isPlainJson = (json: string) =>
  !json.includes("\x7f") && (!json.includes("\\") || !/\\[bfu]/.test(json));

/**
 * Returns faults that the schemas do not express: days that do not exist, text that cannot be searched or sent, and
 * unknown US states. Searches members for bad text only if the record may have some: one test of the whole is faster.
 */
function valueFaults(
  kind: RecordKind,
  record: Readonly<Record<string, unknown>>,
  isPlain: boolean,
): RecordFault[] {
  const faults: RecordFault[] = [];
  const add = (field: string, reason: string | undefined) => {
    if (reason !== undefined && !faults.some((fault) => fault.field === field))
      faults.push({ field, reason });
  };
  if (!isPlain && !isPlainJson(JSON.stringify(record)))
    for (const [field, value] of Object.entries(record)) add(field, textFault(value));
  for (const { name, check } of checkedMembers[kind]) add(name, check(record[name]));
  for (const [i, fund] of ((record["funds"] ?? []) as Record<string, unknown>[]).entries())
    for (const { name, check } of checkedOfFund) add(`funds.${i}.${name}`, check(fund[name]));
  for (const { field, reason } of stateFaults(record)) add(field, reason);
  return faults;
}

const stateFaults = (record: Readonly<Record<string, unknown>>): RecordFault[] =>
  stateMembers
    .filter(([state, country]) => isUnknownState(record[state]) && mayBeInUs(record[country]))
    .map(([field, country]) => ({
      field,
      reason: `must be a USPS code such as TX, unless ${country} names a country other than the US`,
    }));

const isUnknownState = (state: unknown) =>
  typeof state === "string" && !Object.hasOwn(usStates, state);

function textFault(value: unknown): string | undefined {
  if (typeof value !== "string")
    return Object.values(value ?? {})
      .map(textFault)
      .find((reason) => reason !== undefined);
  const code = controlCharacter
    .exec(value)?.[0]
    .charCodeAt(0)
    .toString(16)
    .toUpperCase()
    .padStart(4, "0");
  if (code !== undefined) return `contains the control character U+${code}; remove it`;
  return value.isWellFormed()
    ? undefined
    : "contains half a character (a lone surrogate); remove it";
}

/** Pattern of years, months and days that exist in every year, with or without a time. They need no calendar. */
const inEveryYear =
  /^\d{4}(?:-\d\d(?:-(?:[01]\d|2[0-8]|(?<!-02-)(?:29|30)|(?<=-(?:0[13578]|1[02])-)31)(?:T(?:[01]\d|2[0-3])(?::[0-5]\d){2}.*)?)?)?$/;

/** Returns a fault if a day or time does not exist, else undefined. @param value member that matches its schema. */
function dayFault(value: unknown): string | undefined {
  const exists = typeof value !== "string" || inEveryYear.test(value) || existsInCalendar(value);
  return exists ? undefined : notInCalendar;
}

/** ASCII letters and digits, which folding keeps. */
const plainLetterOrDigit = /[a-z0-9]/i;

const isFoldedAway = (text: unknown) =>
  typeof text === "string" && !plainLetterOrDigit.test(text) && fold(text) === "";

function foldFault(value: unknown): string | undefined {
  return (Array.isArray(value) ? value.some(isFoldedAway) : isFoldedAway(value))
    ? "must have a letter or a digit, or nobody could find it"
    : undefined;
}

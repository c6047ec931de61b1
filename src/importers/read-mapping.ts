/** Reads a mapping file and finds its faults, each with its path in the file. */
import { Errors } from "typebox/schema";
import type { RecordFault } from "#records/canonical.ts";
import { checkRecord, wordFindings } from "#records/check-record.ts";
import { membersOf } from "#records/declarations.ts";
import type { TSchema } from "#records/schema.ts";
import { comparable, parseTemplate } from "./cells.ts";
import { isoFormats, readDate } from "./dates.ts";
import { decoderOf } from "./encoding.ts";
import { ImportFault, quoted, Unreadable } from "./import-fault.ts";
import {
  chooseMark,
  type Field,
  type FieldKind,
  fieldsOf,
  grouped,
  idField,
  namesField,
  numberKinds,
  Condition,
  Mapping,
  NamedGps,
  neededIn,
  RecordBlock,
  SourceOfField,
} from "./mapping.ts";
import { nearest } from "./nearest.ts";
import { readBytes } from "./source-file.ts";
import { parseStrictJson } from "./json.ts";

/**
 * Reads a mapping.
 * @param path path of a JSON file that follows examples/mappings/mapping.schema.json.
 * @throws ImportFault if the file cannot be read or is not a mapping. The error lists the mapping's faults with their
 *   places, such as `records[0].fields.status`.
 */
export async function readMapping(path: string): Promise<Mapping> {
  const bytes = Buffer.concat(await Array.fromAsync(readBytes(path)));
  const text = decoderOf("utf-8")(bytes);
  if (text instanceof Unreadable)
    throw new ImportFault(path, null, "is not UTF-8; save it as UTF-8");
  const value = parseStrictJson(text);
  if (value instanceof Unreadable) throw new ImportFault(path, null, value.reason);
  const questions = questionsIn(value, "");
  if (questions.length > 0)
    throw new ImportFault(
      path,
      null,
      `has texts that begin with ${quoted(chooseMark.trim())}; replace each of them as follows`,
      questions,
    );
  const faults = checkMapping(value);
  if (faults.length > 0)
    throw new ImportFault(path, null, "is not a valid mapping; correct these faults", faults);
  return value as Mapping;
}

/** Returns a fault for each text of a drafted mapping that must still be replaced. */
function questionsIn(value: unknown, path: string): RecordFault[] {
  if (typeof value === "string")
    return value.startsWith(chooseMark)
      ? [{ field: path, reason: `write ${value.slice(chooseMark.length)}` }]
      : [];
  if (Array.isArray(value)) return value.flatMap((one, at) => questionsIn(one, `${path}[${at}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    questionsIn(
      one,
      /^\$?\w+$/.test(name) && !path.endsWith(".values")
        ? join(path, name)
        : `${path}[${quoted(name)}]`,
    ),
  );
}

/** Returns the faults of a mapping. @param value any JSON value; a `Mapping` if it has no faults. */
function checkMapping(value: unknown): RecordFault[] {
  const faults = shapeFaults(Mapping, value, "");
  if (!isObject(value)) return [{ field: "mapping", reason: "must be an object" }];
  const { records, named_gps: namedGps } = value;
  if (Array.isArray(records))
    for (const [at, block] of records.entries())
      if (isObject(block)) faults.push(...checkBlock(block, `records[${at}]`));
  if (isObject(namedGps)) faults.push(...checkNamedGps(namedGps, "named_gps"));
  return faults;
}

function checkBlock(block: Record<string, unknown>, path: string): RecordFault[] {
  const faults = shapeFaults(RecordBlock, block, path);
  if (faults.some(({ field }) => field === `${path}.record`)) return faults;
  const kind = (block as RecordBlock).record;
  for (const name of ["when", "deleted"])
    if (isObject(block[name]))
      faults.push(...shapeFaults(Condition, block[name], `${path}.${name}`));
  if (block["id"] !== undefined) faults.push(...checkSources(block["id"], idField, `${path}.id`));
  if (!isObject(block["fields"])) return faults;
  const fields = block["fields"];
  for (const name of neededIn(kind))
    if (fields[name] === undefined)
      faults.push({ field: `${path}.fields.${name}`, reason: "is required" });
  return [...faults, ...checkFields(fields, fieldsOf(kind), `${path}.fields`, "")];
}

/** Returns the faults of fields. @param group name of the group that has these fields; empty for a block's own. */
function checkFields(
  fields: Record<string, unknown>,
  known: ReadonlyMap<string, Field>,
  path: string,
  group: string,
): RecordFault[] {
  return Object.entries(fields).flatMap(([name, written]) => {
    const at = `${path}.${name}`;
    const field = known.get(join(group, name));
    if (field !== undefined && !name.includes(".")) return checkSources(written, field, at);
    if (group === "" && grouped.includes(name))
      return isObject(written)
        ? checkFields(written, known, at, name)
        : [{ field: at, reason: "must be an object" }];
    return [{ field: at, reason: unknownName(name, namesIn(known, group)) }];
  });
}

function namesIn(known: ReadonlyMap<string, Field>, group: string): string[] {
  const steps = [...known.keys()].map((path) => path.split("."));
  const names = steps.map(([first = "", second]) =>
    group === "" ? first : first === group ? second : undefined,
  );
  return [...new Set(names)].filter((name) => name !== undefined);
}

function checkNamedGps(named: Record<string, unknown>, path: string): RecordFault[] {
  const faults = shapeFaults(NamedGps, named, path);
  if (named["names"] !== undefined)
    faults.push(...checkSources(named["names"], namesField, `${path}.names`));
  if (isObject(named["external_ids"])) {
    const at = `${path}.external_ids`;
    faults.push(...checkFields(named["external_ids"], fieldsOf("gp"), at, "external_ids"));
  }
  if (!isObject(named["constants"])) return faults;
  const example = { name: "Example", ...named["constants"], record: "gp", id: "example" };
  const constants = checkRecord(example).map(({ field, reason }) => ({
    field: `${path}.constants.${field}`,
    reason,
  }));
  return [...faults, ...constants];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Checks a value against a schema, and returns its faults. @param path path of the value; "" for a mapping. */
const shapeFaults = (schema: TSchema, value: unknown, path: string): RecordFault[] =>
  wordFindings(Errors(schema, value)[1], (pointer) => pathOf(path, pointer), {
    boolean: (_, at) =>
      unknownName(
        at.split(".").at(-1)!,
        membersOf(schema).map(([name]) => name),
      ),
    minItems: () => "must not be empty",
    minLength: () => "must not be empty",
    pattern: () => "must be one character other than a letter, digit or quote",
  });

const join = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);

function pathOf(path: string, pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((at, step) => (/^\d+$/.test(step) ? `${at}[${step}]` : join(at, step)), path);
}

function unknownName(name: string, known: readonly string[]): string {
  const [suggestion] = nearest(name, known);
  return suggestion === undefined
    ? `is an unknown name; the known names are ${known.join(", ")}`
    : `is an unknown name; did you mean ${quoted(suggestion)}?`;
}

const origins = ["column", "columns", "template", "constant"] as const;

/** Options that apply only to some kinds of field, each with a word for the values in messages, and the kinds. */
const optionsOf: readonly (readonly [keyof SourceOfField, string, readonly FieldKind[]])[] = [
  ["dates", "dates", ["date"]],
  ["decimal", "numbers", numberKinds],
  ["multiply_by", "numbers", numberKinds],
  ["case", "text", ["text"]],
  ["fold", "text", ["text"]],
];

/** Returns the faults of a field's sources. @param written a column, a source or, for a list field, a list of them. */
function checkSources(written: unknown, field: Field, path: string): RecordFault[] {
  if (Array.isArray(written) && field.list)
    return written.flatMap((one, at) => checkSource(one, field, `${path}[${at}]`));
  return checkSource(written, field, path);
}

function checkSource(source: unknown, field: Field, path: string): RecordFault[] {
  if (typeof source === "string")
    return source === "" ? [{ field: path, reason: "must be the name of a column" }] : [];
  if (!isObject(source)) {
    const orList = field.list ? ", or a list of them" : "";
    return [{ field: path, reason: `must be the name of a column or an object${orList}` }];
  }
  const shape = shapeFaults(SourceOfField, source, path);
  return shape.length > 0 ? shape : checkMeaning(source as SourceOfField, field, path);
}

function checkMeaning(source: SourceOfField, field: Field, path: string): RecordFault[] {
  const said = (option: string, reason: string) => [{ field: `${path}.${option}`, reason }];
  const given = origins.filter((origin) => source[origin] !== undefined);
  if (given.length !== 1)
    return [{ field: path, reason: `must have exactly one of ${origins.join(", ")}` }];
  if (source.constant !== undefined) return checkConstant(source, field, path);
  return [
    ...(source.template !== undefined && parseTemplate(source.template) === undefined
      ? said("template", "must contain columns in braces, as in {First Name} {Last Name}")
      : []),
    ...optionsOf
      .filter(([option, , kinds]) => source[option] !== undefined && !kinds.includes(field.kind))
      .flatMap(([option, what]) => said(option, `applies only to ${what}; remove it`)),
    ...(source.separator !== undefined && !field.list && field.kind !== "text"
      ? said("separator", "applies only to lists and text; remove it")
      : []),
    ...(source.otherwise !== undefined && source.otherwise_value !== undefined
      ? said("otherwise_value", "cannot be combined with otherwise; remove one of them")
      : []),
    ...checkValues(source, field, path),
  ];
}

function checkConstant(
  { constant, ...options }: SourceOfField,
  field: Field,
  path: string,
): RecordFault[] {
  const others = Object.keys(options).map((option) => ({
    field: `${path}.${option}`,
    reason: "cannot be combined with constant; remove one of them",
  }));
  const reason = valueFault(constant, field);
  return reason === undefined ? others : [...others, { field: `${path}.constant`, reason }];
}

function checkValues(
  { values = {}, present, otherwise_value: otherwise }: SourceOfField,
  field: Field,
  path: string,
): RecordFault[] {
  const faults: RecordFault[] = [];
  const check = (value: unknown, at: string) => {
    const reason = valueFault(value, field);
    if (reason !== undefined) faults.push({ field: at, reason });
  };
  const words = new Map<string, string>();
  for (const [word, value] of Object.entries(values)) {
    const at = `${path}.values[${quoted(word)}]`;
    const same = words.get(comparable(word));
    if (same !== undefined)
      faults.push({ field: at, reason: `repeats the cell ${quoted(same)}; remove one of them` });
    words.set(comparable(word), word);
    if (value !== null) check(value, at);
  }
  if (present !== undefined) check(present, `${path}.present`);
  if (otherwise !== undefined) check(otherwise, `${path}.otherwise_value`);
  return faults;
}

/** Returns why a value or list of the mapping does not fit a field. Returns undefined if it fits. */
function valueFault(value: unknown, field: Field): string | undefined {
  if (Array.isArray(value) && !field.list)
    return "must be a single value, because the field takes no list";
  return [value]
    .flat()
    .map((one) => itemFault(one, field))
    .find((fault) => fault !== undefined);
}

function itemFault(value: unknown, { kind, choices }: Field): string | undefined {
  if (kind === "whole" || kind === "money")
    return Number.isSafeInteger(value) ? undefined : "must be a whole number";
  if (kind === "decimal") return typeof value === "number" ? undefined : "must be a number";
  if (typeof value !== "string" || value === "") return "must be text";
  if (kind === "choice")
    return choices.includes(value) ? undefined : `must be one of ${choices.join(", ")}`;
  if (kind === "date")
    return readDate(value, isoFormats) instanceof Unreadable
      ? "must be a date that exists, as YYYY, YYYY-MM or YYYY-MM-DD"
      : undefined;
  return kind === "link" && !/^https?:\/\//.test(value)
    ? "must begin with http:// or https://"
    : undefined;
}

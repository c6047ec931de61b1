/** Finds what is wrong with the source of one field: its shape, its options, the values it would give. */
import type { RecordFault } from "#records/source-entry.ts";
import { comparable } from "./cells.ts";
import { isoFormats, readDate } from "./dates.ts";
import type { Field, FieldKind } from "./fields.ts";
import { SourceOfField } from "./mapping.ts";
import { shapeFaults } from "./shape-faults.ts";
import { parseTemplate } from "./template.ts";
import { quoted, Unreadable } from "./unreadable.ts";

const origins = ["column", "columns", "template", "constant"] as const;

/** Options that only some kinds of field have a use for. */
const optionsOf: readonly (readonly [keyof SourceOfField, string, readonly FieldKind[]])[] = [
  ["dates", "dates", ["date"]],
  ["multiply_by", "numbers", ["whole", "money", "decimal"]],
  ["case", "texts", ["text"]],
  ["fold", "texts", ["text"]],
];

/** @param written what stands in the file at `path`: a column, a source or, for a list, several. */
export function checkSources(written: unknown, field: Field, path: string): RecordFault[] {
  if (Array.isArray(written) && field.list)
    return written.flatMap((one, at) => checkSource(one, field, `${path}[${at}]`));
  return checkSource(written, field, path);
}

function checkSource(source: unknown, field: Field, path: string): RecordFault[] {
  if (typeof source === "string")
    return source === "" ? [{ field: path, reason: "must name a column" }] : [];
  if (typeof source !== "object" || source === null || Array.isArray(source))
    return [
      {
        field: path,
        reason: `must be a column or an object${field.list ? ", or a list of them" : ""}`,
      },
    ];
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
      ? said("template", "must hold columns in braces, as in {First Name} {Last Name}")
      : []),
    ...optionsOf
      .filter(([option, , kinds]) => source[option] !== undefined && !kinds.includes(field.kind))
      .flatMap(([option, what]) => said(option, `is for ${what} only`)),
    ...(source.separator !== undefined && !field.list
      ? said("separator", "is for lists only")
      : []),
    ...(source.otherwise !== undefined && source.otherwise_value !== undefined
      ? said("otherwise_value", "must not stand beside otherwise")
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
    reason: "must not stand beside constant",
  }));
  const values = [constant].flat();
  const reason =
    constant === null || (Array.isArray(constant) && !field.list)
      ? "must be one value"
      : values.map((value) => valueFault(value, field)).find((fault) => fault !== undefined);
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
      faults.push({ field: at, reason: `is the same cell as ${quoted(same)}` });
    words.set(comparable(word), word);
    if (Array.isArray(value) && !field.list)
      faults.push({ field: at, reason: "must be one value" });
    else if (value !== null) for (const one of [value].flat()) check(one, at);
  }
  if (present !== undefined) check(present, `${path}.present`);
  if (otherwise !== undefined) check(otherwise, `${path}.otherwise_value`);
  return faults;
}

/** Why a value of the mapping could not stand in this field. */
function valueFault(value: unknown, { kind, choices }: Field): string | undefined {
  if (kind === "whole" || kind === "money")
    return Number.isSafeInteger(value) ? undefined : "must be a whole number";
  if (kind === "decimal") return typeof value === "number" ? undefined : "must be a number";
  if (typeof value !== "string" || value === "") return "must be text";
  if (kind === "choice")
    return choices.includes(value) ? undefined : `must be one of ${choices.join(", ")}`;
  if (kind === "date") {
    const date = readDate(value, isoFormats);
    return date instanceof Unreadable ? date.reason : undefined;
  }
  return kind === "link" && !/^https?:\/\//.test(value)
    ? "must begin with http:// or https://"
    : undefined;
}

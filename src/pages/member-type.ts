/** The type of a record's member in words, read from its JSON Schema. */
import { datePattern } from "#records/fields.ts";
import type { MemberSchema } from "#records/value-lists.ts";

/** Whether it may be `null`. */
export const isNullable = ({ type }: MemberSchema): boolean => typesOf(type).includes("null");

/** A type in words: `text`, `date`, `list of ids`. */
export function typeWords(schema: MemberSchema): string {
  const [type] = typesOf(schema.type);
  switch (type) {
    case "array":
      return `list of ${plurals[typeWords(schema.items ?? {})] ?? "values"}`;
    case "integer":
      return "whole number";
    case "string":
      return textWords(schema);
    default:
      return type ?? "any";
  }
}

const typesOf = (type: MemberSchema["type"]): readonly string[] =>
  typeof type === "string" ? [type] : (type ?? []);

const plurals: Readonly<Record<string, string>> = {
  text: "texts",
  id: "ids",
  value: "values",
  object: "objects",
};

function textWords({ enum: values, format, pattern = "" }: MemberSchema): string {
  if (values !== undefined) return "value";
  if (format === "date-time") return "time";
  if (pattern === datePattern) return "date";
  if (pattern.startsWith(datePattern)) return "date or time";
  if (pattern.startsWith("^http")) return "URL";
  return /^\^[a-z]+_/.test(pattern) ? "id" : "text";
}

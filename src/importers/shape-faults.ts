/** Says in words where a part of a mapping has not the shape of its schema. */
import type { TProperties, TSchema } from "typebox";
import { Errors } from "typebox/value";
import type { RecordFault } from "#records/source-entry.ts";
import { nearest } from "./nearest.ts";

/** @param path where the part stands in the file: `records[0].fields`, empty for the whole. */
export function shapeFaults(schema: TSchema, value: unknown, path: string): RecordFault[] {
  const faults = new Map<string, string>();
  for (const { keyword, instancePath, params, message } of Errors(schema, value)) {
    const at = pathOf(path, instancePath);
    const given = params as Record<string, unknown>;
    if (keyword === "required")
      for (const name of given["requiredProperties"] as string[])
        faults.set(join(at, name), "is required");
    else if (keyword === "boolean") faults.set(at, unknownWords(schema, at));
    else if (keyword !== "additionalProperties" && !faults.has(at))
      faults.set(at, words(keyword, given, message));
  }
  return [...faults].map(([field, reason]) => ({ field, reason }));
}

export const join = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);

function pathOf(path: string, pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((at, step) => (/^\d+$/.test(step) ? `${at}[${step}]` : join(at, step)), path);
}

function unknownWords(schema: TSchema, path: string): string {
  const known = Object.keys((schema as { properties?: TProperties }).properties ?? {});
  return notKnown(path.split(".").at(-1) ?? path, known);
}

/** What to say of a name that is none of the known ones. */
export function notKnown(name: string, known: readonly string[]): string {
  const [suggestion] = nearest(name, known);
  return suggestion === undefined
    ? `is not known here; known are ${known.join(", ")}`
    : `is not known here; did you mean ${suggestion}?`;
}

function words(keyword: string, params: Record<string, unknown>, message: string): string {
  if (keyword === "enum")
    return `must be one of ${(params["allowedValues"] as string[]).join(", ")}`;
  if (keyword === "type") return `must be ${[params["type"]].flat().map(typeWord).join(" or ")}`;
  if (keyword === "minItems" || keyword === "minLength") return "must not be empty";
  if (keyword === "pattern") return "must be one character that is no letter, digit or quote";
  return message;
}

function typeWord(type: unknown): string {
  const names: Record<string, string> = {
    string: "text",
    number: "a number",
    boolean: "true or false",
    array: "a list",
    object: "an object",
    null: "null",
  };
  return names[String(type)] ?? String(type);
}

/** Reads a tool call's arguments by the tool's schema. Describes the wrong ones and suggests corrections. */
import { nearest, nearestValue } from "#records/edit-distance.ts";
import { faultOfDate, lengthFault } from "#operations/parameters.ts";
import { echo, listedMax, type ParameterFault } from "#problems.ts";

/** The part of JSON Schema that arguments use. */
interface ArgumentSchema {
  readonly type: "string" | "array" | "integer" | "number" | "boolean";
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: ArgumentSchema;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number;
}

export interface ArgumentsSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, ArgumentSchema & { readonly description: string }>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export interface ArgumentFault extends Omit<ParameterFault, "code"> {
  code: ParameterFault["code"] | "wrong_type";
}

/** Value of an argument, given or default. */
export type ArgumentValue = string | readonly string[] | number | boolean;

/**
 * Reads arguments, which may be any values. Returns those that are right, at most `listedMax` faults in the order of
 * the arguments, with missing ones last, and the number of all faults.
 */
export function readArguments(
  tool: string,
  schema: ArgumentsSchema,
  given: Readonly<Record<string, unknown>>,
) {
  const { properties, required } = schema;
  const allowed = Object.keys(properties);
  const values: Record<string, ArgumentValue> = {};
  const faults: ArgumentFault[] = [];
  let faultCount = 0;
  /** Adds a fault, but describes it only if it is listed: finding a suggestion costs more than reading a name. */
  const add = (describe: () => ArgumentFault) => {
    if (faultCount++ < listedMax) faults.push(describe());
  };
  for (const [name, { default: byDefault }] of Object.entries(properties))
    if (byDefault !== undefined) values[name] = byDefault;
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(properties, name)) {
      add(() => unknown(tool, name, allowed));
      continue;
    }
    // Some programs send null for an argument instead of leaving it out.
    if (value === null) continue;
    const fault = faultOf(name, value, properties[name]!);
    if (fault !== undefined) add(() => fault);
    else values[name] = value as ArgumentValue;
  }
  for (const name of required)
    if ((given[name] ?? null) === null)
      add(() => ({
        parameter: name,
        code: "missing",
        detail: `Required: ${properties[name]!.description}`,
      }));
  return { values, faults, faultCount };
}

/** Returns an error's `detail`: the number of faults, and the detail of each listed one. */
export function faultsDetail(faults: readonly ArgumentFault[], count: number): string {
  const problems = count === 1 ? "1 problem" : `${count} problems`;
  const first = faults.length < count ? `, of which these are the first ${faults.length}` : "";
  return `${problems}${first}: ${faults.map(({ parameter, detail }) => `'${parameter}': ${detail}`).join(" ")}`;
}

function unknown(tool: string, name: string, allowed: readonly string[]): ArgumentFault {
  const suggestion = nearest(name, allowed);
  return {
    parameter: echo(name),
    code: "unknown_parameter",
    detail: `Not an argument of ${tool}.${didYouMean(suggestion)} It takes ${allowed.join(", ")}.`,
    ...(suggestion !== undefined && { suggestion }),
    allowed,
  };
}

const didYouMean = (suggestion: string | undefined) =>
  suggestion === undefined ? "" : ` Did you mean '${suggestion}'?`;

function faultOf(
  parameter: string,
  value: unknown,
  rule: ArgumentSchema,
): ArgumentFault | undefined {
  switch (rule.type) {
    case "integer":
    case "number":
      return faultOfNumber(parameter, value, rule);
    case "boolean":
      return typeof value === "boolean"
        ? undefined
        : { parameter, code: "wrong_type", detail: "Must be true or false, without quotes." };
    case "array":
      return faultOfList(parameter, value, rule);
    case "string":
      return faultOfText(parameter, value, rule);
  }
}

function faultOfNumber(
  parameter: string,
  value: unknown,
  { type, minimum = -Infinity, maximum = Infinity }: ArgumentSchema,
): ArgumentFault | undefined {
  const isWhole = type === "integer";
  const detail = `Must be a ${isWhole ? "whole " : ""}number from ${minimum} to ${maximum}, such as ${Math.max(minimum, Math.min(20, maximum))}, without quotes.`;
  if (isWhole ? !Number.isInteger(value) : typeof value !== "number")
    return { parameter, code: isWhole ? "not_an_integer" : "wrong_type", detail, minimum, maximum };
  const isInRange = Number(value) >= minimum && Number(value) <= maximum;
  return isInRange ? undefined : { parameter, code: "out_of_range", detail, minimum, maximum };
}

function faultOfList(
  parameter: string,
  value: unknown,
  { items = { type: "string" }, maxItems = Infinity }: ArgumentSchema,
): ArgumentFault | undefined {
  if (!Array.isArray(value)) {
    const example = JSON.stringify([items.enum?.[0] ?? "value"]);
    return {
      parameter,
      code: "wrong_type",
      detail: `Must be a list of strings, such as ${example}.`,
    };
  }
  if (value.length > maxItems)
    return {
      parameter,
      code: "too_many_values",
      detail: `May hold at most ${maxItems} values.`,
      maximum: maxItems,
    };
  const faults = value.map((item) => faultOfText(parameter, item, items));
  return faults.find((fault) => fault !== undefined);
}

const controlCharacter = /\p{Cc}/u;

function faultOfText(
  parameter: string,
  value: unknown,
  { enum: values, minLength = 1, maxLength = Infinity, pattern }: ArgumentSchema,
): ArgumentFault | undefined {
  if (typeof value !== "string")
    return { parameter, code: "wrong_type", detail: "Must be a string." };
  if (values !== undefined)
    return values.includes(value) ? undefined : unlisted(parameter, value, values);
  if (pattern !== undefined) return faultOfDate(parameter, value);
  if (controlCharacter.test(value) || !value.isWellFormed())
    return {
      parameter,
      code: "invalid_encoding",
      detail: "Must be Unicode text without control characters.",
    };
  return lengthFault(parameter, value.trim(), minLength, maxLength);
}

function unlisted(parameter: string, value: string, allowed: readonly string[]): ArgumentFault {
  const suggestion = nearestValue(value, allowed);
  return {
    parameter,
    code: "unknown_value",
    detail: `'${echo(value)}' is not one of its values.${didYouMean(suggestion)} They are ${allowed.join(", ")}.`,
    ...(suggestion !== undefined && { suggestion }),
    allowed,
  };
}

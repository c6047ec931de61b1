/** Reads a query string: returns a query with valid parameters, or throws one problem that counts all faults. */
import { listedMax, type ParameterFault } from "#problems/kinds.ts";
import { echo, Problem } from "#problems.ts";
import { existsInCalendar } from "#records/fields.ts";
import { dateKey, firstDay, isRelative, lastDay, onDay } from "#search/dates.ts";
import type { Between } from "#search/own-values.ts";
import type { Filter, Order } from "#search/read-model.ts";
import { nearest, nearestValue } from "#records/edit-distance.ts";
import {
  askedDatePattern,
  type DeclaredFilter,
  type Form,
  isRepeatable,
  type Operation,
  pageSchemas,
  parameterBounds,
  parametersOf,
  type Query,
  type TakesParameters,
} from "./operation.ts";

/** An operation, or something else whose parameters are read in the same way. */
interface Path extends TakesParameters {
  /** Path of the operation, or its name as a tool, for messages. */
  readonly path: string;
}

/** An operation. Its `path` is the name by which the caller knows it. */
type KnownPath = Path & Pick<Operation, "kind">;

interface Reading {
  /** Value of `limit` if a query leaves it out; 20 by default. */
  limitDefault?: number;
  /** Day of the dataset, from which dates such as `-90d` are counted; omitted if there is none. */
  day?: string | undefined;
}

/**
 * Reads the query of an operation.
 * @param text everything after the first `?` of the request, undecoded.
 * @param all every operation, to say which others take an unknown parameter.
 * @throws Problem as `readParameters` does.
 */
export function readQuery(
  operation: Path,
  text: string,
  pageSizeMax: number,
  all: readonly KnownPath[],
  { limitDefault = parameterBounds.limitDefault, day }: Reading = {},
): Query {
  const values = readParameters(operation, readPairs(text), pageSizeMax, all, day);
  return queryFrom(operation, values, limitDefault);
}

/** Values of parameters by name, as they were given. */
export type GivenValues = ReadonlyMap<string, readonly string[]>;

/**
 * Checks parameters, and returns their values.
 * @param all every operation, to say which others take an unknown parameter.
 * @param day day of the dataset, from which dates such as `-90d` are counted; undefined if there is none.
 * @throws Problem `invalid-parameters` with the number of faults and the first of them, in the order of the pairs.
 *   Missing parameters and ranges that end before they begin come last.
 */
export function readParameters(
  operation: Path,
  pairs: Iterable<Pair>,
  pageSizeMax: number,
  all: readonly KnownPath[],
  day?: string,
): GivenValues {
  const allowed = parametersOf(operation);
  const faults: ParameterFault[] = [];
  let faultCount = 0;
  /** Adds a fault, but describes it only if it is listed: finding a suggestion costs more than reading the pair. */
  const add = (describe: () => ParameterFault) => {
    if (faultCount++ < listedMax) faults.push(describe());
  };
  const values = new Map<string, string[]>();
  const read = new Set<string>();
  const faultOf = (name: string, value: string): ParameterFault | undefined =>
    read.has(name) && !isRepeatable(operation, name)
      ? { parameter: name, code: "repeated_parameter", detail: "Must be given only once." }
      : faultOfValue(name, value, operation, pageSizeMax);
  for (const pair of pairs) {
    const { name, value } = pair;
    const isKnown = allowed.includes(name);
    const fault = unreadable(pair) ?? (isKnown ? faultOf(name, value) : undefined);
    if (fault !== undefined) add(() => fault);
    else if (isKnown) {
      const known = values.get(name) ?? [];
      known.push(value);
      values.set(name, known);
      const { valuesMax = 1 } = operation.filters[name] ?? {};
      if (known.length === valuesMax + 1) add(() => tooMany(name, valuesMax));
    } else if (!read.has(name)) add(() => unknown(name, { path: operation.path, allowed }, all));
    read.add(name);
  }
  for (const name in operation.filters) {
    const filter = operation.filters[name]!;
    if (filter.isRequired && !read.has(name)) add(() => missing(name, filter));
    const fault = outOfOrder(operation, name, values, day);
    if (fault !== undefined) add(() => fault);
  }
  if (faultCount > 0) throw invalidParameters(faults, faultCount);
  return values;
}

/** Returns a range's fault if it ends before it begins, or undefined. @param toName filter that may set the end. */
function outOfOrder(
  { filters }: Path,
  toName: string,
  values: GivenValues,
  day: string | undefined,
): ParameterFault | undefined {
  const { form, end, condition, isOfSignal } = filters[toName]!;
  const to = values.get(toName)?.[0];
  if (end !== "to" || to === undefined) return undefined;
  const [fromName] = Object.entries(filters).find(
    ([, one]) => one.condition === condition && one.isOfSignal === isOfSignal,
  )!;
  const from = values.get(fromName)?.[0];
  if (from === undefined || !isAfter(from, to, form, day)) return undefined;
  const isBeyond = form === "number" ? "more than" : "after";
  return {
    parameter: fromName,
    code: "out_of_order",
    detail: `Must not be ${isBeyond} '${toName}', but ${echo(from)} is ${isBeyond} ${echo(to)}.`,
  };
}

/** Reports whether a range surely ends before it begins. A day is not before the month or year that contains it. */
function isAfter(from: string, to: string, form: Form, day: string | undefined): boolean {
  if (form === "number") return Number(from) > Number(to);
  if (day === undefined && isRelative(from) !== isRelative(to)) return false;
  const keyOf = (date: string) => dateKey(onDay(date, day ?? "2000-01-01"));
  return firstDay(keyOf(from)) > lastDay(keyOf(to));
}

/** Refuses every parameter on a path that takes none. @throws Problem `invalid-parameters`, as `readQuery` does. */
export function refuseParameters(path: string, text: string, all: readonly Operation[]): void {
  const names = new Map(readPairs(text).map((pair) => [pair.name, pair]));
  if (names.size === 0) return;
  const faults = [...names.values()]
    .slice(0, listedMax)
    .map((pair) => unreadable(pair) ?? unknown(pair.name, { path, allowed: [] }, all));
  throw invalidParameters(faults, names.size);
}

function queryFrom(operation: Path, given: GivenValues, limitDefault: number): Query {
  const { filters, sorts } = operation;
  const values: Record<string, readonly string[]> = {};
  const filter: Record<string, Filter[string]> = {};
  for (const name in filters) {
    const known = given.get(name);
    if (known === undefined) continue;
    const declared = filters[name]!;
    values[name] = [...new Set(known.map((value) => canonicalValue(declared, value)))].toSorted();
    set(filter, declared, values[name]);
  }
  const [sort = sorts?.[0]] = given.get("sort") ?? [];
  if (sort !== sorts?.[0]) values["sort"] = [sort!];
  const numberOf = (name: string, byDefault: number) => Number(given.get(name)?.[0] ?? byDefault);
  return {
    filter: filter as Filter,
    order: sort === sorts?.[0] ? undefined : orderOf(sort!),
    limit: numberOf("limit", limitDefault),
    offset: numberOf("offset", 0),
    values,
  };
}

function set(
  filter: Record<string, Filter[string]>,
  { condition, end, form, isOfSignal, valuesMax }: DeclaredFilter,
  values: readonly string[],
): void {
  const target = isOfSignal ? ((filter["signal"] ??= {}) as typeof filter) : filter;
  const [value] = values;
  const one = form === "number" ? Number(value) : form === "flag" ? value === "true" : value!;
  if (end === undefined) target[condition] = valuesMax > 1 ? values : (one as string | boolean);
  else target[condition] = { ...(target[condition] as Between), [end]: one };
}

/** Returns a value in the form that all equal values share. */
function canonicalValue({ form }: DeclaredFilter, value: string): string {
  if (form === "number") return String(Number(value));
  return (form === "value" ? value : value.trim()).normalize();
}

const orderOf = (sort: string): Order => ({
  by: sort.replace(/^-/, ""),
  isDescending: sort.startsWith("-"),
});

/** Returns the canonical query string: the same for all query strings that are read as this query. */
export const canonicalQuery = ({ values, limit, offset }: Query): string =>
  pageQuery(filterText(values), limit, offset);

/** Returns the query string of a page. @param filter from `filterText`. */
export const pageQuery = (filter: string, limit: number, offset: number): string =>
  `${filter}${filter === "" ? "" : "&"}limit=${limit}&offset=${offset}`;

/**
 * Returns the values of a query's filters and of `sort` as a query string, for links and entity tags.
 * @param change function that is applied to each value.
 */
export function filterText(values: Query["values"], change = (value: string) => value): string {
  const pairs = new URLSearchParams();
  for (const name in values) for (const value of values[name]!) pairs.append(name, change(value));
  return pairs.toString();
}

/** Returns parameters as a query string. Leaves out undefined and null. An empty list is an empty value, a fault. */
export function queryText(parameters: object): string {
  type Value = string | number | boolean | null | undefined;
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters) as [string, Value | readonly Value[]][]) {
    const values = Array.isArray(value) && value.length === 0 ? [""] : [value ?? []].flat();
    for (const one of values) pairs.append(name, String(one ?? ""));
  }
  return pairs.toString();
}

const unreadable = ({ name, fault }: Pair): ParameterFault | undefined =>
  fault === undefined
    ? undefined
    : { parameter: echo(name), code: "invalid_encoding", detail: fault };

function unknown(
  name: string,
  { path, allowed }: { path: string; allowed: readonly string[] },
  all: readonly KnownPath[],
): ParameterFault {
  const allowedOn = all.filter((other) => parametersOf(other).some((known) => known === name));
  const kind = all.find((one) => one.path === path)?.kind;
  const list = allowedOn.find((other) => other.kind === kind && other.sorts !== null);
  const suggestion = allowedOn.length > 0 ? undefined : nearest(name, allowed);
  return {
    parameter: echo(name),
    code: "unknown_parameter",
    detail: `Not a parameter of ${path}${list === undefined ? "" : `, but of ${list.path}`}.`,
    ...(suggestion !== undefined && { suggestion }),
    allowed,
    ...(allowedOn.length > 0 && { allowed_on: allowedOn.map(({ path }) => path) }),
  };
}

function faultOfValue(
  name: string,
  value: string,
  { filters, sorts }: Path,
  pageSizeMax: number,
): ParameterFault | undefined {
  if (name === "limit" || name === "offset")
    return faultOfNumber(name, value, { ...pageSchemas(pageSizeMax)[name], isWhole: true });
  if (name === "sort") return faultOfChoice(name, value, sorts!);
  const { form, values, numbers, lengthMin, lengthMax } = filters[name]!;
  if (values !== undefined) return faultOfChoice(name, value, values);
  if (form === "flag") return faultOfChoice(name, value, ["false", "true"]);
  if (form === "date") return faultOfDate(name, value);
  if (numbers) return faultOfNumber(name, value, numbers);
  return lengthFault(name, form === "text" ? value.trim() : value, lengthMin, lengthMax);
}

/** Returns the fault of a value that is not in a closed list, otherwise undefined. Only the suggestion ignores case. */
function faultOfChoice(
  parameter: string,
  value: string,
  allowed: readonly string[],
): ParameterFault | undefined {
  if (allowed.includes(value)) return undefined;
  const suggestion = nearestValue(value, allowed);
  return {
    parameter,
    code: value === "" ? "empty_value" : "unknown_value",
    detail: `Must be one of ${allowed.join(", ")}.`,
    ...(suggestion !== undefined && { suggestion }),
    allowed,
  };
}

const askedDate = new RegExp(askedDatePattern);

/** Returns undefined for an existing date or a number of days such as `-90d`, and the fault of any other value. */
function faultOfDate(parameter: string, value: string): ParameterFault | undefined {
  if (askedDate.test(value) && (isRelative(value) || existsInCalendar(value))) return undefined;
  return {
    parameter,
    code: value === "" ? "empty_value" : "unknown_value",
    detail:
      "Must be an existing date such as 2026, 2026-03 or 2026-03-31, or a number of days before the day of the dataset, such as -90d.",
    allowed: ["YYYY", "YYYY-MM", "YYYY-MM-DD", "-90d"],
  };
}

/** Returns the fault of a value that is too short or too long, counted in code points; undefined if it is neither. */
function lengthFault(
  parameter: string,
  value: string,
  minimum: number,
  maximum: number,
): ParameterFault | undefined {
  // NFC may take quadratic time, and makes at most four code points into one.
  const length = [...value.slice(0, 8 * maximum + 8).normalize()].length;
  const detail = `Must have ${minimum} to ${maximum} characters.`;
  if (length === 0 && minimum > 0) return { parameter, code: "empty_value", detail };
  if (length < minimum) return { parameter, code: "too_short", detail, minimum };
  return length > maximum ? { parameter, code: "too_long", detail, maximum } : undefined;
}

function faultOfNumber(
  parameter: string,
  value: string,
  { minimum, maximum, isWhole }: NonNullable<DeclaredFilter["numbers"]>,
): ParameterFault | undefined {
  const detail = `Must be a ${isWhole ? "whole " : ""}number from ${minimum} to ${maximum}.`;
  const range = { detail, minimum, maximum };
  if (value === "") return { parameter, code: "empty_value", ...range };
  const whole = minimum < 0 ? /^-?[0-9]+$/ : /^[0-9]+$/;
  const isNumber = (isWhole ? whole : /^-?[0-9]+(\.[0-9]+)?(e-[0-9]+)?$/i).test(value);
  if (isNumber && Number(value) >= minimum && Number(value) <= maximum) return undefined;
  return { parameter, code: isWhole && !isNumber ? "not_an_integer" : "out_of_range", ...range };
}

const tooMany = (name: string, maximum: number): ParameterFault => ({
  parameter: name,
  code: "too_many_values",
  detail: `Takes at most ${maximum} values; send the others in another request.`,
  maximum,
});

function missing(name: string, { lengthMin, values }: DeclaredFilter): ParameterFault {
  const wanted =
    values === undefined
      ? `at least ${lengthMin} character${lengthMin === 1 ? "" : "s"}`
      : `one of ${values.join(", ")}`;
  return { parameter: name, code: "missing", detail: `Required, ${wanted}.` };
}

/** Maximum number of faults in a problem's `detail`. */
const summarisedMax = 5;

/** Returns the problem for invalid parameters. @param errors the first faults. @param count number of all faults. */
export function invalidParameters(
  errors: readonly ParameterFault[],
  count = errors.length,
): Problem {
  const summaries = errors.slice(0, summarisedMax).map(summaryOf);
  const more = count - summaries.length;
  const isCut = count > errors.length;
  if (more > 0)
    summaries.push(
      isCut
        ? `${more} more, ${errors.length - summaries.length} of them in errors`
        : `${more} more in errors`,
    );
  const problems = count === 1 ? "1 problem" : `${count} problems`;
  return new Problem("invalid-parameters", `${problems}: ${summaries.join("; ")}.`, {
    errors,
    ...(isCut && { errors_total: count }),
  });
}

function summaryOf({ parameter, code, detail, suggestion, minimum, maximum }: ParameterFault) {
  const rest = `${detail.charAt(0).toLowerCase()}${detail.slice(1, -1)}`;
  switch (code) {
    case "unknown_parameter":
      return `'${parameter}' is ${rest}${suggestion === undefined ? "" : ` (did you mean '${suggestion}'?)`}`;
    case "missing":
      return `'${parameter}' is required`;
    case "out_of_range":
      return `'${parameter}' must be ${minimum} to ${maximum}`;
    default:
      return `'${parameter}' ${rest}`;
  }
}

/** A name and its value, as a caller gave them. */
export interface Pair {
  name: string;
  value: string;
  /** Rule that the name or value breaks, for the fault's `detail`; undefined if both can be read. */
  fault?: string | undefined;
}

const faultOfPair = "Must be percent-encoded UTF-8 without control characters.";

/**
 * Splits a query string into pairs. Drops only empty parts. Leaves a faulty name or value undecoded.
 * @param text one character per byte, as Node gives it.
 */
function readPairs(text: string): Pair[] {
  const pairs: Pair[] = [];
  for (const part of text.split("&")) {
    if (part === "") continue;
    const [rawName = ""] = part.split("=", 1);
    const rawValue = part.slice(rawName.length + 1);
    const name = decode(rawName);
    const value = decode(rawValue);
    const fault = name === undefined || value === undefined ? faultOfPair : undefined;
    pairs.push({ name: name ?? rawName, value: value ?? rawValue, fault });
  }
  return pairs;
}

const plain = /^[A-Za-z0-9_.~-]*$/;
export const controlCharacter = /\p{Cc}/u;

/**
 * Decodes a percent-encoded name or value. Returns undefined if it has a broken escape, bytes that are not UTF-8, or a
 * control character.
 */
function decode(raw: string): string | undefined {
  if (plain.test(raw)) return raw;
  const escaped = raw
    .replaceAll("+", " ")
    .replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  try {
    const text = decodeURIComponent(escaped);
    return controlCharacter.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

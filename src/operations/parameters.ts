/** Reads a query string: returns a query with valid parameters, or reports all faults together. */
import { echo, listedMax, type ParameterFault, Problem } from "#problems.ts";
import type { Filter } from "#search/read-model.ts";
import { nearest } from "./edit-distance.ts";
import {
  type FilterName,
  filters,
  filtersOf,
  isRepeatable,
  type Operation,
  type PageParameter,
  parameterBounds,
  type ParameterName,
  parametersOf,
  type Query,
} from "./operation.ts";

/** An operation, or another path whose query is read in the same way. */
interface TakesParameters extends Pick<Operation, "filters"> {
  readonly path: string;
}

/**
 * Reads the query of an operation.
 * @param text everything after the first `?` of the request, undecoded.
 * @param all every operation, to say which others know a parameter.
 * @param limitDefault value of `limit` if it is left out.
 * @throws Problem `invalid-parameters` with the number of faults and the first of them, in the order of the query.
 *   Missing parameters come last.
 */
export function readQuery(
  operation: TakesParameters,
  text: string,
  pageSizeMax: number,
  all: readonly Operation[],
  limitDefault: number = parameterBounds.limitDefault,
): Query {
  const allowed = parametersOf(operation);
  const faults: ParameterFault[] = [];
  let faultCount = 0;
  /** Adds a fault, but describes it only if it is listed: finding a suggestion costs more than reading the pair. */
  const add = (describe: () => ParameterFault) => {
    if (faultCount++ < listedMax) faults.push(describe());
  };
  const values = new Map<ParameterName, string[]>();
  const read = new Set<string>();
  for (const pair of readPairs(text)) {
    const name = allowed.find((one) => one === pair.name);
    const fault =
      unreadable(pair) ??
      (name === undefined
        ? undefined
        : (repeated(name, read) ?? faultOfValue(name, pair.value, operation, pageSizeMax)));
    if (fault !== undefined) add(() => fault);
    else if (name !== undefined) {
      const known = values.get(name) ?? [];
      known.push(pair.value);
      values.set(name, known);
      if (known.length === parameterBounds.valuesMax + 1) add(() => tooMany(name));
    } else if (!read.has(pair.name))
      add(() => unknown(pair.name, { path: operation.path, allowed }, all));
    read.add(pair.name);
  }
  for (const name of filtersOf(operation))
    if (operation.filters[name]!.isRequired && !read.has(name)) add(() => missing(name, operation));
  if (faultCount > 0) throw invalidParameters(operation.path, faults, faultCount);
  return queryFrom(operation, values, limitDefault);
}

/**
 * Refuses every parameter on a path that takes none.
 * @param text everything after the first `?` of the request, undecoded.
 * @param all every operation, to say which of them know a parameter.
 * @throws Problem `invalid-parameters`, as `readQuery` does.
 */
export function refuseParameters(path: string, text: string, all: readonly Operation[]): void {
  const names = new Map(readPairs(text).map((pair) => [pair.name, pair]));
  if (names.size === 0) return;
  const faults = [...names.values()]
    .slice(0, listedMax)
    .map((pair) => unreadable(pair) ?? unknown(pair.name, { path, allowed: [] }, all));
  throw invalidParameters(path, faults, names.size);
}

function queryFrom(
  operation: TakesParameters,
  values: ReadonlyMap<ParameterName, readonly string[]>,
  limitDefault: number,
): Query {
  const textsOf = (name: FilterName) =>
    (values.get(name) ?? []).map((value) => ownText(name, value).normalize());
  const numberOf = (name: PageParameter, byDefault: number) =>
    Number(values.get(name)?.[0] ?? byDefault);
  const asked = filtersOf(operation).map((name) => [
    name,
    isRepeatable(name) ? [...new Set(textsOf(name))].toSorted() : textsOf(name)[0],
  ]);
  return {
    filter: Object.fromEntries(asked) as Filter,
    limit: numberOf("limit", limitDefault),
    offset: numberOf("offset", 0),
  };
}

/** Returns the canonical query string, which is the same for all query strings that are read as this query. */
export const canonicalQuery = (
  operation: Pick<Operation, "filters">,
  { filter, limit, offset }: Query,
): string => pageQuery(filterText(operation, filter), limit, offset);

/** Returns the query string of a page. @param filter from `filterText`. */
export const pageQuery = (filter: string, limit: number, offset: number): string =>
  `${filter}${filter === "" ? "" : "&"}limit=${limit}&offset=${offset}`;

/**
 * Returns the values of an operation's filters as a query string, for links and entity tags.
 * @param change function that is applied to each value.
 */
export function filterText(
  operation: Pick<Operation, "filters">,
  filter: Filter,
  change = (value: string) => value,
): string {
  const pairs = new URLSearchParams();
  for (const name of filtersOf(operation))
    for (const value of [(filter[name] as string | readonly string[] | undefined) ?? []].flat())
      pairs.append(name, change(value));
  return pairs.toString();
}

function unreadable({ name, isReadable }: Pair): ParameterFault | undefined {
  if (isReadable) return undefined;
  return {
    parameter: echo(name),
    code: "invalid_encoding",
    detail: "Must be percent-encoded UTF-8 without control characters.",
  };
}

function unknown(
  name: string,
  { path, allowed }: { path: string; allowed: readonly ParameterName[] },
  all: readonly Operation[],
): ParameterFault {
  const allowedOn = all.filter((other) => parametersOf(other).some((known) => known === name));
  const suggestion = allowedOn.length > 0 ? undefined : nearest(name, allowed);
  return {
    parameter: echo(name),
    code: "unknown_parameter",
    detail: `Not a parameter of ${path}.`,
    ...(suggestion !== undefined && { suggestion }),
    allowed,
    ...(allowedOn.length > 0 && { allowed_on: allowedOn.map(({ path }) => path) }),
  };
}

function repeated(name: ParameterName, read: ReadonlySet<string>): ParameterFault | undefined {
  if (isRepeatable(name) || !read.has(name)) return undefined;
  return { parameter: name, code: "repeated_parameter", detail: "Must be given once." };
}

function faultOfValue(
  name: ParameterName,
  value: string,
  operation: TakesParameters,
  pageSizeMax: number,
): ParameterFault | undefined {
  if (name === "limit") return faultOfNumber(name, value, 1, pageSizeMax);
  if (name === "offset") return faultOfNumber(name, value, 0, parameterBounds.offsetMax);
  const { lengthMin } = operation.filters[name]!;
  return lengthFault(name, ownText(name, value), lengthMin, filters[name].lengthMax);
}

/** Returns the fault of a value that is too short or too long, counted in code points; undefined if it is neither. */
export function lengthFault(
  parameter: string,
  value: string,
  minimum: number,
  maximum: number,
): ParameterFault | undefined {
  const length = [...value.normalize()].length;
  const detail = `Must have ${minimum} to ${maximum} characters.`;
  if (length === 0) return { parameter, code: "empty_value", detail };
  if (length < minimum) return { parameter, code: "too_short", detail, minimum };
  return length > maximum ? { parameter, code: "too_long", detail, maximum } : undefined;
}

function faultOfNumber(
  name: PageParameter,
  value: string,
  minimum: number,
  maximum: number,
): ParameterFault | undefined {
  const range = {
    detail: `Must be a whole number from ${minimum} to ${maximum}.`,
    minimum,
    maximum,
  };
  if (value === "") return { parameter: name, code: "empty_value", ...range };
  if (!/^[0-9]+$/.test(value)) return { parameter: name, code: "not_an_integer", ...range };
  const isInRange = Number(value) >= minimum && Number(value) <= maximum;
  return isInRange ? undefined : { parameter: name, code: "out_of_range", ...range };
}

/** Returns a name without surrounding spaces. Any other value is unchanged, because it is compared as a whole. */
const ownText = (name: FilterName, value: string) => (isRepeatable(name) ? value : value.trim());

const tooMany = (name: ParameterName): ParameterFault => ({
  parameter: name,
  code: "too_many_values",
  detail: `May be given at most ${parameterBounds.valuesMax} times.`,
  maximum: parameterBounds.valuesMax,
});

function missing(name: FilterName, { filters: rules }: TakesParameters): ParameterFault {
  const { lengthMin } = rules[name]!;
  const atLeast = `at least ${lengthMin} character${lengthMin === 1 ? "" : "s"}`;
  return { parameter: name, code: "missing", detail: `Required, ${atLeast}.` };
}

/** Maximum number of faults in an error's `detail`. */
const summarisedMax = 5;

/**
 * Returns the problem for invalid parameters.
 * @param errors the first faults, at most `listedMax`.
 * @param count total number of faults.
 */
export function invalidParameters(
  path: string,
  errors: readonly ParameterFault[],
  count: number,
): Problem {
  const summaries = errors.slice(0, summarisedMax).map((fault) => summaryOf(fault, path));
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

function summaryOf(
  { parameter, code, detail, suggestion, minimum, maximum }: ParameterFault,
  path: string,
) {
  switch (code) {
    case "unknown_parameter":
      return `'${parameter}' is not a parameter of ${path}${suggestion === undefined ? "" : ` (did you mean '${suggestion}'?)`}`;
    case "missing":
      return `'${parameter}' is required`;
    case "out_of_range":
      return `'${parameter}' must be ${minimum} to ${maximum}`;
    default:
      return `'${parameter}' ${detail.charAt(0).toLowerCase()}${detail.slice(1, -1)}`;
  }
}

/** A name and its value in a query. */
interface Pair {
  name: string;
  value: string;
  /** True if name and value are percent-encoded UTF-8 without control characters. Faulty ones stay undecoded. */
  isReadable: boolean;
}

/** Splits a query string into pairs. Drops only empty parts. @param text one character per byte, as Node gives it. */
function readPairs(text: string): Pair[] {
  const pairs: Pair[] = [];
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const rawName = equals === -1 ? part : part.slice(0, equals);
    const rawValue = equals === -1 ? "" : part.slice(equals + 1);
    const name = decode(rawName);
    const value = decode(rawValue);
    pairs.push({
      name: name ?? rawName,
      value: value ?? rawValue,
      isReadable: name !== undefined && value !== undefined,
    });
  }
  return pairs;
}

const plain = /^[A-Za-z0-9_.~-]*$/;
const controlCharacter = /\p{Cc}/u;

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

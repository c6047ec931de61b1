/** What can be wrong with a parameter, in the words of the answer. */
import { echo, Problem, type ParameterFault } from "#problems.ts";
import { nearest } from "./edit-distance.ts";
import type { FilterName, Operation } from "./operation.ts";
import {
  parameterBounds,
  parametersOf,
  type PageParameter,
  type ParameterName,
} from "./parameter-names.ts";
import type { Pair } from "./query-text.ts";

export function unreadable({ name, isReadable }: Pair): ParameterFault | undefined {
  if (isReadable) return undefined;
  return {
    parameter: echo(name),
    code: "invalid_encoding",
    detail: "Must be percent-encoded UTF-8 without control characters.",
  };
}

export function unknown(
  name: string,
  operation: Operation,
  all: readonly Operation[],
): ParameterFault {
  const parameter = echo(name);
  const allowedOn = all.filter((other) => parametersOf(other).some((known) => known === name));
  const allowed = parametersOf(operation);
  if (allowedOn.length > 0)
    return {
      parameter,
      code: "unknown_parameter",
      detail: `Not a parameter of ${operation.path}.`,
      allowed,
      allowed_on: allowedOn.map(({ path }) => path),
    };
  const suggestion = nearest(name, allowed);
  return {
    parameter,
    code: "unknown_parameter",
    detail: `Not a parameter of ${operation.path}.`,
    ...(suggestion !== undefined && { suggestion }),
    allowed,
  };
}

export function repeated(
  name: ParameterName,
  read: ReadonlySet<string>,
): ParameterFault | undefined {
  const takesSeveral = name === "tag" || name === "theme" || name === "market";
  if (takesSeveral || !read.has(name)) return undefined;
  return { parameter: name, code: "repeated_parameter", detail: "Must be given once." };
}

export function faultOfValue(
  name: ParameterName,
  value: string,
  operation: Operation,
  pageSizeMax: number,
): ParameterFault | undefined {
  switch (name) {
    case "limit":
      return faultOfNumber(name, value, 1, pageSizeMax);
    case "offset":
      return faultOfNumber(name, value, 0, parameterBounds.offsetMax);
    case "gp_name":
      return faultOfText(
        name,
        value.trim(),
        operation.gpName.lengthMin,
        parameterBounds.gpNameLengthMax,
      );
    default:
      return faultOfText(name, value, 1, parameterBounds.valueLengthMax);
  }
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

function faultOfText(
  name: FilterName,
  value: string,
  lengthMin: number,
  lengthMax: number,
): ParameterFault | undefined {
  const length = [...value.normalize()].length;
  const detail = `Must have ${lengthMin} to ${lengthMax} characters.`;
  if (length === 0) return { parameter: name, code: "empty_value", detail };
  if (length < lengthMin) return { parameter: name, code: "too_short", detail, minimum: lengthMin };
  return length > lengthMax
    ? { parameter: name, code: "too_long", detail, maximum: lengthMax }
    : undefined;
}

export const tooMany = (name: ParameterName): ParameterFault => ({
  parameter: name,
  code: "too_many_values",
  detail: `May be given at most ${parameterBounds.valuesMax} times.`,
  maximum: parameterBounds.valuesMax,
});

export const missing = ({ gpName }: Operation): ParameterFault => ({
  parameter: "gp_name",
  code: "missing",
  detail: `Required, at least ${gpName.lengthMin} characters.`,
});

/** Faults that the detail of an answer puts into words. */
const summarisedMax = 5;

/**
 * @param errors the first of the faults, at most `listedMax`.
 * @param count of all faults.
 */
export function invalidParameters(
  operation: Operation,
  errors: readonly ParameterFault[],
  count: number,
): Problem {
  const summaries = errors.slice(0, summarisedMax).map((fault) => summaryOf(fault, operation));
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
  { path }: Operation,
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

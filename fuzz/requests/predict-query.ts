/** Says by the rules of the interface what is wrong with a query string, without asking the program. */
import { bounds, type PromisedOperation } from "./promised.ts";

export interface QueryPrediction {
  /** `parameter code` for each fault, in order; empty where the query is valid. */
  faults: readonly string[];
  /** False where the rules leave room: then a 400 and a 200 are both right. */
  isCertain: boolean;
  /** What a valid query asks for. */
  filters: Readonly<Record<string, readonly string[]>>;
  limit: number;
  offset: number;
}

const repeatable = new Set(["tag", "theme", "market"]);
/** Shown in an error in another form: cut, masked or undecodable. */
export const anyName = "*";

export function predictQuery(text: string, operation: PromisedOperation): QueryPrediction {
  const faults: string[] = [];
  const values: Record<string, string[]> = {};
  const seen = new Set<string>();
  let isCertain = !/[\x80-\xff]/.test(text);
  for (const part of text.split("&").filter((one) => one !== "")) {
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(part)!;
    const name = decoded(rawName);
    const value = decoded(rawValue);
    if (name === null || value === null) faults.push(`${name ?? anyName} invalid_encoding`);
    else if (!operation.parameters.includes(name)) {
      if (!seen.has(name)) faults.push(`${shown(name)} unknown_parameter`);
    } else if (seen.has(name) && !repeatable.has(name)) faults.push(`${name} repeated_parameter`);
    else {
      const { fault, isClear } = faultOf(name, value, operation);
      isCertain &&= isClear;
      if (fault !== null) faults.push(`${name} ${fault}`);
      else {
        const known = (values[name] ??= []);
        known.push(value);
        if (known.length === bounds.values + 1) faults.push(`${name} too_many_values`);
      }
    }
    seen.add(name ?? rawName);
  }
  if (operation.nameIsRequired && !seen.has("gp_name")) faults.push("gp_name missing");
  const numberOf = (name: string, byDefault: number) => Number(values[name]?.[0] ?? byDefault);
  return {
    faults,
    isCertain,
    filters: values,
    limit: numberOf("limit", bounds.pageSizeByDefault),
    offset: numberOf("offset", 0),
  };
}

/** Null where it is not percent-encoded UTF-8, or holds a control character. */
function decoded(raw: string): string | null {
  try {
    const text = decodeURIComponent(raw.replaceAll("+", " ").replaceAll(/[\x80-\xff]/g, ""));
    const isControl = (code: number) => code < 0x20 || (code >= 0x7f && code < 0xa0);
    return [...text].some((one) => isControl(one.codePointAt(0)!)) ? null : text;
  } catch {
    return null;
  }
}

/** Names are shown with at most 50 characters and without keys. */
const shown = (name: string) =>
  [...name].length > 50 || name.includes("gpr_") || name.includes("{{") ? anyName : name;

interface Judged {
  fault: string | null;
  /** False where composing changes whether the text is too long. */
  isClear: boolean;
}

function faultOf(name: string, value: string, operation: PromisedOperation): Judged {
  if (name === "limit") return clear(numberFault(value, 1, bounds.pageSize));
  if (name === "offset") return clear(numberFault(value, 0, bounds.offset));
  if (name === "gp_name")
    return clear(
      lengthFault(value.trim().normalize("NFC"), operation.nameLengthMin, bounds.nameLength),
    );
  const asSent = lengthFault(value, 1, bounds.valueLength);
  const composed = lengthFault(value.normalize("NFC"), 1, bounds.valueLength);
  return { fault: composed, isClear: asSent === composed };
}

const clear = (fault: string | null): Judged => ({ fault, isClear: true });

function numberFault(value: string, minimum: number, maximum: number): string | null {
  if (value === "") return "empty_value";
  if ([...value].some((one) => one < "0" || one > "9")) return "not_an_integer";
  const number = BigInt(value);
  return number < BigInt(minimum) || number > BigInt(maximum) ? "out_of_range" : null;
}

function lengthFault(value: string, minimum: number, maximum: number): string | null {
  const length = Array.from(value).length;
  if (length === 0) return "empty_value";
  if (length < minimum) return "too_short";
  return length > maximum ? "too_long" : null;
}

/** Reads numbers as spreadsheets and registers write them. */
import { Unreadable } from "./import-fault.ts";
import type { DecimalMark, NumberKind, SourceOfField } from "./mapping.ts";

type NumberWriting = Pick<SourceOfField, "decimal" | "multiply_by">;

const amounts: Readonly<Record<DecimalMark, RegExp>> = {
  ".": /^-?(?:\d+|[1-9]\d{0,2}([, '’])\d{3}(?:\1\d{3})*)(?:\.(?<fraction>\d+))?$/,
  ",": /^-?(?:\d+|[1-9]\d{0,2}([. '’])\d{3}(?:\1\d{3})*)(?:,(?<fraction>\d+))?$/,
};
const couldBeEither = /^-?[1-9]\d{0,2}[.,]\d{3}$/;
const centsOrNone = /^(?:0*|\d\d)$/;

/**
 * Reads a number as spreadsheets and registers write it: `1234`, `1,234.50`, `1 234 567`, `$1,234,567`, `-5`, `(123)`
 * for minus 123, `4.0`. Refuses ambiguous text: `1,234` if no decimal mark is declared, and `$1.5` if there is no
 * `multiply_by`. The kind `decimal`, used for coordinates, takes no thousands separators.
 */
export function readNumber(
  text: string,
  kind: NumberKind,
  writing: NumberWriting = {},
): number | Unreadable {
  const { decimal, multiply_by: multiplyBy } = writing;
  const { digits, sign } = unwrap(text, kind);
  if (decimal === undefined && kind !== "decimal" && couldBeEither.test(digits))
    return new Unreadable(
      `could be ${digits.replace(",", ".")} or ${digits.replace(/[.,]/, "")}; set "decimal": "." or "decimal": "," in the mapping`,
    );
  const mark = decimal ?? ".";
  const found = amounts[mark].exec(digits);
  if (found === null || (kind === "decimal" && found[1] !== undefined))
    return new Unreadable(numberWords(kind, digits, writing));
  if (
    kind === "money" &&
    multiplyBy === undefined &&
    !centsOrNone.test(found.groups!["fraction"] ?? "")
  )
    return new Unreadable(
      "is neither whole dollars nor cents; set multiply_by to the number of dollars that 1 stands for: 1 for dollars, 1000000 for millions",
    );
  const plain = digits.replaceAll(mark === "." ? /[, '’]/g : /[. '’]/g, "").replace(",", ".");
  const value = sign * (multiplyBy === undefined ? Number(plain) : exactProduct(plain, multiplyBy));
  if (kind === "decimal") return value + 0;
  const whole = kind === "money" ? Math.sign(value) * Math.round(Math.abs(value)) : value;
  if (!Number.isInteger(whole)) return new Unreadable(numberWords(kind, digits, writing));
  if (!Number.isSafeInteger(whole)) {
    const product =
      multiplyBy === undefined ? "" : ` once multiplied by ${multiplyBy} (multiply_by)`;
    const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number;
    return new Unreadable(`must be between ${min} and ${max}${product}`);
  }
  return whole + 0;
}

/** Removes parentheses, which make a number negative. Removes the dollar sign or code from money. */
function unwrap(text: string, kind: NumberKind): { digits: string; sign: 1 | -1 } {
  const inParentheses = /^\(([^()-]*)\)$/.exec(text.trim());
  const bare = (inParentheses?.[1] ?? text).trim();
  const digits =
    kind === "money"
      ? bare.replace(/^(-?) ?(?:US ?\$|\$|USD) ?/i, "$1").replace(/ ?(?:US ?\$|\$|USD)$/i, "")
      : bare;
  return { digits, sign: inParentheses === null ? 1 : -1 };
}

/** Returns the decimal product: 4.1 million is exactly 4,100,000, although the binary product is a little less. */
function exactProduct(value: string, multiplyBy: number): number {
  const [factor = "", exponent = "0"] = String(multiplyBy).split("e");
  const digits = (text: string) => BigInt(text.replace(".", ""));
  const places = (text: string) => text.split(".")[1]?.length ?? 0;
  const power = Number(exponent) - places(value) - places(factor);
  return Number(`${digits(value) * digits(factor)}e${power}`);
}

function numberWords(
  kind: NumberKind,
  digits: string,
  { decimal, multiply_by: multiplyBy }: NumberWriting,
): string {
  if (/^-?\d+(?:[.,]\d+)?e[+-]?\d+$/i.test(digits))
    return "is in scientific notation, so digits may be lost; in the spreadsheet, format the column as a number, then save the file again";
  if (decimal === undefined && amounts[","].test(digits))
    return 'is written with a decimal comma, or with points between thousands; if that is intended, set "decimal": "," in the mapping';
  if (kind === "whole" && multiplyBy === undefined) return "must be a whole number";
  if (kind === "whole")
    return `must be a number that is whole once multiplied by ${multiplyBy} (multiply_by)`;
  const mark = decimal ?? ".";
  const example = kind === "decimal" ? `37${mark}775` : `1${mark === "." ? "," : "."}234${mark}50`;
  return `must be a number such as ${example}`;
}

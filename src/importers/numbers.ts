/** Reads numbers as spreadsheets and registers write them; what could mean two things is refused. */
import { Unreadable } from "./unreadable.ts";

const amount = /^-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/;

/** What is asked of a number: any, a whole one, or dollars, of which cents are rounded off. */
export type NumberKind = "decimal" | "whole" | "money";

/**
 * `1234`, `1,234.50`, `$1,234`, `-5`, `(123)` for minus 123, `4.0`.
 * @param multiplyBy for columns in thousands or millions.
 */
export function readNumber(text: string, kind: NumberKind, multiplyBy = 1): number | Unreadable {
  const { digits, sign } = unwrap(text);
  if (!amount.test(digits)) return new Unreadable(numberWords(kind, digits));
  const value = sign * exactProduct(Number(digits.replaceAll(",", "")), multiplyBy);
  if (kind === "decimal") return value + 0;
  const whole = kind === "money" ? Math.sign(value) * Math.round(Math.abs(value)) : value;
  if (!Number.isInteger(whole)) return new Unreadable(numberWords(kind, digits));
  if (!Number.isSafeInteger(whole)) return new Unreadable("must be a number below 2^53");
  return whole + 0;
}

function unwrap(text: string): { digits: string; sign: 1 | -1 } {
  const inParentheses = /^\(([^()-]*)\)$/.exec(text.trim());
  const bare = (inParentheses?.[1] ?? text).trim().replace(/^(-?) ?(?:US)?\$ ?/, "$1");
  return { digits: bare, sign: inParentheses === null ? 1 : -1 };
}

/** 1.1 million is 1,100,000 and not a hair more, as binary fractions would have it. */
function exactProduct(value: number, multiplyBy: number): number {
  return multiplyBy === 1 ? value : Number((value * multiplyBy).toPrecision(15));
}

function numberWords(kind: NumberKind, digits: string): string {
  if (/^-?\d+(?:\.\d+)?e[+-]?\d+$/i.test(digits))
    return "must be a number with all its digits; a spreadsheet has shortened this one";
  return kind === "whole" ? "must be a whole number" : "must be a number such as 1,234.50";
}

/** Checks names that people give to accounts and keys. */
import { DomainError } from "./domain-error.ts";

export const nameLengthMax = 100;

// Control characters, lone surrogates and line separators would garble a terminal, a log line or a page.
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/**
 * Returns a name as it is stored: NFC, trimmed.
 * @param what the named thing, such as `account`, for the error.
 * @throws DomainError `invalid` if it is empty, over 100 characters (code points) or unprintable.
 */
export function cleanName(what: string, text: string): string {
  const name = text.normalize("NFC").trim();
  const reason = faultOf(name);
  if (reason !== undefined) throw new DomainError("invalid", `The name of the ${what} ${reason}.`);
  return name;
}

function faultOf(name: string): string | undefined {
  if (name === "") return "must not be empty";
  if (Array.from(name).length > nameLengthMax)
    return `must have at most ${nameLengthMax} characters`;
  return unprintable.test(name)
    ? "must not contain line breaks or other control characters"
    : undefined;
}

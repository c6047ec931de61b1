/** Which passwords people may choose: long enough, and none that everybody tries first. */
import { readFileSync } from "node:fs";
import { StoreFault } from "#store/store-fault.ts";

const passwordLengthMin = 8;
const passwordLengthMax = 128;

let common: ReadonlySet<string> | undefined;

/**
 * Taken exactly as sent: nothing is trimmed, folded or demanded of its characters (NIST SP 800-63B, 3.1.1.2).
 * @param email of whom it is for, which is no password either.
 * @throws StoreFault `invalid`.
 */
export function checkPassword(password: string, email = ""): void {
  const reason = faultOf(password, email);
  if (reason !== undefined) throw new StoreFault("invalid", `The password ${reason}`);
}

function faultOf(password: string, email: string): string | undefined {
  const length = Array.from(password).length;
  if (length < passwordLengthMin)
    return `must have at least ${passwordLengthMin} characters. Four random words make a good one.`;
  if (length > passwordLengthMax) return `must have at most ${passwordLengthMax} characters.`;
  const lower = password.toLowerCase();
  if (lower === email.toLowerCase() || lower === email.toLowerCase().replace(/@.*/, ""))
    return "must not be the e-mail address.";
  if (isCommon(lower))
    return "is one of those that everybody tries first. Four random words make a good one.";
  return undefined;
}

/** Also the same character, or the same two, over and over. */
function isCommon(lower: string): boolean {
  common ??= new Set(
    readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8").split("\n"),
  );
  return common.has(lower) || /^(.{1,2})\1+.?$/su.test(lower);
}

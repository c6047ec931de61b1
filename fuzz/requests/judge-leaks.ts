/** Looks for what must never be told: keys, and anything of the inside of the program. */
import type { Violation } from "../run.ts";
import type { Answer } from "./read-answers.ts";
import type { Secrets } from "./secrets.ts";

/** Long enough not to come about by chance, short enough to be found in what is cut. */
const partLength = 14;
/** What is shown of a key on purpose. */
const hintLength = 8;

const inside = [
  /\n\s+at .+:\d+/,
  /\bnode:internal|node_modules|file:\/\//,
  /\/(?:home|root|tmp|usr|work|src)\/[\w.-]/,
  /\b\w+\.(?:ts|js|mjs|sqlite):\d+/,
  /\b(?:TypeError|RangeError|SyntaxError|ReferenceError|SQLITE_\w+|ERR_[A-Z_]+|FST_ERR_\w+|HPE_[A-Z_]+)\b/,
  /\bselect\b.+\bfrom\b/i,
  /\[object Object\]|\bundefined\b/,
] as const;

export function leaksIn(
  { status, headers }: Answer,
  content: string,
  secrets: Secrets,
  sent: Buffer,
  isDamaged: boolean,
): Violation[] {
  const head = [...headers.values()].join("\n");
  const shows = isDamaged ? beginsSecret : hasSecret;
  if (shows(head, secrets) || shows(content, secrets))
    return [{ rule: "a key came back", detail: `status ${status}` }];
  if (status < 400) return [];
  return inside.flatMap((shape) => {
    const found = shape.exec(content)?.[0];
    // A name the client has made up is shown to it again.
    return found === undefined || readable(sent).includes(found)
      ? []
      : [{ rule: "the inside shows", detail: found }];
  });
}

/** Is there a third of any key in a text, beside what is shown of keys on purpose? */
function hasSecret(text: string, secrets: Secrets): boolean {
  return secrets.all.some((secret) => {
    for (let at = hintLength; at + partLength <= secret.length; at += partLength)
      if (text.includes(secret.slice(at, at + partLength))) return true;
    return false;
  });
}

/** Of a key that lost its beginning nobody can tell that it was one. */
export const beginsSecret = (text: string, secrets: Secrets) =>
  secrets.all.some((secret) => text.includes(secret.slice(0, hintLength + partLength)));

function readable(sent: Buffer): string {
  const text = sent.toString("latin1");
  return `${text}\n${text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))).replaceAll("+", " ")}`;
}

/** Entity tags, by which an unchanged answer need not be sent again (RFC 9110 §8.8.3). */
import { hash } from "node:crypto";

/** Incremented when answers to the same query on the same dataset change. */
const answerFormat = 3;

/** Weak, because the encodings of an answer share it. */
export function answerTag(
  datasetVersion: string,
  operation: string,
  query: string,
  format: string,
): string {
  const digest = hash("sha256", `${answerFormat}\n${operation}\n${query}\n${format}`, "base64url");
  return `W/"${datasetVersion}-${digest.slice(0, 22)}"`;
}

export const contentTag = (body: Buffer | string) =>
  `W/"${hash("sha256", body, "base64url").slice(0, 22)}"`;

/** Does `If-None-Match` name the tag? Weak comparison, RFC 9110 §13.1.2. */
export function isUnchanged(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = tag.replace(weakMark, "");
  return ifNoneMatch.split(",").some((one) => one.trim().replace(weakMark, "") === opaque);
}

const weakMark = /^W\//;

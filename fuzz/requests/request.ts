/** A request of the grammar, still in parts: what a judge can reason about and a socket can be sent. */
import type { Keys } from "./secrets.ts";

/** Name and value as sent, one character a byte. */
export type Header = readonly [name: string, value: string];

export interface FuzzRequest {
  method: string;
  /** Path and query as sent, one character a byte. */
  target: string;
  /** `HTTP/1.1` */
  version: string;
  headers: readonly Header[];
  /** With its framing, if it is chunked. */
  body: string;
}

/** Stands in a request for the ETag of the answer before it in the same conversation. */
export const etagMark = "{{etag}}";

/** The bytes to send; `{{role}}` becomes the key of that role. */
export function bytesOf(request: FuzzRequest, keys: Keys, etag: string): Buffer {
  const { method, target, version, headers, body } = request;
  const lines = headers.map(([name, value]) => `${name}:${value}\r\n`).join("");
  const text = `${method} ${target} ${version}\r\n${lines}\r\n${body}`;
  return Buffer.from(filled(text, keys, etag), "latin1");
}

const mark = /\{\{([a-z-]+)\}\}/g;

export function filled(text: string, keys: Keys, etag: string): string {
  if (!text.includes("{{")) return text;
  return text.replaceAll(mark, (whole, name: string) =>
    name === "etag" ? etag : (keys.of(name) ?? whole),
  );
}

/** All values a header was sent with, without the white space around them (RFC 9110 §5.5). */
export function valuesOf({ headers }: FuzzRequest, wanted: string): string[] {
  return headers
    .filter(([name]) => name.toLowerCase() === wanted)
    .map(([, value]) => value.replaceAll(/^[ \t]+|[ \t]+$/g, ""));
}

/** What a header says; several lines are one list (RFC 9110 §5.3). Undefined where it was not sent. */
export function valueOf(request: FuzzRequest, name: string): string | undefined {
  const values = valuesOf(request, name);
  return values.length === 0 ? undefined : values.join(", ");
}

/** Returns the path a target means, decoded where it can be, and the query as sent (RFC 9112 §3.2). */
export function targetOf(target: string): { path: string; query: string } {
  const local = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  const [, path = "", query = ""] = /^([^?]*)\??(.*)$/s.exec(local)!;
  try {
    // An escaped slash parts no path (RFC 3986 §2.2).
    return { path: decodeURIComponent(path.replaceAll(/%2f/gi, "%252F")), query };
  } catch {
    return { path, query };
  }
}

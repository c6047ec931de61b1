/** Which path and query a target means (RFC 9112 §3.2, RFC 3986). */

export interface Target {
  /** Decoded; as sent where it cannot be. */
  path: string;
  query: string;
  /** Neither an ordinary path nor a whole URL: what it means is the parser's business. */
  isOdd: boolean;
}

export function targetOf(target: string): Target {
  const local = target.replace(/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#]*/, "");
  const [, path = "", query = ""] = /^([^?]*)\??(.*)$/s.exec(local)!;
  return {
    path: decoded(path === "" ? "/" : path),
    query,
    isOdd: target.includes("#") || !/^(\/|http:\/\/)/i.test(target) || /[\x80-\xff]/.test(target),
  };
}

/** A slash that is escaped does not part anything. */
function decoded(path: string): string {
  try {
    return path
      .split(/(%2f)/i)
      .map((one) => (/^%2f$/i.test(one) ? one : decodeURIComponent(one)))
      .join("");
  } catch {
    return path;
  }
}

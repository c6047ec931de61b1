/** The stages a request passes, each of which may be the last: what it may be answered there. */
import { METHODS } from "node:http";
import { preferredOf } from "./predict-accept.ts";
import type { QueryPrediction } from "./predict-query.ts";
import { bounds } from "./promised.ts";
import { valueOf, valuesOf, type FuzzRequest } from "./request.ts";
import { validRoles, type Role } from "./secrets.ts";

export interface Outcome {
  status: number;
  /** Of the problem; undefined where any will do. */
  code?: string;
  /** `parameter code` of each fault of the query. */
  faults?: readonly string[];
  /** What a page has to be about. */
  page?: { path: string; query: QueryPrediction };
}

/** One stage of the order of checks: what it may answer, and whether nothing behind it can be reached. */
export interface Stage {
  outcomes: readonly Outcome[];
  isFinal: boolean;
}
export const pass: Stage = { outcomes: [], isFinal: false };
export const surely = (...outcomes: Outcome[]): Stage => ({ outcomes, isFinal: true });
export const perhaps = (...outcomes: Outcome[]): Stage => ({ outcomes, isFinal: false });
export const problem = (status: number, code: string): Outcome => ({ status, code });
export const malformed = problem(400, "malformed-request");

/** What the parser makes of the first line and the size of it all. */
export function parsed({ method, target, version, headers }: FuzzRequest): Stage {
  const isKnown = METHODS.includes(method);
  if (!isKnown || !/^HTTP\/[0-9]\.[0-9] ?$/.test(version)) return surely(malformed);
  const size = headers.reduce(
    (sum, [name, value]) => sum + name.length + value.length + 3,
    target.length + 20,
  );
  const tooLarge = problem(431, "headers-too-large");
  // What exactly is counted is the parser's business, so there is a border where both are right.
  if (size > bounds.headerBytes + 500) return surely(tooLarge, malformed);
  const border = size > bounds.headerBytes - 1500 ? [tooLarge] : [];
  if (method === "CONNECT") return surely(malformed, problem(405, "method-not-allowed"), ...border);
  const isBroken = headers.some(([, value]) => /[\0-\x08\x0a-\x1f\x7f]/.test(value));
  if (isBroken) return surely(malformed, ...border);
  if (
    /[\x80-\xff]/.test(target) ||
    version !== "HTTP/1.1" ||
    method === "PRI" ||
    method === "SOURCE"
  )
    return perhaps(malformed, ...border);
  return perhaps(...border);
}

/** What else is wrong may be said first; what HTTP/1.0 expects is ignored (RFC 9110 §10.1.1). */
export function expectation(request: FuzzRequest): Stage {
  const given = valueOf(request, "expect");
  if (given === undefined || given.toLowerCase() === "100-continue") return pass;
  return perhaps(problem(417, "expectation-failed"));
}

export function framed(request: FuzzRequest): Stage {
  const lengths = valuesOf(request, "content-length");
  const codings = valuesOf(request, "transfer-encoding");
  if (lengths.length > 1 || (lengths.length > 0 && codings.length > 0)) return surely(malformed);
  if (codings.some((coding) => coding !== "chunked")) return surely(malformed);
  if (Number(lengths[0] ?? 0) > bounds.bodyBytes) return surely(problem(413, "content-too-large"));
  const hosts = valuesOf(request, "host");
  if (hosts.length > 1 || (hosts.length === 0 && request.version.trim() === "HTTP/1.1"))
    return surely(malformed);
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(request.target)?.[1];
  if (hosts.some((host) => !isHost(host))) return surely(malformed);
  if (authority !== undefined && (!isHost(authority) || /^(?::|$)/.test(authority)))
    return surely(malformed);
  if (hosts.length === 0 && request.version !== "HTTP/1.0") return perhaps(malformed);
  return pass;
}

/** A name or an address in brackets, and a port (RFC 3986 §3.2.2). A key in its place is a name. */
function isHost(text: string): boolean {
  const name = text.replace(/:\d*$/, "");
  const [, address] = /^\[(.*)\]$/.exec(name) ?? [];
  if (address !== undefined)
    return (
      URL.canParse(`http://[${address}]/`) || /^v[0-9a-f]+\.[-\w.~!$&'()*+,;=:]+$/i.test(address)
    );
  const plain = name.replaceAll(/\{\{[a-z-]+\}\}|%[0-9a-f]{2}/gi, "");
  return plain.split("").every((one) => /[-\w.~!$&'()*+,;=]/.test(one));
}

export const lengthOk = ({ target }: FuzzRequest): Stage =>
  target.length > bounds.targetBytes + 100
    ? surely(problem(414, "uri-too-long"))
    : target.length > bounds.targetBytes - 100
      ? perhaps(problem(414, "uri-too-long"))
      : pass;

export function methodOk({ method }: FuzzRequest): Stage {
  if (method === "GET" || method === "HEAD") return pass;
  return surely(method === "OPTIONS" ? { status: 204 } : problem(405, "method-not-allowed"));
}

/** Any wrong key may be the one too many of its address. */
const wrongKey = (code: string) => surely(problem(401, code), problem(429, "quota-exceeded"));

export function keyOk(request: FuzzRequest, given = valueOf(request, "x-api-key") ?? ""): Stage {
  if (given === "") return surely(problem(401, "api-key-missing"));
  const role = /^\{\{([a-z-]+)\}\}$/.exec(given)?.[1] as Role | undefined;
  if (role === undefined) return wrongKey("api-key-invalid");
  if ((validRoles as readonly Role[]).includes(role)) return pass;
  if (role === "small") return perhaps(problem(429, "quota-exceeded"));
  if (role === "suspended") return surely(problem(403, "access-denied"));
  if (role === "expired" || role === "revoked") return wrongKey(`api-key-${role}`);
  return wrongKey("api-key-invalid");
}

export function formatOk(request: FuzzRequest, available: readonly string[]): Stage {
  const preferred = preferredOf(valueOf(request, "accept"), available);
  const refused = problem(406, "not-acceptable");
  if (preferred === undefined) return perhaps(refused);
  return preferred.length === 0 ? surely(refused) : pass;
}

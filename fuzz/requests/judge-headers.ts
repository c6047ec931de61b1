/** The headers every answer must have, and those that belong to its status. */
import type { Violation } from "../run.ts";
import type { Answer } from "./read-answers.ts";
import { messageType } from "./promised.ts";
import { targetOf, valuesOf, type FuzzRequest } from "./request.ts";

const always: Readonly<Record<string, RegExp>> = {
  "api-version": /^1\.3$/,
  "x-request-id": /^[A-Za-z0-9._-]{1,64}$/,
  vary: /^Accept, Accept-Encoding$/,
  "x-content-type-options": /^nosniff$/,
  "access-control-allow-origin": /^\*$/,
  "access-control-expose-headers": /\bX-Request-Id\b/,
  date: /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
};

const byStatus: Readonly<Record<number, Readonly<Record<string, RegExp>>>> = {
  200: { "cache-control": /^(private, no-cache|no-store|public, max-age=300)$/ },
  204: { allow: /\bOPTIONS\b/, "access-control-allow-methods": /^GET, HEAD, OPTIONS(?:, POST)?$/ },
  304: {
    etag: /^W\/"[\x21-\x7e]+"$/,
    "cache-control": /^(private, no-cache|public, max-age=300)$/,
  },
  401: { "www-authenticate": /^ApiKey realm="gp-records", error="api-key-[a-z]+"$/ },
  405: { allow: /\b(?:GET|POST)\b/ },
  429: { "retry-after": /^[1-9][0-9]{0,4}$/ },
  503: { "retry-after": /^[1-9][0-9]{0,4}$/ },
};

/** Those of a page of an operation, which alone has a total. */
const ofPages: Readonly<Record<string, RegExp>> = {
  etag: /^W\/"\d{8}T\d{6}Z-[0-9a-f]{8}-[A-Za-z0-9_-]+"$/,
  "dataset-version": /^\d{8}T\d{6}Z-[0-9a-f]{8}$/,
  "x-total-count": /^[0-9]+$/,
  link: /; rel="first".*; rel="last".*<\/openapi\.json>; rel="service-desc"$/,
  "cache-control": /^private, no-cache$/,
  "ratelimit-policy": /^"minute";q=\d+;w=60, "hour";q=\d+;w=3600, "day";q=\d+;w=86400$/,
  ratelimit: /^"minute";r=\d+;t=\d+, "hour";r=\d+;t=\d+, "day";r=\d+;t=\d+$/,
};

/** What lets other sites read an answer. */
const ofOthers = /^access-control-/;
const never = ["server", "x-powered-by", "set-cookie"];
const problemType = "application/problem+json; charset=utf-8";
export const pageType = "text/html; charset=utf-8";

export function judgeHeaders(
  answer: Answer,
  request: FuzzRequest | null,
  sent: Buffer,
  isMessage: boolean,
): Violation[] {
  const { status, headers, isWithoutContent } = answer;
  const violations: Violation[] = [];
  const said = (rule: string, detail: string) => void violations.push({ rule, detail });
  const isPage = headers.has("x-total-count");
  const wanted = { ...always, ...byStatus[status], ...(isPage && ofPages) };
  const isPrivate = isForPeople(request, sent);
  for (const [name, shape] of Object.entries(wanted)) {
    if (isPrivate && ofOthers.test(name) && !headers.has(name)) continue;
    const value = headers.get(name);
    if (value === undefined) said(`header ${name} is missing`, `status ${status}`);
    else if (!shape.test(value)) said(`header ${name}`, value);
  }
  for (const name of never) if (headers.has(name)) said(`header ${name} must not be sent`, "");
  if (status >= 400) {
    if (headers.get("cache-control") !== "no-store") said("an error may be cached", `${status}`);
    const types = [problemType, pageType, ...(isMessage ? [messageType] : [])];
    if (!types.includes(headers.get("content-type") ?? ""))
      said("content type of an error", `${status}`);
    for (const name of ["etag", "dataset-version", "x-total-count"])
      if (headers.has(name)) said(`header ${name} on an error`, `${status}`);
  }
  if (!isWithoutContent && status === 200 && !headers.has("content-type"))
    said("header content-type is missing", `${status}`);
  if (!isWithoutContent && !headers.has("content-length"))
    said("header content-length is missing", `${status}`);
  if (request !== null) violations.push(...judgeEcho(answer, request));
  return violations;
}

/** Of damaged bytes nobody can tell which path they ask for. */
const isForPeople = (request: FuzzRequest | null, sent: Buffer) =>
  /\/(?:account|browse|search|feeds)/.test(
    request === null ? sent.toString("latin1") : targetOf(request.target).path,
  );

/** A client's id comes back if it may be logged; otherwise we give one. An encoding was asked for. */
function judgeEcho({ headers, status }: Answer, request: FuzzRequest): Violation[] {
  const id = headers.get("x-request-id") ?? "";
  const given = valuesOf(request, "x-request-id");
  const isOurs = /^req_[0-9A-HJKMNP-TV-Z]{26}$/.test(id);
  // A key must not come back, wherever it was put.
  const isKept = given.length === 1 && /^[A-Za-z0-9._-]{1,64}$/.test(given[0]!);
  const coding = headers.get("content-encoding");
  const accepted = valuesOf(request, "accept-encoding").join(",").toLowerCase();
  // What could not be read as a request has no id that could be kept.
  const wasRead = ![400, 405, 417, 431].includes(status);
  return [
    ...((isKept && wasRead ? id !== given[0] : !isOurs && id !== given[0])
      ? [{ rule: "request id", detail: id }]
      : []),
    ...(coding !== undefined && !accepted.includes(coding) && !accepted.includes("*")
      ? [{ rule: "encoding nobody asked for", detail: coding }]
      : []),
  ];
}

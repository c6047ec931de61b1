/** The form of an error (RFC 9457), and what belongs to each code. */
import type { Violation } from "../run.ts";
import { faultCodes, faultsListed, promisedProblems, unavailableReasons } from "./promised.ts";
import type { Answer } from "./read-answers.ts";

export interface ProblemRead {
  body: Readonly<Record<string, unknown>>;
  code: string;
  /** `parameter code` of each fault. */
  faults: readonly string[];
}

/** Null where the content is no JSON object. */
export function readProblem(content: string): ProblemRead | null {
  let body: unknown;
  try {
    body = JSON.parse(content);
  } catch {
    return null;
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return null;
  const known = body as Record<string, unknown>;
  const errors = Array.isArray(known["errors"])
    ? (known["errors"] as Record<string, unknown>[])
    : [];
  return {
    body: known,
    code: String(known["code"]),
    faults: errors.map(({ parameter, code }) => `${String(parameter)} ${String(code)}`),
  };
}

const order = ["type", "title", "status", "detail", "code", "request_id"];
const quotaType = "https://iana.org/assignments/http-problem-types#quota-exceeded";

export function judgeProblem(
  { status, headers }: Answer,
  problem: ProblemRead | null,
): Violation[] {
  if (problem === null) return [{ rule: "an error is no JSON object", detail: String(status) }];
  const { body, code } = problem;
  const promised = promisedProblems[code];
  if (promised === undefined) return [{ rule: "code not promised", detail: `${status} ${code}` }];
  const wrong: string[] = [];
  const { title, members } = promised;
  if (Object.keys(body).slice(0, order.length).join() !== order.join()) wrong.push("members");
  if (body["status"] !== status || promised.status !== status) wrong.push("status");
  if (body["title"] !== title) wrong.push("title");
  if (body["type"] !== (code === "quota-exceeded" ? quotaType : `/errors/${code}`))
    wrong.push("type");
  if (typeof body["detail"] !== "string" || body["detail"].length < 10) wrong.push("detail");
  if (String(body["detail"]).length > 2000) wrong.push("length of detail");
  if (body["request_id"] !== headers.get("x-request-id")) wrong.push("request_id");
  for (const member of members) if (body[member] === undefined) wrong.push(member);
  if (code === "unavailable" && !unavailableReasons.includes(String(body["reason"])))
    wrong.push("reason");
  if (code === "invalid-parameters" && !hasGoodErrors(body)) wrong.push("errors");
  if (code === "method-not-allowed" && headers.get("allow") !== listed(body["allowed"]))
    wrong.push("Allow");
  const retryAfter = body["retry_after"];
  if (retryAfter !== undefined && retryAfter !== Number(headers.get("retry-after")))
    wrong.push("Retry-After");
  const challenge = `ApiKey realm="gp-records", error="${code}"`;
  if (status === 401 && headers.get("www-authenticate") !== challenge)
    wrong.push("WWW-Authenticate");
  return wrong.map((member) => ({
    rule: `${code}: ${member}`,
    detail: JSON.stringify(body[member] ?? null),
  }));
}

const listed = (value: unknown) => (Array.isArray(value) ? value.join(", ") : "");

function hasGoodErrors({ errors, errors_total: total }: ProblemRead["body"]): boolean {
  if (!Array.isArray(errors) || errors.length === 0) return false;
  const isCut = total !== undefined;
  if (isCut && !(errors.length === faultsListed && Number(total) > faultsListed)) return false;
  if (errors.length > faultsListed) return false;
  return errors.every(
    ({ parameter, code, detail }: Record<string, unknown>) =>
      typeof parameter === "string" &&
      [...parameter].length <= 51 &&
      faultCodes.includes(String(code)) &&
      typeof detail === "string",
  );
}

/** An error (RFC 9457) beyond its form, which openapi.json tells: what belongs to its code, and to the headers it came with. */
import type { Violation } from "../run.ts";
import { faultsListed } from "./promised.ts";
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

const quotaType = "https://iana.org/assignments/http-problem-types#quota-exceeded";

export function judgeProblem(
  { status, headers }: Answer,
  problem: ProblemRead | null,
): Violation[] {
  if (problem === null) return [{ rule: "an error is no JSON object", detail: String(status) }];
  const { body, code } = problem;
  const detail = String(body["detail"]);
  const wrong: string[] = [];
  if (body["type"] !== (code === "quota-exceeded" ? quotaType : `/errors/${code}`))
    wrong.push("type");
  if (detail.length < 10 || detail.length > 2000) wrong.push("detail");
  if (body["request_id"] !== headers.get("x-request-id")) wrong.push("request_id");
  if (code === "invalid-parameters" && !hasGoodErrors(body)) wrong.push("errors");
  if (code === "method-not-allowed" && headers.get("allow") !== listed(body["allowed"]))
    wrong.push("allowed");
  const retryAfter = body["retry_after"];
  if (retryAfter !== undefined && retryAfter !== Number(headers.get("retry-after")))
    wrong.push("retry_after");
  const challenge = `ApiKey realm="gp-records", error="${code}"`;
  if (status === 401 && headers.get("www-authenticate") !== challenge) wrong.push("code");
  return wrong.map((member) => ({
    rule: `${code}: ${member}`,
    detail: JSON.stringify(body[member] ?? null),
  }));
}

const listed = (value: unknown) => (Array.isArray(value) ? value.join(", ") : "");

/** Only where some are left out is their number told, and long names of parameters are cut. */
function hasGoodErrors({ errors, errors_total: total }: ProblemRead["body"]): boolean {
  if (!Array.isArray(errors) || errors.length === 0) return false;
  if (total !== undefined && errors.length !== faultsListed) return false;
  return errors.every(({ parameter }) => [...String(parameter)].length <= 51);
}

/** What every error of the service must look like, whoever raised it. */
import assert from "node:assert/strict";
import { commonMembers, type ProblemCode, problemKinds } from "#problems/kinds.ts";
import { Type } from "#records/schema.ts";
import type { RawJsonAnswer } from "./raw-client.ts";

/** Traces, places of files, SQL, names and versions of software. */
const ours =
  /\bat (\S+ \()?(file:|node:|\/)\S+:\d+|node_modules|\/src\/|\.ts\b|\bselect\b.*\bfrom\b|sqlite|node\/|v\d+\.\d+/i;

/** @returns the problem, for what is particular about it. */
export function assertProblem(answer: RawJsonAnswer, status: number, code: ProblemCode): any {
  const { headers, json, text } = answer;
  assert.equal(answer.status, status, text.slice(0, 300));
  assert.equal(headers["content-type"], "application/problem+json; charset=utf-8");
  const { title, status: statusOfCode, members } = problemKinds[code];
  assert.equal(status, statusOfCode);
  const { properties, required } = Type.Object({ ...commonMembers, ...members });
  const isSent = (name: string) => name in json || (required as string[]).includes(name);
  assert.deepEqual(Object.keys(json), Object.keys(properties).filter(isSent));
  const type =
    code === "quota-exceeded"
      ? "https://iana.org/assignments/http-problem-types#quota-exceeded"
      : `/errors/${code}`;
  assert.deepEqual(
    [json.type, json.title, json.status, json.code, json.request_id],
    [type, title, status, code, headers["x-request-id"]],
  );
  assert.match(json.detail, /^\S.*[.…]$/);
  assertHeaders(answer, code);
  assert.equal(ours.exec(text)?.[0], undefined);
  assert.equal(text.includes(process.cwd()), false);
  return json;
}

function assertHeaders({ status, headers, json }: RawJsonAnswer, code: ProblemCode): void {
  assertEveryAnswer(headers);
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["etag"], undefined);
  assert.equal(
    headers["www-authenticate"],
    status === 401 ? `ApiKey realm="gp-records", error="${code}"` : undefined,
  );
  assert.equal(headers["allow"], status === 405 ? json.allowed.join(", ") : undefined);
  const waits = status === 429 || status === 503;
  assert.equal(headers["retry-after"], waits ? String(json.retry_after) : undefined);
  if (waits) assert.ok(Number.isInteger(json.retry_after) && json.retry_after >= 1);
}

/** What every answer has, whatever its status. */
export function assertEveryAnswer(headers: Readonly<Record<string, string>>): void {
  assert.equal(headers["api-version"], "1.3");
  assert.match(headers["x-request-id"]!, /^[A-Za-z0-9._-]{1,64}$/);
  assert.equal(headers["vary"], "Accept, Accept-Encoding");
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["access-control-allow-origin"], "*");
  assert.equal(headers["server"], undefined);
  assert.equal(headers["x-powered-by"], undefined);
}

/** The error is a 400 for parameters. @returns its faults, as `name code`. */
export function faultsIn(answer: RawJsonAnswer): string[] {
  const { errors, errors_total: total } = assertProblem(answer, 400, "invalid-parameters");
  assert.ok(errors.length > 0 && errors.length <= 20);
  if (total !== undefined) assert.ok(errors.length === 20 && total > 20);
  for (const fault of errors) assert.match(fault.detail, /^\S.*\.$/);
  return errors.map(
    (fault: { parameter: string; code: string }) => `${fault.parameter} ${fault.code}`,
  );
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { problemAnswer } from "#http/send-answer.ts";
import { quotaProblem } from "#limits/quota-problem.ts";
import { errorPage, errorsPage, exampleProblemBody, exampleRequestId } from "#pages/errors.ts";
import { problemExplanations } from "#pages/problem-explanations.ts";
import { commonMembers, parameterFaultCodes, problemCodes, problemKinds } from "#problems.ts";
import { Type } from "#records/schema.ts";

test("the index leads to every error, with status and title", () => {
  const page = errorsPage();
  for (const code of problemCodes) {
    const { status, title } = problemKinds[code];
    const row = page.slice(page.indexOf(`<a href="/errors/${code}"><code>${code}</code></a>`));
    assert.match(
      row.slice(0, row.indexOf("</tr>")),
      new RegExp(`>${status}</td><td>${title}</td>`),
    );
  }
});

test("the example of every error is, byte for byte, what the service would send", () => {
  for (const code of problemCodes) {
    const { body } = problemAnswer(problemExplanations[code].example, exampleRequestId);
    assert.equal(JSON.stringify(exampleProblemBody(code)), body.toString(), code);
  }
});

test("the example of a used-up quota is what the limiter says", () => {
  const window = (
    name: "minute" | "hour" | "day",
    numbers: readonly number[],
    waitSeconds: number,
  ) => {
    const [quota = 0, windowSeconds = 0, remaining = 0, resetSeconds = 0] = numbers;
    return { name, quota, windowSeconds, remaining, resetSeconds, waitSeconds };
  };
  const problem = quotaProblem({
    admitted: false,
    violated: ["minute"],
    retryAfterSeconds: 23,
    windows: [
      window("minute", [60, 60, 0, 23], 23),
      window("hour", [1000, 3600, 412, 90], 0),
      window("day", [10_000, 86_400, 8123, 811], 0),
    ],
  });
  assert.deepEqual(problemExplanations["quota-exceeded"].example, problem);
});

test("the page of every error shows its example, and type and meaning of each member that is declared and of no other", () => {
  for (const code of problemCodes) {
    const page = errorPage(code);
    assert.ok(page.includes(`<h1>${problemKinds[code].title}</h1>`), code);
    assert.ok(page.includes(`"code": "${code}"`), code);
    const rows = page
      .slice(page.indexOf("<h2>Members</h2>"))
      .matchAll(/<th scope="row"><code>([^<]+)<\/code><\/th>\s*<td>(.+?)<\/td><td>(.+?)<\/td>/g);
    const declared = Type.Object({ ...commonMembers, ...problemKinds[code].members });
    assert.deepEqual(
      [...rows].map(([, member]) => member),
      Object.keys(declared.properties),
      code,
    );
    assert.deepEqual(Object.keys(exampleProblemBody(code)), declared.required, code);
  }
});

test("the page of invalid parameters explains every code of a fault, and no other page does", () => {
  for (const fault of parameterFaultCodes) {
    assert.ok(
      errorPage("invalid-parameters").includes(`<code id="${fault}">${fault}</code>`),
      fault,
    );
    assert.ok(!errorPage("unavailable").includes(`<code id="${fault}">`), fault);
  }
});

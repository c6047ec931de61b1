import assert from "node:assert/strict";
import { test } from "node:test";
import { cutAnswer } from "#account/components/shown-answer.ts";

const pagination = { limit: 100, offset: 0, returned: 100, total: 250 };
const meta = { api_version: "1.3", hints: [] };
const records = (count: number, text: string) =>
  Array.from({ length: count }, (_, id) => ({ id, text, tags: ["a", "b"] }));

test("a short answer is shown whole, as JSON", () => {
  const body = { data: records(3, "x"), pagination: { ...pagination, returned: 3 }, meta };
  const { text, isCut } = cutAnswer(body);
  assert.equal(isCut, false);
  assert.deepEqual(JSON.parse(text), body);
});

test("a long answer loses records between whole lines and keeps its end", () => {
  const { text, isCut } = cutAnswer({ data: records(100, "&<".repeat(200)), pagination, meta });
  assert.ok(isCut);
  assert.ok(text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").length <= 22_000);
  const [shown, end] = text.split("\n    …\n  ],");
  assert.match(shown!, /^\{\n {2}"data": \[\n {4}\{\n {6}"id": 0,\n/);
  assert.deepEqual(JSON.parse(`{${end!}`), { pagination, meta });
});

test("an answer of which only some records were parsed counts as cut", () => {
  const { isCut, text } = cutAnswer({ data: records(1, "x"), pagination, meta });
  assert.ok(isCut);
  assert.match(text, /"returned": 100/);
});

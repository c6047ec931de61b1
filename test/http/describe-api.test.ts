import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Compile } from "typebox/compile";
import { describeApi } from "#http/describe-api.ts";
import { operations } from "#operations/index.ts";
import { filtersOf, parametersOf } from "#operations/operation.ts";
import { changesPath, stepPath } from "#operations/changes.ts";
import { exportsPath } from "#operations/reads.ts";
import { vocabularyPath } from "#operations/vocabulary.ts";
import { exampleProblemBody } from "#pages/errors.ts";
import { problemCodes, problemKinds } from "#problems.ts";
import { Type } from "#records/schema.ts";
import { valueLists } from "#records/value-lists.ts";
import { assertDescribed } from "../support/described.ts";
import { startService } from "../support/service.ts";

const description = describeApi(operations, 100) as any;

function refsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" ? [String(inner)] : refsIn(inner),
  );
}

const follow = (ref: string) =>
  ref
    .slice(2)
    .split("/")
    .reduce((at: any, key) => at?.[key], description);

test("every reference of the description leads somewhere in it", () => {
  const refs = refsIn(description);
  assert.ok(refs.length > 20);
  for (const ref of refs) assert.notEqual(follow(ref), undefined, ref);
});

test("each operation is described under its path, by its name, with all its parameters", () => {
  assert.deepEqual(Object.keys(description.paths), [
    ...operations.map(({ path }) => path),
    vocabularyPath,
    exportsPath,
    `${exportsPath}/{version}/{file}`,
    changesPath,
    stepPath,
  ]);
  for (const operation of operations) {
    const { get } = description.paths[operation.path];
    assert.equal(get.operationId, operation.name);
    const parameters = get.parameters.map((one: { $ref?: string }) =>
      one.$ref === undefined ? one : follow(one.$ref),
    );
    const namesIn = (place: string) =>
      parameters.filter((one: { in: string }) => one.in === place).map(({ name }: any) => name);
    assert.deepEqual(namesIn("query"), parametersOf(operation));
    assert.deepEqual(namesIn("header"), ["If-None-Match"]);
    assert.deepEqual(get.tags, [description.tags[0].name]);
    const required = parameters
      .filter((one: { required?: boolean }) => one.required)
      .map((one: { name: string }) => one.name);
    assert.deepEqual(
      required,
      filtersOf(operation).filter((name) => operation.filters[name]!.isRequired),
    );
  }
});

test("every closed list is described with the meaning of each of its values", () => {
  const texts = JSON.stringify(description.components.schemas);
  for (const { members, values } of valueLists.slice(0, -1))
    for (const { value, meaning } of values)
      assert.ok(
        texts.includes(JSON.stringify(`- \`${value}\`: ${meaning}`).slice(1, -1)),
        `${members[0]} ${value}`,
      );
});

test("the example of the vocabulary fits its schema", () => {
  const { schema, example } =
    description.paths[vocabularyPath].get.responses[200].content["application/json"];
  assert.deepEqual(Compile(resolve(schema) as any).Errors(example), []);
});

/** The schema with its references followed. */
function resolve(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(resolve);
  if ("$ref" in value) return resolve(follow(String(value.$ref)));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
}

test("an answer with a header, a member or a status that is not described does not pass for described", () => {
  const headers = [["content-type", "application/problem+json; charset=utf-8"]] as const;
  const json = exampleProblemBody("quota-exceeded");
  assertDescribed({ status: 429, headers: [...headers, ["retry-after", "23"]], json });
  for (const wrong of [
    { status: 429, headers: [...headers, ["x-secret", "1"]] as const, json },
    { status: 429, headers, json: { ...json, secret: 1 } },
    { status: 429, headers, json: { ...json, retry_after: "23" } },
    { status: 429, headers, json: { ...json, policies: [{ name: "week" }] } },
    { status: 418, headers, json },
  ])
    assert.throws(() => assertDescribed(wrong), /openapi\.json/);
});

test("what each code of an error carries is described under its status, by the type that its catalogue says", () => {
  for (const code of problemCodes) {
    const { status, members } = problemKinds[code];
    const { schema } =
      description.components.responses[`Problem${status}`].content["application/problem+json"];
    const refs: string[] = (schema.oneOf ?? [schema]).map(({ $ref }: any) => $ref);
    const found = refs.map(follow).filter(({ properties }) => properties.code.enum[0] === code);
    assert.equal(found.length, 1, code);
    const { required, properties } = found[0];
    const own = Type.Object({ ...members });
    assert.deepEqual(required, ["status", "code", ...(own.required ?? [])]);
    for (const [name, { type }] of Object.entries(own.properties as Record<string, any>))
      assert.deepEqual(properties[name].type, type, `${name} of ${code}`);
    if (refs.length > 1)
      assert.ok(refs.includes(schema.discriminator.mapping[code]), `discriminator of ${code}`);
  }
});

test("the description says what the operator's largest page is", async (t) => {
  const service = await startService(t, { settings: { PAGE_SIZE_MAX: "500" } });
  const { body } = await service.get("/openapi.json", { "x-api-key": "" });
  const limit = body.paths["/fetch-gp"].get.parameters.find(
    ({ name }: { name: string }) => name === "limit",
  );
  assert.equal(limit.schema.maximum, 500);
  assert.equal((await service.get("/fetch-signals?limit=500")).status, 200);
  assert.equal((await service.get("/fetch-signals?limit=501")).body.errors[0].maximum, 500);
});

test("openapi.json in the repository is what the service serves by default", async (t) => {
  const service = await startService(t);
  const { body } = await service.get("/openapi.json", { "x-api-key": "" });
  assert.deepEqual(JSON.parse(readFileSync("openapi.json", "utf8")), body);
});

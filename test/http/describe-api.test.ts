import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Compile } from "typebox/compile";
import { describeApi } from "#http/describe-api.ts";
import { operations } from "#operations/index.ts";
import { parametersOf } from "#operations/parameter-names.ts";
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
  assert.deepEqual(
    Object.keys(description.paths),
    operations.map(({ path }) => path),
  );
  for (const operation of operations) {
    const { get } = description.paths[operation.path];
    assert.equal(get.operationId, operation.name);
    assert.deepEqual(
      get.parameters.map(({ name }: { name: string }) => name),
      parametersOf(operation),
    );
    const required = get.parameters
      .filter((one: { required?: boolean }) => one.required)
      .map((one: { name: string }) => one.name);
    assert.deepEqual(required, operation.gpName.isRequired ? ["gp_name"] : []);
  }
});

test("every answer of a running service fits what is described for it", async (t) => {
  const service = await startService(t);
  const resolve = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(resolve);
    if ("$ref" in value) return resolve(follow(String(value.$ref)));
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  };
  const page = (path: string) =>
    resolve(description.paths[path].get.responses[200].content["application/json"].schema);
  const problem = resolve(follow("#/components/schemas/Problem"));
  for (const { path } of operations) {
    const { body } = await service.get(`${path}?gp_name=stone`);
    assert.deepEqual(Compile(page(path) as any).Errors(body), [], path);
    const { body: fault } = await service.get(`${path}?limit=0&x=y`);
    assert.deepEqual(Compile(problem as any).Errors(fault), []);
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

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Compile } from "typebox/compile";
import { describeApi } from "#http/describe-api.ts";
import { changesPath, stepPath } from "#operations/changes.ts";
import { operations } from "#operations/index.ts";
import { filtersOf, parametersOf } from "#operations/operation.ts";
import { exportsPath } from "#operations/reads.ts";
import { vocabularyPath } from "#operations/vocabulary.ts";
import { exampleProblemBody } from "#pages/errors.ts";
import { problemCodes, problemKinds } from "#problems.ts";
import { Type } from "#records/schema.ts";
import { valueLists } from "#records/value-lists.ts";
import { hasOutside, outsideCommand, outsideFolder } from "../outside/outside.ts";
import { assertDescribed } from "../support/described.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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

const described = readFileSync("openapi.json", "utf8");

/** Runs a command of this folder to its end, within two minutes. */
const run = (name: string, args: readonly string[], cwd = ".") =>
  new Promise<{ exitCode: unknown; out: string; err: string }>((resolve) => {
    const options = { cwd, timeout: 120_000, maxBuffer: 1e8 };
    execFile(outsideCommand(name), args, options, (error, out, err) =>
      resolve({ exitCode: error === null ? 0 : error.code, out, err }),
    );
  });

/** A description that no linter should be content with: it has no contact, and an operation without answers. */
function faulty(t: TestContext): string {
  const description = JSON.parse(described) as any;
  delete description.info.contact;
  description.paths["/fetch-gp"].get.responses = {};
  const path = join(temporaryFolder(t), "faulty.json");
  writeFileSync(path, JSON.stringify(description));
  return path;
}

test("Redocly finds no error and no warning in openapi.json", async (t) => {
  if (!hasOutside(t, "@redocly/cli")) return;
  const lint = async (path: string) => {
    const args = ["lint", path, "--config=test/outside/redocly.yaml", "--format=json"];
    const { out, err } = await run("redocly", args);
    assert.ok(out.includes("{"), err);
    return JSON.parse(out.slice(out.indexOf("{"))) as {
      totals: { errors: number };
      problems: unknown[];
    };
  };
  assert.deepEqual((await lint("openapi.json")).problems, []);
  assert.notEqual((await lint(faulty(t))).totals.errors, 0);
});

test("Spectral finds no error and no warning in openapi.json", async (t) => {
  if (!hasOutside(t, "@stoplight/spectral-cli")) return;
  const lint = async (path: string) => {
    const args = ["lint", path, "--ruleset=test/outside/spectral.yaml", "--format=json"];
    const { out, err } = await run("spectral", [...args, "--quiet"]);
    assert.ok(out.startsWith("["), err);
    return JSON.parse(out) as unknown[];
  };
  assert.deepEqual(await lint("openapi.json"), []);
  assert.notEqual((await lint(faulty(t))).length, 0);
});

/** `data`, `error` and what an error of each code carries are typed; the comments show that a wrong type is found. */
const client = `
import createClient from "openapi-fetch";
import type { paths } from "./api.d.ts";

const { GET } = createClient<paths>({ baseUrl: "http://127.0.0.1" });

export async function secondsToWait(): Promise<number> {
  const { data, error } = await GET("/fetch-gp", { params: { query: { gp_name: "kkr" } } });
  if (data !== undefined) {
    // @ts-expect-error a page has no such member
    data.retry_after;
    return typeof data === "string" ? data.length : data.pagination.total;
  }
  // @ts-expect-error only some errors have it
  error.retry_after;
  if (error.code === "quota-exceeded") {
    // @ts-expect-error a number is no text
    const text: string = error.retry_after;
    return error.retry_after;
  }
  if (error.code === "invalid-parameters") return error.errors[0]!.detail.length;
  return "retry_after" in error ? error.retry_after : 0;
}

export async function themes(): Promise<readonly { value: string; gps_total: number }[]> {
  const { data } = await GET("/vocabulary");
  return data?.data.themes ?? [];
}
`;

test("a client that openapi-typescript generates reads error.retry_after as a number", async (t) => {
  if (!hasOutside(t, "openapi-typescript") || !hasOutside(t, "openapi-fetch")) return;
  const folder = temporaryFolder(t);
  symlinkSync(outsideFolder, join(folder, "node_modules"), "junction");
  const types = join(folder, "api.d.ts");
  const made = await run("openapi-typescript", ["openapi.json", "--output", types]);
  assert.equal(made.exitCode, 0, made.err);
  writeFileSync(join(folder, "client.ts"), client);
  const compilerOptions = {
    noEmit: true,
    strict: true,
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "dom"],
    types: [],
    allowImportingTsExtensions: true,
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["client.ts"] }),
  );
  const compiled = await run("tsc", ["--project", "."], folder);
  assert.equal(compiled.out, "");
  assert.equal(compiled.exitCode, 0, compiled.err);
});

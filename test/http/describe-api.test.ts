import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Compile } from "typebox/compile";
import { describeApi } from "#http/describe-api.ts";
import { changesPath, stepPath } from "#operations/changes.ts";
import { operations } from "#operations/index.ts";
import { parameterBounds, parametersOf } from "#operations/operation.ts";
import { exportsPath } from "#gateway/read-exports.ts";
import { explainPath } from "#operations/reads.ts";
import { vocabularyPath } from "#operations/vocabulary.ts";
import { problemCodes, problemKinds } from "#problems/kinds.ts";
import { Type } from "#records/schema.ts";
import { valueLists } from "#records/declarations.ts";
import { hasOutside, outsideCommand, outsideFolder } from "../outside/outside.ts";
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
    `${explainPath}/{id}`,
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
    const { filters } = operation;
    const declared = Object.keys(filters).filter((name) => filters[name]!.isRequired);
    assert.deepEqual(required, declared);
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

test("the examples of the vocabulary, of an explanation and of the operations fit their schemas", () => {
  for (const path of [
    vocabularyPath,
    `${explainPath}/{id}`,
    ...operations.map(({ path }) => path),
  ]) {
    const { schema, example } =
      description.paths[path].get.responses[200].content["application/json"];
    assert.deepEqual(Compile(resolve(schema) as any).Errors(example), [], path);
  }
});

test("a GP in a list is described without its principals and signals, with their totals, in each format", () => {
  const { content, headers } = description.paths["/list-gps"].get.responses[200];
  const { items } = content["application/json"].schema.properties.data;
  const { Gp } = description.components.schemas;
  const { properties, required } = follow(items.$ref);
  const members = Object.keys(Gp.properties).filter(
    (name) => name !== "principals" && name !== "signals",
  );
  assert.deepEqual(Object.keys(properties), members);
  assert.deepEqual(required, members);
  const [line] = content["application/x-ndjson"].example.split("\n");
  assert.deepEqual(Object.keys(JSON.parse(line)), members);
  const columns = content["text/csv"].example.split("\r\n")[0].split(",");
  const ofGp = description.paths["/fetch-gp"].get.responses[200].content["text/csv"].example
    .split("\r\n")[0]
    .split(",");
  const embedded = ["principals.name", "signals.title"];
  const own = ofGp.filter((name: string) => !embedded.includes(name));
  assert.deepEqual(columns, own);
  assert.ok("X-Total-Count" in headers);
});

test("the parameters of lists are described as texts, lists, dates, numbers and booleans", () => {
  const schemaOf = (path: string, name: string) =>
    description.paths[path].get.parameters.find((one: { name?: string }) => one.name === name)
      .schema;
  const { pattern: _pattern, ...date } = schemaOf("/list-signals", "date_from");
  assert.deepEqual(date, { type: "string" });
  assert.deepEqual(schemaOf("/list-signals", "has_gp"), { type: "boolean" });
  assert.deepEqual(schemaOf("/list-gps", "confidence_min"), {
    type: "number",
    minimum: 0,
    maximum: 1,
  });
  assert.equal(schemaOf("/list-gps", "aum_usd_max").type, "integer");
  assert.equal(schemaOf("/list-gps", "gp_name").type, "string");
  const { type, maxItems, items } = schemaOf("/list-projects", "status");
  assert.deepEqual([type, maxItems, items.enum.includes("planned")], ["array", 10, true]);
  assert.equal(schemaOf("/list-projects", "gp_id").maxItems, 100);
  for (const { path, sorts } of operations)
    if (sorts !== null)
      assert.deepEqual(schemaOf(path, "sort"), { type: "string", enum: sorts, default: sorts[0] });
});

test("every offset is described with the largest that is taken", () => {
  for (const { get } of Object.values<any>(description.paths))
    for (const { name, schema } of get.parameters)
      if (name === "offset") assert.equal(schema.maximum, parameterBounds.offsetMax);
});

/** The schema with its references followed. */
function resolve(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(resolve);
  if ("$ref" in value) return resolve(follow(String(value.$ref)));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
}

test("what each code of an error carries is described under its status, by the type that its catalogue says", () => {
  for (const code of problemCodes) {
    const { status, members } = problemKinds[code];
    const { headers, content } = description.components.responses[`Problem${status}`];
    assert.ok(!("Link" in headers), code);
    const { schema } = content["application/problem+json"];
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

/** Runs a command of this folder to its end, within two minutes. */
const run = (name: string, args: readonly string[], cwd = ".") =>
  new Promise<{ exitCode: unknown; out: string; err: string }>((resolve) => {
    const options = { cwd, timeout: 120_000, maxBuffer: 1e8 };
    execFile(outsideCommand(name), args, options, (error, out, err) =>
      resolve({ exitCode: error === null ? 0 : error.code, out, err }),
    );
  });

test("Redocly finds no error and no warning in openapi.json", async (t) => {
  if (!hasOutside(t, "@redocly/cli")) return;
  const args = ["lint", "openapi.json", "--config=test/outside/redocly.yaml", "--format=json"];
  const { out, err } = await run("redocly", args);
  assert.ok(out.includes("{"), err);
  assert.deepEqual(JSON.parse(out.slice(out.indexOf("{"))).problems, []);
});

test("Spectral finds no error and no warning in openapi.json", async (t) => {
  if (!hasOutside(t, "@stoplight/spectral-cli")) return;
  const args = ["lint", "openapi.json", "--ruleset=test/outside/spectral.yaml", "--format=json"];
  const { out, err } = await run("spectral", [...args, "--quiet"]);
  assert.ok(out.startsWith("["), err);
  assert.deepEqual(JSON.parse(out), []);
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

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hasOutside, outsideCommand, outsideFolder } from "../outside/outside.ts";

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

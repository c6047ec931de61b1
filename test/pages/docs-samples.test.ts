import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { operations } from "#operations/index.ts";
import { brunoRequest } from "#pages/call-lines.ts";
import { collection } from "#pages/docs-samples.ts";
import { outcomeOf } from "../support/command-line.ts";
import { hasOutside, importOutside } from "../outside/outside.ts";
import { startService } from "../support/service.ts";

const characters: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&#34;": '"',
  "&#39;": "'",
};

/** The code of a block, as a browser would copy it. */
function codeIn(page: string, label: string): string {
  const [, code = ""] =
    new RegExp(`aria-label="${RegExp.escape(label)}"><code>(.*?)</code>`, "s").exec(page) ?? [];
  assert.notEqual(code, "", label);
  return code
    .replaceAll(/<\/?span[^>]*>/g, "")
    .replaceAll(/&(?:amp|lt|gt|#34|#39);/g, (one) => characters[one]!);
}

test("the samples of each operation at /docs/samples run as they are, but for the host and the key", async (t) => {
  const service = await startService(t);
  const { text: page } = await service.get("/docs/samples", { "x-api-key": "" });
  const environment = { ...process.env, GP_RECORDS_KEY: service.key };
  const hasPython = spawnSync("python3", ["--version"]).status === 0;
  for (const { path } of operations) {
    const sample = (language: string) =>
      codeIn(page, `The request to ${path}: ${language}`).replace("https://YOUR_HOST", service.url);
    const runs: [string, string[]][] = [
      [
        "sh",
        ["-c", sample("curl").replace("YOUR_KEY", service.key).replace("curl ", "curl -sSf ")],
      ],
      [process.execPath, ["--input-type=module-typescript", "-e", sample("TypeScript")]],
    ];
    if (hasPython) runs.push(["python3", ["-c", sample("Python")]]);
    for (const [command, args] of runs) {
      const { exitCode, out, err } = await outcomeOf(command, args, environment);
      assert.equal(exitCode, 0, err);
      assert.match(out, /\bpagination\b/);
    }
  }
});

test("the Bruno collection has each operation as /docs/samples shows it, and Bruno reads from it a request that is answered", async (t) => {
  const service = await startService(t);
  const { text: page } = await service.get("/docs/samples", { "x-api-key": "" });
  assert.equal(codeIn(page, "The file bruno.json"), collection);
  assert.equal(readFileSync("examples/bruno/bruno.json", "utf8"), collection);
  const requests = operations.map((operation, i) => {
    const file = readFileSync(`examples/bruno/${operation.name}.bru`, "utf8");
    assert.equal(file, brunoRequest(operation, i + 1), `examples/bruno/${operation.name}.bru`);
    assert.equal(codeIn(page, `The request to ${operation.path}: Bruno`), file);
    return file;
  });
  if (!hasOutside(t, "@usebruno/lang")) return;
  const { default: lang } = await importOutside<{ default: Lang }>("@usebruno/lang");
  const { variables } = lang.bruToEnvJsonV2(
    readFileSync("examples/bruno/environments/local.bru", "utf8"),
  );
  assert.deepEqual(
    variables.map(({ name }) => name),
    ["baseUrl", "apiKey"],
  );
  const values = new Map([
    ["baseUrl", service.url],
    ["apiKey", service.key],
  ]);
  const filled = (text: string) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values.get(name)!);
  for (const request of requests) {
    const { http, headers } = lang.bruToJsonV2(request);
    const sent = new Headers(headers.map(({ name, value }) => [name, filled(value)]));
    const answer = await fetch(filled(http.url), { method: http.method, headers: sent });
    assert.equal(answer.status, 200, http.url);
  }
});

/** What is used of @usebruno/lang. */
interface Lang {
  bruToJsonV2(text: string): {
    http: { method: string; url: string };
    headers: { name: string; value: string }[];
  };
  bruToEnvJsonV2(text: string): { variables: { name: string }[] };
}

test("what copies are kept by is named on a page that clients can read, at the paths that are served", async (t) => {
  const service = await startService(t, { settings: { EXPORTS: "on" } });
  const { text: page } = await service.get("/docs/samples", { "x-api-key": "" });
  const named = page.matchAll(/<code>(?:GET )?(\/(?:changes|exports)[a-z.]*)<\/code>/g);
  const paths = new Set(Array.from(named, ([, path = ""]) => path));
  assert.deepEqual(paths, new Set(["/changes", "/changes.atom", "/exports"]));
  for (const path of paths) assert.equal((await service.get(path)).status, 200, path);
});

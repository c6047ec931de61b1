import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { operations } from "#operations/index.ts";
import { outcomeOf } from "../support/command-line.ts";
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

test("what copies are kept by is named on a page that clients can read, at the paths that are served", async (t) => {
  const service = await startService(t, { settings: { EXPORTS: "on" } });
  const { text: page } = await service.get("/docs/samples", { "x-api-key": "" });
  const named = page.matchAll(/<code>(?:GET )?(\/(?:changes|exports)[a-z.]*)<\/code>/g);
  const paths = new Set(Array.from(named, ([, path = ""]) => path));
  assert.deepEqual(paths, new Set(["/changes", "/changes.atom", "/exports"]));
  for (const path of paths) assert.equal((await service.get(path)).status, 200, path);
});

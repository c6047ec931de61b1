import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { typeFiles } from "../../clients/write-types.ts";

test("the types of the clients are what openapi.json says", () => {
  for (const [path, wanted] of Object.entries(typeFiles()))
    assert.ok(
      readFileSync(path, "utf8") === wanted,
      `${path} is not what openapi.json says: run 'npm run openapi' and look at the difference.`,
    );
});

test("both clients have the version of the service they come with", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const ours = JSON.parse(readFileSync("clients/typescript/package.json", "utf8")) as {
    version: string;
  };
  const [, python] = /^__version__ = "(.+)"$/m.exec(
    readFileSync("clients/python/gp_records.py", "utf8"),
  )!;
  assert.deepEqual([ours.version, python], [version, version]);
});

test("the client in TypeScript has no dependencies and imports nothing but its own files", () => {
  const manifest = JSON.parse(readFileSync("clients/typescript/package.json", "utf8")) as object;
  assert.ok(!("dependencies" in manifest));
  for (const name of readdirSync("clients/typescript/src")) {
    const text = readFileSync(`clients/typescript/src/${name}`, "utf8");
    for (const [, target] of text.matchAll(/\bfrom "([^"]+)"/g))
      assert.match(target!, /^\.\/[\w-]+\.ts$/);
  }
});

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const lockfile = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, { dev?: boolean; integrity?: string; hasInstallScript?: boolean }>;
};

test("C105 · installed without any script, packages held by their hash, and a list that names each of them", () => {
  assert.match(readFileSync(".npmrc", "utf8"), /^ignore-scripts=true$/m);
  const { "": _project, ...locked } = lockfile.packages;
  for (const [path, { integrity, hasInstallScript }] of Object.entries(locked)) {
    assert.match(integrity ?? "", /^sha512-/, path);
    assert.equal(hasInstallScript, undefined, path);
  }
  const written = spawnSync(".ci/sbom", { encoding: "utf8", timeout: 60_000 });
  assert.equal(written.status, 0, written.stderr);
  const list = JSON.parse(written.stdout) as { components: { name: string }[] };
  const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + 13);
  const runtime = Object.entries(locked).filter(([, { dev }]) => dev !== true);
  const found = new Set(list.components.map(({ name }) => name));
  assert.deepEqual(found, new Set(runtime.map(([path]) => nameOf(path))));
});

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

interface LockedPackage {
  version: string;
  license?: string;
  integrity?: string;
  resolved?: string;
  dev?: boolean;
  hasInstallScript?: boolean;
  engines?: Record<string, string>;
}

const lockfile = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, LockedPackage>;
};
const locked = Object.entries(lockfile.packages).filter(([path]) => path !== "");
const inProduction = locked.filter(([, { dev }]) => dev !== true);
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Record<
  "dependencies" | "devDependencies" | "optionalDependencies",
  Record<string, string>
> & { repository: { url: string }; bugs: string; engines: Record<string, string> };
const decision = readFileSync("docs/decisions/0003-dependencies.md", "utf8");

test("a production install brings at most 60 packages, the bundled Node of every platform counted", () => {
  assert.ok(inProduction.length <= 60, `${inProduction.length}`);
});

test("no package runs a script when it is installed, and npm is told to run none", () => {
  assert.deepEqual(
    locked.filter(([, { hasInstallScript }]) => hasInstallScript),
    [],
  );
  assert.match(readFileSync(".npmrc", "utf8"), /^ignore-scripts=true$/m);
});

test("every package is held by its hash, and the lockfile names no registry", () => {
  for (const [path, { integrity, resolved }] of locked) {
    assert.match(integrity ?? "", /^sha512-/, path);
    assert.equal(resolved, undefined, path);
  }
});

test("every package asked for is asked for in one exact version", () => {
  const asked = Object.values({
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  });
  for (const version of asked) assert.match(version, /^\d+\.\d+\.\d+$/);
});

test("the package says where it lives, where faults are reported, and which Node installs it, as the README does", () => {
  const { repository, bugs, engines } = manifest;
  const address = /^git\+(https:\/\/\S+)\.git$/.exec(repository.url)![1]!;
  assert.equal(bugs, `${address}/issues`);
  const [, major] = /any Node from (\d+) on/.exec(readFileSync("README.md", "utf8"))!;
  assert.deepEqual(engines, { node: `>=${major}` });
  assert.deepEqual(lockfile.packages[""]!.engines, engines);
});

test("every direct dependency has its reason in docs/decisions/0003-dependencies.md, and no other stands there", () => {
  const documented = [...decision.matchAll(/^\| ([@a-z][@a-z/-]*) \| .+ \| .+ \|$/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== "package");
  assert.deepEqual(documented.toSorted(), Object.keys(manifest.dependencies).toSorted());
  for (const name of Object.keys(manifest.devDependencies).filter((one) => !one.startsWith("@")))
    assert.ok(decision.includes(name), name);
});

test("every licence is one that docs/decisions/0003-dependencies.md accepts", () => {
  const [, list = ""] = /^Licences accepted: (.+)\.$/m.exec(decision) ?? [];
  const accepted = list.split(", ");
  for (const [path, { license, dev }] of locked)
    assert.ok(
      accepted.includes(license!) || (dev === true && license === "MPL-2.0"),
      `${path}: ${license}`,
    );
});

test("every action of a workflow is pinned to a commit, and none may write unless it says so", () => {
  const workflows = globSync(".github/workflows/*.yml");
  assert.ok(workflows.length > 0);
  for (const name of workflows) {
    const text = readFileSync(name, "utf8");
    assert.match(text, /^permissions: \{\}$/m);
    const uses = [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action!);
    assert.ok(uses.length > 0);
    for (const action of uses) assert.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
    assert.match(text, /run: \.ci\/run$/m);
  }
});

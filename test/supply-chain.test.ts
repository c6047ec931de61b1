import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
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

test("a production install brings at most 55 packages, the bundled Node of each of five platforms counted", () => {
  assert.ok(inProduction.length <= 55, `${inProduction.length}`);
});

test("installed without any script, packages held by their hash, and a list that names each of them", () => {
  assert.match(readFileSync(".npmrc", "utf8"), /^ignore-scripts=true$/m);
  for (const [path, { integrity, resolved, hasInstallScript }] of locked) {
    assert.match(integrity ?? "", /^sha512-/, path);
    assert.equal(hasInstallScript, undefined, path);
    // The lockfile names no registry.
    assert.equal(resolved, undefined, path);
  }
  const written = spawnSync(".ci/sbom", { encoding: "utf8", timeout: 60_000 });
  assert.equal(written.status, 0, written.stderr);
  const list = JSON.parse(written.stdout) as { components: { name: string }[] };
  const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + 13);
  const found = new Set(list.components.map(({ name }) => name));
  assert.deepEqual(found, new Set(inProduction.map(([path]) => nameOf(path))));
});

/** Counts installations for its maker. Neither folder is installed with scripts, so it never runs. */
const scriptsNeverRun = new Set(["node_modules/@scarf/scarf"]);

for (const folder of ["bench/peers", "test/outside"])
  test(`what ${folder} installs keeps to the same rules: exact versions, hashes, no registry, no install script`, () => {
    const read = (name: string) =>
      JSON.parse(readFileSync(`${folder}/${name}`, "utf8")) as {
        dependencies: Record<string, string>;
        packages: Record<string, LockedPackage & { dependencies?: Record<string, string> }>;
      };
    const { dependencies } = read("package.json");
    const { "": asked, ...packages } = read("package-lock.json").packages;
    assert.deepEqual(asked!.dependencies, dependencies);
    for (const version of Object.values(dependencies))
      assert.match(version, /^\d+\.\d+\.\d+(-r\.\d+)?$/);
    for (const [path, { integrity, resolved, hasInstallScript }] of Object.entries(packages)) {
      assert.match(integrity ?? "", /^sha512-/, path);
      assert.equal(resolved, undefined, path);
      assert.ok(hasInstallScript !== true || scriptsNeverRun.has(path), path);
    }
    for (const name of Object.keys(dependencies))
      if (name in manifest.dependencies)
        assert.equal(dependencies[name], manifest.dependencies[name]);
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
  const [, major] = /npm and Node (\d+) or newer/.exec(readFileSync("README.md", "utf8"))!;
  assert.deepEqual(engines, { node: `>=${major}` });
  assert.deepEqual(lockfile.packages[""]!.engines, engines);
});

test("every direct dependency has its reason in docs/decisions/0003-dependencies.md, and no other stands there", () => {
  const documented = [...decision.matchAll(/^\| ([@a-z][@a-z0-9/-]*) \| .+ \| .+ \|$/gm)]
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
    for (const action of uses) assert.match(action, /^[\w-]+(?:\/[\w-]+)+@[0-9a-f]{40}$/);
    // Any later step could read the token that a checkout leaves behind.
    const checkouts = text.match(/uses: actions\/checkout@/g)!;
    assert.equal(text.match(/persist-credentials: false/g)?.length, checkouts.length, name);
  }
});

function assertInOrder(text: string, steps: readonly string[]): void {
  const places = steps.map((step) => text.indexOf(step));
  assert.ok(
    places.every((place, i) => place > (places[i - 1] ?? 0)),
    places.join(", "),
  );
}

const workflow = (name: string) => readFileSync(`.github/workflows/${name}.yml`, "utf8");

test("what .ci/run and .ci/long try is tried for every commit and before every release", () => {
  const text = workflow("ci");
  assert.match(text, /^ {2}pull_request:$/m);
  const [, check = "", release = ""] = /^ {2}check:\n(.+?)^ {2}release:\n(.+)/ms.exec(text) ?? [];
  assert.match(check, /run: \.ci\/run$/m);
  assert.match(check, /^ {2}long:\n.+run: \.ci\/long$/ms);
  assert.match(release, /^ {4}needs: \[check, long\]$/m);
});

test("the files of a release are attested before they are published, by the one job that may do either", () => {
  const [before = "", release = ""] = workflow("ci").split(/^ {2}(?:release|image):$/m);
  assert.doesNotMatch(before, /: write$/m);
  const permissions = [...release.matchAll(/^ {6}([a-z-]+): write$/gm)].map(([, name]) => name);
  assert.deepEqual(permissions, ["contents", "id-token", "attestations"]);
  const steps = [".ci/release", "actions/attest@", "subject-path: dist/*", "gh release create"];
  assertInOrder(release, steps);
  assert.match(readFileSync("SECURITY.md", "utf8"), /^gh attestation verify /m);
});

test("an image is tried before it is pushed, and attested with its digest, by the one job that may push", () => {
  const [, release = "", image = ""] = workflow("ci").split(/^ {2}(?:release|image):$/m);
  assert.doesNotMatch(release, /packages/);
  assert.match(image, /^ {4}needs: release$/m);
  const permissions = [...image.matchAll(/^ {6}([a-z-]+): write$/gm)].map(([, name]) => name);
  assert.deepEqual(permissions, ["packages", "id-token", "attestations"]);
  const steps = ["docker build", "docker run", "docker push", "actions/attest@"];
  const digest = "subject-digest: ${{ steps.image.outputs.digest }}";
  assertInOrder(image, [...steps, digest, "push-to-registry: true"]);
  assert.match(readFileSync("SECURITY.md", "utf8"), /^gh attestation verify oci:\/\//m);
});

test("vulnerabilities are looked for each week, in the code and in what it installs, and updates are proposed for packages and actions", () => {
  for (const name of ["audit", "codeql"]) assert.match(workflow(name), /^ {4}- cron: /m);
  assert.match(workflow("audit"), /run: npm audit --omit=dev$/m);
  assert.match(workflow("audit"), /run: npm audit signatures$/m);
  assert.match(workflow("codeql"), /language: \[javascript-typescript, python, actions\]/);
  const updates = readFileSync(".github/dependabot.yml", "utf8");
  const names = [...updates.matchAll(/package-ecosystem: (\S+)/g)].map(([, name]) => name);
  assert.deepEqual(names, ["npm", "github-actions"]);
});

test("a vulnerability is reported where only maintainers read it, at the address of the repository that package.json names", () => {
  const { repository } = JSON.parse(readFileSync("package.json", "utf8")) as {
    repository: { url: string };
  };
  const home = repository.url.replace(/^git\+|\.git$/g, "");
  for (const page of ["SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml"])
    assert.ok(readFileSync(page, "utf8").includes(`${home}/security/advisories/new`), page);
});

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { temporaryFolder } from "../support/temporary-folder.ts";

function evaluate(t: TestContext, ...labels: readonly unknown[]) {
  const file = join(temporaryFolder(t), "labels.json");
  writeFileSync(file, JSON.stringify(labels));
  return run(file);
}

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, ["eval/awards.ts", ...args], { encoding: "utf8" });

test("nine of ten firms of the labelled cells are found, and nine of ten found are right", () => {
  const { stdout } = run();
  const [, labels] = /^labels: (\d+)/.exec(stdout)!;
  assert.ok(Number(labels) >= 100);
  for (const what of ["precision", "recall"]) {
    const [, percent] = new RegExp(`^${what} +([\\d.]+) %`, "m").exec(stdout)!;
    assert.ok(Number(percent) >= 90, stdout);
  }
});

test("a firm that is missed, one too many and one where nobody is count as what they are", (t) => {
  const project = "Alder Lofts";
  const { stdout } = evaluate(
    t,
    { project, cell: "Birch / Cedar, LLC", firms: ["Birch", "Cedar Inc."] },
    { project, cell: "Birch and Cedar", firms: ["Birch", "Cedar"] },
    { project, cell: "Alder Lofts, LP", firms: [] },
    { project, cell: "Fir Homes", firms: [] },
    { project, cell: "Oak", firms: ["Elm"], unsure: true },
  );
  assert.deepEqual(stdout.trim().split("\n"), [
    "labels: 5; counted: 4",
    "precision  2 of 4, too few",
    "recall     2 of 4, too few",
    "nobody     1 of 2, too few",
    "miss: Birch and Cedar (Alder Lofts): label Birch | Cedar, said Birch and Cedar",
    "miss: Fir Homes (Alder Lofts): label nobody, said Fir Homes",
  ]);
});

test("a label that is none is refused by its number", (t) => {
  const { status, stderr } = evaluate(t, { project: "A", cell: "B", firms: ["B"] }, { cell: "C" });
  assert.equal(status, 1);
  assert.match(stderr, /labels\.json: label 2 must have project, cell and a list of firms/);
});

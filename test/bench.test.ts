import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { demoSize, inventRecords } from "#demo/invent.ts";
import type { CanonicalGp } from "#records/canonical.ts";
import { watchCalmSeconds } from "../bench/calm-seconds.ts";
import { median, quantile, spread } from "../bench/measure.ts";
import { makeMix } from "../bench/mix.ts";
import { choices, OptionFault, optionsHelp, readOptions } from "../bench/options.ts";
import { watchRequests } from "../bench/request-waits.ts";
import { gradeOf, type Row, rows } from "../bench/rows.ts";

const page = readFileSync("docs/bench.md", "utf8");
const sectionOf = (heading: string, next: string) =>
  page.slice(page.indexOf(heading), page.indexOf(next));

test("every option of the bench stands in docs/bench.md, and no other", () => {
  const documented = [
    ...sectionOf("| option |", "## Rows").matchAll(/^\| `--([a-z0-9]+)[^`]*` \|/gm),
  ];
  assert.deepEqual(
    documented.map(([, name]) => name),
    Object.keys(optionsHelp),
  );
});

test("every row of the bench stands in docs/bench.md with its floor and goal, and no other", () => {
  const documented = [
    ...sectionOf("## Rows", "## How it is").matchAll(
      /^\| `([a-z0-9-]+)` \| [^|]+ \| ([^|]*) \| ([^|]*) \|$/gm,
    ),
  ].map(([, ...cells]) => cells.map((cell) => cell.trim()));
  const known = Object.entries<Row>(rows).map(([name, { show, target }]) => [
    name,
    show(target.floor),
    target.goal === undefined ? "–" : show(target.goal),
  ]);
  assert.deepEqual(documented, [...known, ["steps", "–", "–"]]);
});

test("an option or a row that there is not is told by name, with those there are", () => {
  const faultOf = (...args: string[]) => {
    try {
      readOptions(args);
    } catch (error) {
      assert.ok(error instanceof OptionFault);
      return error.message;
    }
    return assert.fail(`${args.join(" ")} was taken`);
  };
  assert.match(faultOf("--fast"), /'--fast'/);
  assert.match(faultOf("warm"), /'warm'/);
  assert.match(faultOf("--rows", "warm,hot"), /'hot'; it takes warm, log/);
  assert.match(faultOf("--profile", "steps"), /'steps'; it takes warm/);
  assert.match(faultOf("--compare", "HEAD", "--rows", "steps"), /'steps'/);
  assert.match(faultOf("--compare", "HEAD", "--profile", "warm"), /leave --compare out/);
});

test("the rows of 650,000 records are measured only where they are asked for", () => {
  const chosen = (...args: string[]) => readOptions(args)!.choices;
  assert.deepEqual(
    [...chosen()],
    choices.filter((one) => one !== "cold-650k"),
  );
  assert.ok(chosen("--quick", "--650k").has("cold-650k"));
  assert.deepEqual([...chosen("--rows", "cold,import")], ["cold", "import"]);
  assert.ok(!chosen("--compare", "HEAD").has("steps"));
});

test("a figure is graded by floor and goal, in the direction that is better", () => {
  const { warm, start, "deep-offset": deepOffset }: Record<string, Row> = rows;
  const gradesOf = ({ target }: Row, ...values: number[]) =>
    values.map((value) => gradeOf(target, value));
  assert.deepEqual(gradesOf(warm!, 0.54, 0.55, 0.85), ["below floor", "floor", "goal"]);
  assert.deepEqual(gradesOf(start!, 2.1, 2, 0.7), ["below floor", "floor", "goal"]);
  assert.deepEqual(gradesOf(deepOffset!, 3.1, 1), ["below floor", "floor"]);
  assert.deepEqual(gradesOf(warm!, Number.NaN), ["below floor"]);
});

test("the mix is the same in every run: 2,000 different queries over all operations, the first asked most", () => {
  const gps = Array.from(
    inventRecords({ ...demoSize, gps: 300, principals: 0, signals: 0, projects: 0 }),
    ({ records }) => records[0] as CanonicalGp,
  );
  const mix = makeMix(gps);
  assert.deepEqual(makeMix(gps), mix);
  assert.equal(new Set(mix.targets).size, 2000);
  const paths = new Set(mix.targets.map((target) => target.split("?")[0]!));
  assert.deepEqual(
    [...paths].toSorted(),
    ["gp", "principals", "projects", "signals"].map((name) => `/fetch-${name}`),
  );
  const timesAsked = (place: number) => mix.order.filter((one) => one === place).length;
  // Of Zipf's law with exponent 1 over 2,000: 1 / 8.18 of all, and half of that for the second.
  assert.ok(Math.abs(timesAsked(0) / mix.order.length - 0.122) < 0.01);
  assert.ok(Math.abs(timesAsked(1) / mix.order.length - 0.061) < 0.01);
});

test("medians and spreads are those of the figures, in any order", () => {
  assert.equal(median([5, 1, 3]), 3);
  assert.equal(quantile([4, 1, 2, 3], 0.99), 4);
  assert.equal(spread([8, 10, 10, 12]), 0.1);
  assert.ok(Number.isNaN(median([])));
});

test("what was measured in seconds in which the machine was away is left out, and they are counted", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let stolen = 70;
  const figures = [1];
  const watch = watchCalmSeconds(figures, () => stolen);
  const second = (stolenMeanwhile: number, ...more: number[]) => {
    figures.push(...more);
    stolen += stolenMeanwhile;
    t.mock.timers.tick(1000);
  };
  second(0, 2, 3);
  second(1, 400, 500);
  second(0, 4);
  assert.equal(watch.calm, 2);
  second(0);
  figures.push(6);
  assert.deepEqual(watch.end(), { figures: [2, 3, 4], calm: 3, away: 1 });
});

test(
  "what server and client waited for a core is told for each request, however many are under way (Linux)",
  { skip: process.platform !== "linux" },
  () => {
    const { waits, begin, end } = watchRequests(process.ppid);
    begin(0);
    begin(1);
    end(1);
    end(0);
    assert.ok(waits.askedAt[0]! <= waits.askedAt[1]!);
    for (const [outer, inner] of [waits.server, waits.client])
      assert.ok(0 <= inner! && inner! <= outer!);
  },
);

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { demoSize, inventRecords } from "#demo/invent.ts";
import { startRandom } from "#demo/random.ts";
import type { CanonicalGp } from "#records/canonical.ts";
import { importRecords, writeRecords } from "../bench/fixtures.ts";
import { issueKeys } from "../bench/issue-keys.ts";
import { watchRequests, watchSteal } from "../bench/machine.ts";
import { makeMix } from "../bench/mix.ts";
import { choices, optionsHelp, readOptions } from "../bench/options.ts";
import { findRedis, NoRedis } from "../bench/redis.ts";
import { report, verdictOn } from "../bench/report.ts";
import { answersTo, requestText } from "../bench/requests.ts";
import { measureRounds, type Session } from "../bench/rounds.ts";
import {
  type Figure,
  gradeOf,
  gradeOfEstimate,
  ratioOf,
  type Row,
  type RowName,
  rows,
} from "../bench/rows.ts";
import {
  messageFrom,
  openProcessorMeter,
  type RunningServer,
  startBare,
  startProgram,
  treeBytes,
} from "../bench/servers.ts";
import { estimate, median, quantile, uncertainty } from "../bench/statistics.ts";
import { optionFault } from "./support/option-fault.ts";

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
  assert.match(optionFault("--fast"), /'--fast'/);
  assert.match(optionFault("warm"), /'warm'/);
  assert.match(optionFault("--only", "warm,hot"), /'hot'; it takes warm, log/);
  assert.match(optionFault("--profile", "steps"), /'steps'; it takes warm/);
  assert.match(optionFault("--compare", "HEAD", "--only", "steps"), /'steps'/);
  assert.match(optionFault("--rounds", "5"), /from 6, which an interval needs.*'5'/);
  assert.match(optionFault("--rounds", "many"), /'many'/);
  assert.match(optionFault("--compare", "HEAD", "--profile", "warm"), /leave --compare out/);
});

test("the rows of 650,000 records, of other formats and of engines are measured only where they are asked for", () => {
  const chosen = (...args: string[]) => readOptions(args)!.choices;
  assert.deepEqual(
    [...chosen()],
    choices.filter((one) => !/-650k$|^cold-|^engines-|^peers$/.test(one)),
  );
  assert.ok(chosen("--quick", "--650k").has("cold-650k"));
  assert.ok(chosen("--quick", "--650k").has("import-650k"));
  assert.ok(!chosen("--650k", "--peers").has("engines-valkey"));
  assert.deepEqual([...chosen("--only", "engines-postgres")], ["engines-postgres"]);
  assert.deepEqual(
    [...chosen("--compare", "HEAD", "--only", "engines-valkey")],
    ["engines-valkey"],
  );
  assert.deepEqual([...chosen("--only", "cold,import")], ["cold", "import"]);
  assert.deepEqual(
    [...chosen("--compare", "HEAD")],
    ["warm", "log", "all", "cold", "start", "memory"],
  );
  assert.deepEqual([...chosen("--compare", "HEAD", "--only", "import")], ["import"]);
});

test("where Redis is missing one line says how to install it", () => {
  assert.throws(() => findRedis("no-redis-server"), {
    constructor: NoRedis,
    message: /^[^\n]+ apt-get install redis-server$/,
  });
});

test("a figure is graded by floor and goal, in the direction that is better", () => {
  const { warm, start, "deep-offset": deepOffset }: Record<string, Row> = rows;
  const gradesOf = ({ target }: Row, ...values: number[]) =>
    values.map((value) => gradeOf(target, value));
  assert.deepEqual(gradesOf(warm!, 0.59, 0.6, 0.85), ["below floor", "floor", "goal"]);
  assert.deepEqual(gradesOf(start!, 1.1, 1, 0.4), ["below floor", "floor", "goal"]);
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

test("medians and quantiles are those of the figures, in any order", () => {
  assert.equal(median([5, 1, 3]), 3);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(quantile([4, 1, 2, 3], 0.99), 4);
  assert.ok(Number.isNaN(median([])));
});

test("the interval of a median holds the true one in at least 95 of 100 cases, and there is none below six figures", () => {
  const random = startRandom(1, "interval");
  // Skewed as times are: most are near 1, some far above; the true median is 1 + ln 2.
  const draw = () => 1 - Math.log(1 - random());
  for (const count of [6, 9, 20, 61]) {
    let held = 0;
    const cases = 2000;
    for (let i = 0; i < cases; i++) {
      const { low, high, value } = estimate(Array.from({ length: count }, draw));
      assert.ok(low <= value && value <= high);
      if (low <= 1 + Math.LN2 && 1 + Math.LN2 <= high) held++;
    }
    assert.ok(held / cases > 0.94, `${count}: ${held / cases}`);
    // One that is far wider would hold it too, and tell nothing.
    assert.ok(held / cases < 0.99, `${count}: ${held / cases}`);
  }
  assert.equal(uncertainty(estimate([1, 1, 1, 1, 1])), Infinity);
  assert.equal(uncertainty(estimate([98, 99, 100, 100, 101, 102])), 0.02);
});

/** Rounds whose values are those of the list, again and again. */
function sessionOf(values: readonly number[]): Session & { closed: number } {
  return {
    closed: 0,
    round: async (round) => [
      { row: "warm", checkout: "own", value: values[round % values.length]! },
    ],
    note: () => "",
    async close() {
      this.closed++;
    },
  };
}

test("rounds go on until the interval is narrow enough, to the bound of rounds or of time, and never below what was asked for", async () => {
  const isKnown = ([figure]: readonly Figure[]) => uncertainty(estimate(figure!.values)) <= 0.05;
  const roundsOf = async (values: readonly number[], secondsMax = 60) => {
    const session = sessionOf(values);
    const budget = { rounds: 6, roundsMax: 40, secondsMax };
    const [figure] = await measureRounds(session, budget, isKnown);
    assert.equal(session.closed, 1);
    return figure!.values.length;
  };
  assert.equal(await roundsOf([100, 101]), 6);
  const noisy = await roundsOf([100, 100, 100, 100, 130, 70]);
  assert.ok(noisy > 6 && noisy < 40, String(noisy));
  assert.equal(await roundsOf([100, 200]), 40);
  assert.equal(await roundsOf([100, 200], 0), 6);
});

test("a comparison names a difference only beyond the interval, and says so where it cannot tell", () => {
  const figure = (checkout: string, values: number[], row: RowName = "warm"): Figure => ({
    row,
    checkout,
    values,
    note: "",
  });
  const verdict = (own: number[], other: number[], row?: RowName) =>
    verdictOn(ratioOf(figure("own", own, row), figure("other", other, row)));
  const [even, noisy] = [
    [100, 101, 99, 100, 102, 98],
    [100, 140, 70, 100, 60, 130],
  ];
  assert.equal(verdict(even, even.toReversed()), "no difference");
  assert.equal(verdict(noisy, even), "cannot tell");
  assert.equal(
    verdict(
      noisy.map((value) => 3 * value),
      noisy,
    ),
    "better",
  );
  assert.equal(
    verdict(
      even.map((value) => 0.9 * value),
      even,
    ),
    "worse",
  );
  // More requests are better, more seconds are not.
  assert.equal(
    verdict(
      even.map((value) => 0.9 * value),
      even,
      "start",
    ),
    "better",
  );
  assert.equal(verdict([100, 100], [100, 100]), "cannot tell");
  const text = (values: number[]) =>
    report(
      {
        figures: [figure("own", values), figure("other", even)],
        sizes: null,
        peers: [],
        steps: [],
        faults: [],
      },
      ["own", "other"],
      false,
    );
  assert.match(text(noisy), /Cannot tell: warm\./);
  assert.doesNotMatch(text(even), /annot tell/);
});

test("a figure whose interval reaches from one grade into another has none", () => {
  const { target }: Row = rows.warm;
  const gradeOfAll = (values: number[]) => gradeOfEstimate(target, estimate(values));
  assert.equal(gradeOfAll([0.61, 0.62, 0.63, 0.64, 0.65, 0.66]), "floor");
  assert.equal(gradeOfAll([0.55, 0.58, 0.61, 0.62, 0.64, 0.66]), null);
  assert.equal(gradeOfAll([0.7, 0.7]), null);
});

test("the bare server sends as many bytes and header lines as the program, for each question", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "gp-records-bench-test-"));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const size = { ...demoSize, gps: 40, principals: 80, signals: 80, projects: 20 };
  const { path, gps } = await writeRecords(join(dataDir, "records.ndjson"), size);
  const own = { name: "own", root: process.cwd(), compileCache: join(dataDir, "compiled") };
  await importRecords(own, dataDir, path);
  const [key] = await issueKeys(own.root, dataDir, 1);
  const all = makeMix(gps);
  const mix = { targets: all.targets.slice(0, 20), order: [0] };
  const program = await startProgram({ root: own.root, dataDir });
  t.after(() => program.stop());
  const bare = await startBare(await answersTo(mix, program.port, { "x-api-key": key! }));
  t.after(() => bare.stop());
  for (const target of mix.targets) {
    const [ours, theirs] = [
      await rawAnswer(program.port, target, key!),
      await rawAnswer(bare.port, target, key!),
    ];
    // Digits of what is left of a quota, and of a time, may be one more or less.
    assert.ok(Math.abs(ours.headBytes - theirs.headBytes) <= 4, target);
    assert.equal(ours.headLines, theirs.headLines, target);
    assert.equal(ours.bodyBytes, theirs.bodyBytes, target);
  }
});

/** What comes over the wire. */
async function rawAnswer(port: number, target: string, key: string) {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.write(requestText(target, { "x-api-key": key }));
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    const headBytes = bytes.indexOf("\r\n\r\n") + 4;
    const head = bytes.toString("latin1", 0, headBytes);
    const bodyBytes = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1]);
    if (bytes.length < headBytes + bodyBytes) continue;
    socket.destroy();
    return { headBytes, headLines: head.split("\r\n").length, bodyBytes };
  }
  return assert.fail(`The answer to ${target} ended after ${bytes.length} bytes.`);
}

test(
  "processor time counts children and threads, also of those that have ended since they were read (Linux)",
  { skip: process.platform !== "linux" },
  async () => {
    const program = `
      const { fork } = require("node:child_process");
      const { once } = require("node:events");
      const { Worker } = require("node:worker_threads");
      const isChild = process.argv[2] === "child";
      // Memory that is its own, whoever else runs Node.
      const held = Buffer.alloc(32e6, 1);
      if (isChild) {
        while (process.cpuUsage().user < 200_000);
        process.send("worked");
        if (process.argv[3] === "brief") process.exit();
        process.on("message", () => {});
      } else
        process.once("message", async () => {
          const child = fork(__filename, ["child"]);
          const worker = new Worker(
            'while (process.threadCpuUsage().user < 200_000); const { parentPort } = require("node:worker_threads"); parentPort.postMessage("worked"); parentPort.on("message", () => {});',
            { eval: true },
          );
          await Promise.all([once(child, "message"), once(worker, "message")]);
          process.send("worked");
          await once(process, "message");
          child.kill();
          await Promise.all([once(child, "exit"), worker.terminate()]);
          process.send("ended");
          await once(process, "message");
          await once(fork(__filename, ["child", "brief"]), "exit");
          process.send("ended");
        });
      if (!isChild) process.send("ready");
      // Whoever listens for messages does not end by itself.
      process.on("message", () => held);`;
    const file = join(mkdtempSync(join(tmpdir(), "gp-records-bench-test-")), "work.cjs");
    writeFileSync(file, program);
    const child = fork(file);
    try {
      await messageFrom(child);
      const server = { child, pid: child.pid! } as RunningServer;
      const meter = await openProcessorMeter(server);
      child.send("work");
      await messageFrom(child);
      const worked = await meter.microseconds();
      child.send("end");
      await messageFrom(child);
      // Both of them; the system's clock of a thread may be a tick behind.
      assert.ok(worked > 380_000, String(worked));
      assert.ok((await meter.microseconds()) >= worked);
      child.send("begin and end another");
      await messageFrom(child);
      const both = await meter.microseconds();
      assert.ok(both - worked > 170_000, String(both - worked));
      assert.ok(treeBytes([child.pid!]) > 32e6);
    } finally {
      child.kill("SIGKILL");
      rmSync(dirname(file), { recursive: true });
    }
  },
);

test("what was measured in seconds with steal time is left out, and they are counted", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let ticks = 70;
  const figures = [1];
  const watch = watchSteal(figures, () => ticks);
  const second = (ticksMeanwhile: number, ...more: number[]) => {
    figures.push(...more);
    ticks += ticksMeanwhile;
    t.mock.timers.tick(1000);
  };
  second(0, 2, 3);
  second(1, 400, 500);
  second(0, 4);
  assert.equal(watch.undisturbed, 2);
  second(0);
  figures.push(6);
  assert.deepEqual(watch.end(), { figures: [2, 3, 4], undisturbed: 3, disturbed: 1 });
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

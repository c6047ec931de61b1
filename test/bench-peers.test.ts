import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { demoSize } from "#demo/invent.ts";
import { operations } from "#operations/index.ts";
import { answer } from "#operations/page.ts";
import { readQuery } from "#operations/parameters.ts";
import type { ReadModel } from "#search/read-model.ts";
import { importRecords, writeRecords } from "../bench/fixtures.ts";
import { startLoadClient } from "../bench/load.ts";
import { OptionFault, readOptions } from "../bench/options.ts";
import { peerLines } from "../bench/peer-records.ts";
import { type Found, foundByPath, peerKinds } from "../bench/peer-services.ts";
import { findPostgres, makeCluster, NoPostgres } from "../bench/postgres.ts";
import { report } from "../bench/report.ts";
import { requestText } from "../bench/requests.ts";
import type { Figure, RowName } from "../bench/rows.ts";
import { agree, type PeerFigure } from "../bench/rows/peers.ts";
import { mergedReport, readRun, saveRun } from "../bench/runs.ts";
import { openPublished } from "../bench/steps/asked.ts";
import { optionFault } from "./support/option-fault.ts";

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "gp-records-bench-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("the peers are measured only where they are asked for, and then nothing else unless it is named", () => {
  const chosen = (...args: string[]) => [...readOptions(args)!.choices];
  assert.ok(!chosen().includes("peers"));
  assert.ok(!chosen("--quick", "--650k").includes("peers"));
  assert.deepEqual(chosen("--peers"), ["peers"]);
  assert.deepEqual(chosen("--peers", "--only", "warm"), ["warm", "peers"]);
  assert.deepEqual(chosen("--only", "peers"), ["peers"]);
  assert.deepEqual(chosen("--peers", "--650k"), [
    "cold-650k",
    "operations-650k",
    "import-650k",
    "import-memory-650k",
    "export-memory-650k",
    "peers",
  ]);
  assert.throws(() => readOptions(["--peers", "--compare", "HEAD"]), /'peers'/);
});

test("figures are saved only where there are some, and merging names files and measures nothing", () => {
  const { saveTo, merged } = readOptions(["--save", "one.json"])!;
  assert.deepEqual([saveTo, merged], ["one.json", []]);
  assert.deepEqual(readOptions(["--markdown", "--merge", "a.json", "b.json"])!.merged, [
    "a.json",
    "b.json",
  ]);
  assert.match(optionFault("--merge"), /names of files/);
  assert.match(optionFault("--merge", "a.json", "--quick"), /leave --quick out/);
  assert.match(optionFault("a.json"), /'a\.json' belongs to no option/);
  assert.match(optionFault("--save", "a.json", "--compare", "HEAD"), /leave --compare/);
  assert.match(optionFault("--save", "a.json", "--profile", "warm"), /leave --compare, --profile/);
});

test("where PostgreSQL is missing one line says how to install it", () => {
  assert.throws(() => findPostgres([tmpdir()]), {
    constructor: NoPostgres,
    message: /^[^\n]+ apt-get install postgresql$/,
  });
});

test("a peer whose total or whose page differs from the program's is named with the question", () => {
  const expected = new Map<string, Found>([
    ["/fetch-gp?gp_name=a", { total: 2, ids: ["x", "y"] }],
    ["/fetch-signals", { total: 0, ids: [] }],
  ]);
  const but = (target: string, found: Found) => new Map([...expected, [target, found]]);
  agree("peer", expected, new Map([...expected].toReversed()));
  assert.throws(
    () => agree("peer", expected, but("/fetch-signals", { total: 1, ids: [] })),
    /peer answers \/fetch-signals differently: 1 in all/,
  );
  assert.throws(
    () => agree("peer", expected, but("/fetch-gp?gp_name=a", { total: 2, ids: ["y", "x"] })),
    /gp_name=a differently: 2 in all, then y x; the program: 2 in all, then x y/,
  );
  assert.throws(
    () => agree("peer", expected, new Map([...expected].slice(0, 1))),
    /was not asked \/fetch-signals/,
  );
});

test("PostGraphile is asked the same with values as variables, in ASCII, and for a whole list in its order where nothing is sought", () => {
  const { questionOf, foundIn } = peerKinds.postgraphile;
  const { path, body } = questionOf(
    "/fetch-gp?gp_name=%C3%98st&tag=a&tag=b&limit=20&offset=40",
    "",
  );
  assert.equal(path, "/graphql");
  assert.match(body!, /^[\x20-\x7e]+$/);
  const { query, variables } = JSON.parse(body!) as { query: string; variables: unknown };
  assert.deepEqual(variables, { first: 20, offset: 40, gpName: "Øst", tag: ["a", "b"] });
  assert.match(query, /fetchGp\(gpName: \$gpName, tag: \$tag, first: \$first, offset: \$offset\)/);
  assert.match(
    questionOf("/fetch-signals?limit=20", "").body!,
    /allSignals\(orderBy: \[DATE_DESC,/,
  );
  assert.equal(
    requestText(path, {}, "{}").slice(-24),
    ["", "content-length: 2", "", "{}"].join("\r\n").slice(-24),
  );
  const nodes = [{ rowId: "x" }];
  assert.deepEqual(foundIn({ data: { fetchGp: { totalCount: 3, nodes } } }), {
    total: 3,
    ids: ["x"],
  });
  assert.throws(
    () => foundIn({ data: null, errors: [{ message: "no such field" }] }),
    /no such field/,
  );
});

/** The bin folder, or why a test is skipped. */
function postgresHere(): string | null {
  try {
    return findPostgres();
  } catch {
    return null;
  }
}

test(
  "the tables of the peers hold every record, and their search finds what the program finds, in its order",
  { skip: postgresHere() === null && "PostgreSQL is not installed" },
  async (t) => {
    const folder = temporaryFolder(t);
    const size = { ...demoSize, gps: 300, principals: 400, signals: 300, projects: 100 };
    const { path, gps } = await writeRecords(join(folder, "records.ndjson"), size);
    const own = { name: "own", root: process.cwd(), compileCache: join(folder, "compiled") };
    await importRecords(own, folder, path);
    const model = await openPublished(folder);
    const lines = [...peerLines(model.parts, ["a key"])].join("");
    const cluster = (await makeCluster("bench/peers/schema.sql", lines)).copy();
    const server = await cluster.start();
    try {
      const ask = (sql: string) =>
        execFileSync(
          join(postgresHere()!, "psql"),
          ["-X", "-A", "-t", "-d", server.url, "-c", sql],
          {
            encoding: "utf8",
          },
        );
      const counts = ["gps", "principals", "signals", "projects", "private.api_keys"];
      assert.equal(
        ask(`select ${counts.map((name) => `(select count(*) from ${name})`).join(", ")}`),
        "300|400|300|100|1\n",
      );
      const names = [gps[0]!.name, ...gps.slice(1, 12).map(({ name }) => name.split(" ").at(-1)!)];
      const sql = names.flatMap((name) =>
        ["fetch_gp", "fetch_principals", "fetch_signals", "fetch_projects"].map(
          (read) => `select string_agg(id, ' ') from ${read}($$${name}$$);`,
        ),
      );
      const found = ask(sql.join("\n")).trimEnd().split("\n");
      const expected = names.flatMap((name) =>
        ["fetch-gp", "fetch-principals", "fetch-signals", "fetch-projects"].map((read) =>
          idsOf(model, read, name),
        ),
      );
      assert.deepEqual(found, expected);
      assert.ok(expected.some((ids) => ids.split(" ").length > 3));
    } finally {
      await server.stop();
    }
  },
);

/** More than either finds. */
const all = 1000;

/** What the program finds, in order. */
function idsOf(model: ReadModel, read: string, name: string): string {
  const operation = operations.find((one) => one.name === read)!;
  const text = new URLSearchParams({ gp_name: name, limit: String(all) }).toString();
  const { body, total } = answer(operation, model, readQuery(operation, text, all, operations));
  assert.ok(total <= all);
  return foundByPath(JSON.parse(body.toString())).ids.join(" ");
}

const figure = (row: RowName, ...values: number[]): Figure => ({
  row,
  checkout: "this checkout",
  values,
  note: `of ${values.length} rounds`,
});
const peer = (name: string, microseconds: number[]): PeerFigure => ({
  name,
  title: `the service ${name}`,
  microseconds,
  megabytes: microseconds.map(() => 120),
  bodyBytesMean: 14_600,
});

test("every peer stands in the table with its cost, and with the median of what each round gave against the program", () => {
  const peers = [peer("gp-records", [50, 100, 80]), peer("cached", [100, 100, 100])];
  const text = report(
    { figures: [], sizes: null, peers, steps: [], faults: [] },
    ["this checkout"],
    true,
  );
  assert.match(
    text,
    /\| the service gp-records \| 80\.0 \| – \| 1\.00× \| – \| 120 MB \| 14\.6 kB \|/,
  );
  // 2, 1 and 1.25 times: not 100 through 80 by chance alone.
  assert.match(text, /\| the service cached \| 100\.0 \| – \| 1\.25× \|/);
});

test("several runs give the median of their medians with the range, and a grade only where all have it", (t) => {
  const folder = temporaryFolder(t);
  const files = [
    [figure("warm", 0.7, 0.71, 0.72), figure("peers", 0.74, 0.74)],
    [figure("warm", 0.61, 0.62, 0.63)],
    [figure("warm", 0.65, 0.66, 0.67), figure("peers", 0.76)],
  ].map((figures, i) => {
    const path = join(folder, `${i}.json`);
    const peers = i === 1 ? [] : [peer("gp-records", [50]), peer("cached", [60 + 20 * i])];
    saveRun(path, { figures, sizes: null, peers, steps: [], faults: [] });
    return path;
  });
  const { choices } = readOptions(["--merge", ...files])!;
  const text = mergedReport(files.map(readRun), choices, true);
  assert.match(text, /^3 runs; their median/);
  assert.equal(text.match(/^- \d{4}-\d\d-\d\dT\d\d:\d\dZ: .+ commit .+ Node /gm)?.length, 3);
  assert.match(
    text,
    /\| ≥ 0\.60 \| ≥ 0\.85 \| 0\.66 \| 0\.62 to 0\.71 \| 3 \| floor \| of 3 rounds \|/,
  );
  assert.match(text, /\| 0\.75× \| 0\.74× to 0\.76× \| 2 \| cannot tell \| of 1 rounds \|/);
  assert.match(
    text,
    /\| the service cached \| 80\.0 \(60\.0 to 100\.0\) \| 1\.60× \(1\.20 to 2\.00\) \| 120 MB/,
  );
  const only = readOptions(["--merge", "--only", "warm", ...files])!;
  const one = mergedReport(files.map(readRun), only.choices, false);
  assert.match(one, /\nwarm mix/);
  assert.doesNotMatch(one, /service|LRU/);
});

test("a file that holds no run is named", (t) => {
  const folder = temporaryFolder(t);
  const fileOf = (text: string) => {
    const path = join(folder, "run.json");
    writeFileSync(path, text);
    return path;
  };
  const gone = join(folder, "gone.json");
  assert.throws(() => readRun(gone), { constructor: OptionFault, message: /gone\.json.*ENOENT/ });
  assert.throws(() => readRun(fileOf("{")), { constructor: OptionFault, message: /cannot read/ });
  for (const text of ["null", "{}", '{"format":99}'])
    assert.throws(() => readRun(fileOf(text)), /run\.json is no file of --save/);
  const old = { format: 1, at: "", about: "", mix: null, figures: [{ row: "hot" }], peers: [] };
  assert.throws(() => readRun(fileOf(JSON.stringify(old))), /'hot', which there is no more/);
});

test("in an open loop the time of a request counts from when it was due, also while it waits for a connection", async (t) => {
  const milliseconds = 20;
  const server = createServer((_, response) => {
    setTimeout(() => response.end("answered"), milliseconds);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  const client = startLoadClient();
  t.after(() => client.close());
  client.prepare("all", [requestText("/", {})]);
  const count = 10;
  const { microseconds, statuses, disturbed } = await client.run({
    port: (server.address() as AddressInfo).port,
    requests: "all",
    // One answer after the other, while ten times as many are due.
    connections: 1,
    count,
    firstRequest: 0,
    secondsMax: 10,
    perSecond: 500,
    isOpenLoop: true,
  });
  assert.deepEqual([...statuses], Array<number>(count).fill(200));
  assert.equal(disturbed.length, count);
  // The last was due 18 ms after the first and had to wait for nine answers.
  assert.ok(microseconds.at(-1)! >= (count * milliseconds - 18 - 15) * 1000, microseconds.join());
});

test("a connection that the server ended while it was idle is told at once, not waited for", async (t) => {
  const server = createServer((request, response) => {
    response.end("answered", () => request.socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  const client = startLoadClient();
  t.after(() => client.close());
  client.prepare("all", [requestText("/", {})]);
  const asked = client.run({
    port: (server.address() as AddressInfo).port,
    requests: "all",
    connections: 1,
    count: 2,
    firstRequest: 0,
    secondsMax: 10,
    perSecond: 10,
    isOpenLoop: true,
  });
  await assert.rejects(asked, /A connection ended/);
});

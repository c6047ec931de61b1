import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { demoSource } from "#records/common.ts";
import { projectStatuses } from "#records/vocabulary.ts";
import { allCommands } from "../support/all-commands.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { importRecords } from "../support/dataset.ts";
import { linesOf, readLines } from "../support/json-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const acme = { record: "gp", id: "acme", name: "Acme Capital" };
const ada = { record: "principal", id: "ada", name: "Ada Moss", gps: ["acme"] };
const odd = { record: "gp", id: "odd", name: "Odd", stauts: "planned" };

/** A data folder, its commands, and files beside it: text, bytes or JSON. */
function workplace(t: TestContext) {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, "data");
  const write = (name: string, content: string | Buffer | object) => {
    const isWhole = typeof content === "string" || Buffer.isBuffer(content);
    writeFileSync(join(folder, name), isWhole ? content : JSON.stringify(content));
    return join(folder, name);
  };
  const commands = allCommands(dataDir);
  const versions = async () =>
    (await commands.json("datasets list")).map((one: any) => one.version);
  return { folder, dataDir, write, versions, ...commands };
}

test("an import reports what it read, accepted and changed, and what it published or, with --dry-run, would publish", async (t) => {
  const { write, text, json } = workplace(t);
  const file = write("a.ndjson", linesOf(acme, ada));
  const first = await json("import ndjson --source own", file);
  assert.match(first.version, /^20261121T120000Z-[0-9a-f]{8}$/);
  assert.deepEqual(first, {
    source: "own",
    mode: "replace",
    read: 2,
    accepted: 2,
    rejected: 0,
    rejections: [],
    absent: 0,
    absences: [],
    alike: [],
    outcome: "published",
    refusal: null,
    added: 2,
    changed: 0,
    removed: 0,
    unchanged: 0,
    withheld: 0,
    demo_removed: 0,
    linked_names: null,
    unlinked: 0,
    links_dropped: [],
    source_records: { before: 0, now: 2 },
    records: { gp: 1, principal: 1, signal: 0, project: 0 },
    version: first.version,
    pruned: [],
  });
  write("a.ndjson", linesOf({ ...acme, hq_city: "Reno" }));
  assert.match(
    await text("import ndjson --source own", file, "--dry-run"),
    /1 changed, 1 removed, .* dry run\. The dataset would have 1 GP, 0 principals/,
  );
  assert.match(
    await text("import ndjson --source own", file),
    /^Source 'own': 1 line read, 1 accepted, 0 rejected\.\n0 records added, 1 changed, 1 removed, 0 unchanged\. Published as 20261121T120001Z-[0-9a-f]{8}: 1 GP, 0 principals, 0 signals, 0 projects\.\n$/,
  );
});

test("the same fault of a cell is told once, with its number and the nearest value that is known", async (t) => {
  const { write, start } = workplace(t);
  const rows = ["1,Complet", "2,Paused", "3,Complet", "4,Complet"].join("\n");
  const file = write("a.csv", `Ref,Stage\n${rows}\n`);
  const values = { Complete: "completed", Design: "planned" };
  const fields = { name: "Ref", status: { column: "Stage", values } };
  const mapping = { records: [{ record: "project", id: "Ref", fields }] };
  const map = write("map.json", mapping);
  const args = ["import csv --source own", file, "--map", map];
  const report = JSON.parse((await start(...args, "--json")).out);
  const words = "must be listed in `values` of the mapping";
  const question = `CHOOSE: one of ${projectStatuses.join(", ")}, or null without quotes for no value`;
  assert.equal(report.rejected, 4);
  assert.deepEqual(report.rejections, [
    {
      file,
      line: 2,
      field: "status",
      reason: `${words}; the closest match is "Complete"; column "Stage" holds "Complet"`,
      count: 3,
      word: { cell: "Complet", value: "completed", isNew: false },
      also: [4, 5],
    },
    {
      file,
      line: 3,
      field: "status",
      reason: `${words}; column "Stage" holds "Paused"`,
      count: 1,
      word: { cell: "Paused", value: question, isNew: false },
    },
  ]);
  const { out } = await start(...args);
  assert.match(
    out,
    /^\S+a\.csv:2: status .* holds "Complet" \(3 times, also on lines 4, 5\)\n\S+a\.csv:3: .*"Paused"\nCheck what each cell means, .*:\n/,
  );
  const block = / {2}status: "values": (.*)\n/.exec(out)![1]!;
  assert.deepEqual(JSON.parse(block), { Complet: "completed", Paused: question });
  write("a.csv", "Ref,Stage\n1,Sold\n2,SOLD\n");
  assert.match((await start(...args)).out, / {2}status: "values": \{"Sold":"[^"]*"\}\n/);
  Object.assign(fields.status.values, JSON.parse(block));
  write("map.json", mapping);
  const asked = await start(...args);
  assert.match(
    asked.err,
    /records\[0\]\.fields\.status\.values\["Paused"\]: write one of planned, /,
  );
});

test("names of GPs that differ only in legal form are told and published all the same", async (t) => {
  const { write, json, start } = workplace(t);
  const names = "Acme, LLC|ACME Inc.|Acme Capital LP|Birch Co|Birch & Co. LLC|Cedar".split("|");
  const records = names.map((name, at) => ({ ...acme, id: `${at}`, name }));
  const file = write("a.ndjson", linesOf(...records));
  const { alike, accepted } = await json("import ndjson --source own", file, "--dry-run");
  assert.deepEqual([alike, accepted], [[names.slice(0, 2), names.slice(3, 5)], 6]);
  const { out, exitCode } = await start("import ndjson --source own", file);
  assert.equal(exitCode, exitCodes.done);
  // In a name of a GP that has its own id, `values` would only give two GPs one name.
  assert.match(
    out,
    /former_ids, or, if rows only name them, add the line to `names` of `named_gps`/,
  );
  assert.ok(out.includes('\n  "values": {"ACME Inc.":"Acme, LLC"}, "otherwise": "keep"\n'), out);
});

test("--max-rejected publishes up to a number of lines or a share of them and not one more, and a number or share that is none ends with 2", async (t) => {
  const { write, start, versions } = workplace(t);
  const file = write("a.ndjson", linesOf(acme, ada, { ...acme, id: "b" }, odd));
  const codeOf = async (max: string, ...others: string[]) =>
    (await start("import ndjson --source own", file, "--max-rejected", max, ...others)).exitCode;
  for (const max of ["0", "0%", "24%"])
    assert.equal(await codeOf(max), exitCodes.inputRefused, max);
  assert.equal(await codeOf("25%", "--dry-run"), exitCodes.done);
  assert.deepEqual(await versions(), []);
  assert.equal(await codeOf("1"), exitCodes.done);
  assert.equal((await versions()).length, 1);
  write("a.ndjson", linesOf({ ...acme, name: "Other" }, odd, odd, odd));
  assert.equal(await codeOf("2"), exitCodes.inputRefused);
  assert.equal((await versions()).length, 1);
  assert.equal(await codeOf("100%", "--max-shrink", "100%"), exitCodes.done);
  assert.equal((await versions()).length, 2);
  const advice = async (...rows: object[]) =>
    (await start("import ndjson --source own", write("b", linesOf(...rows)))).err;
  assert.match(
    await advice(acme, odd),
    /rejected lines, or leave them out with --max-rejected 1\.$/m,
  );
  assert.match(await advice(odd), /Correct the rejected lines\.$/m);
  for (const max of ["-1", "101%", "1.5", "all", ""])
    assert.equal(await codeOf(max), exitCodes.usage, max);
  for (const share of ["", "50", "101%", "-1%", "half", "1.5%"])
    assert.equal(await codeOf("0", "--max-shrink", share), exitCodes.usage, share);
});

test("the report says that the demo's records go because real ones come, whether they were, will be or would be removed, and later no more", async (t) => {
  const { dataDir, write, text, json } = workplace(t);
  const invented = Array.from({ length: 1200 }, (_, i) => ({ ...acme, id: `demo-${i}` }));
  await importRecords(openCatalogue(join(dataDir, "datasets")), invented, { source: demoSource });
  const file = write("a", linesOf(acme, ada));
  const args = ["import ndjson --source own", file];
  const words = (what: string) =>
    new RegExp(
      `\\n2 records added, 0 changed, 1,200 removed, .*\\nAll 1,200 invented records of the demo ${what}, because the first import of a real source replaces them\\.\\n`,
    );
  assert.match(await text(...args, "--dry-run"), words("would be removed"));
  assert.equal((await json(...args, "--dry-run")).demo_removed, 1200);
  assert.match(await text(...args, "--stage"), words("will be removed on publication"));
  assert.match(await text(...args), words("were removed"));
  write("a", linesOf(acme));
  const { demo_removed, removed } = await json(...args, "--dry-run");
  assert.deepEqual([demo_removed, removed], [0, 1]);
  assert.doesNotMatch(await text(...args), /demo/);
});

test("a source that cannot be named so ends with 2 before anything is made", async (t) => {
  const { write, refusal, versions } = workplace(t);
  const file = write("a.ndjson", linesOf(acme));
  for (const source of ["Own", "a b", "", "-a", "a".repeat(65), demoSource]) {
    const err = await refusal(exitCodes.usage, "import ndjson", file, `--source=${source}`);
    assert.ok(
      err.startsWith(`error: option '--source <name>' argument '${source}' is invalid. It `),
      err,
    );
    assert.match(err, /^error: .*\n$/);
  }
  assert.deepEqual(await versions(), []);
});

test("- reads standard input, whose lines the report names", async (t) => {
  const { folder, dataDir, write, versions } = workplace(t);
  const input = write("input", linesOf(acme, odd));
  const args = ["import", "ndjson", "-", "--source", "own", "--max-rejected", "1"];
  const fed = await outcomeOf(
    "/bin/sh",
    ["-c", 'exec "$0" "$@" < "$INPUT"', process.execPath, mainPath, ...args],
    { ...process.env, DATA_DIR: dataDir, INPUT: input },
  );
  assert.equal(fed.exitCode, exitCodes.done, fed.err);
  assert.match(
    fed.out,
    /^<stdin>:2: stauts is not a member of a gp; correct its name or remove it\nSource 'own': 2 lines read, 1 accepted, 1 rejected\.\n/,
  );
  assert.equal((await versions()).length, 1);
  const { refusal } = allCommands(folder);
  assert.equal(
    await refusal(exitCodes.usage, ...args, "-"),
    "error: Standard input (-) can be read only once. Name - only once.\n",
  );
});

test("names that are GPs of a known source are counted, and links that an import drops are told", async (t) => {
  const { write, text, json } = workplace(t);
  const firms = (...records: object[]) => [
    "import ndjson --source firms",
    write("firms", linesOf(...records)),
    "--max-shrink",
    "100%",
  ];
  const birch = { ...acme, id: "birch", name: "Birch" };
  await text(...firms(acme, birch));
  const map = write("map.json", {
    records: [{ record: "project", id: "Ref", fields: { name: "Ref" } }],
    named_gps: { names: "Developers", split: "firms", known: "firms" },
  });
  const table = write("a.csv", "Ref,Developers\nP-7,Acme Capital LLC / Birch\nP-8,Cedar\n");
  const told = await text("import csv --source awards", table, "--map", map);
  assert.match(told, /\n2 names linked to a GP of another source\.\n/);
  const { unlinked, links_dropped } = await json(...firms(birch), "--dry-run");
  const [{ gp, ...record }] = links_dropped;
  assert.deepEqual([unlinked, record], [1, { source: "awards", record: "project", id: "P-7" }]);
  assert.ok(
    (await text(...firms(birch))).startsWith(
      `No GP has the id that these links lead to, so they are dropped:\n  project 'P-7' of source 'awards': ${gp}\n`,
    ),
  );
});

test("--encoding says how files are encoded, in place of UTF-8 and of what the mapping says", async (t) => {
  const { write, json, refusal } = workplace(t);
  const table = write("a.csv", Buffer.from("Ref,Firm\n1,Caf\u00e9\n", "latin1"));
  const records = [{ record: "gp", id: "Ref", fields: { name: "Firm" } }];
  const map = write("map.json", { encoding: "utf-8", records });
  const args = ["import csv --source own", table, "--map", map, "--encoding"];
  assert.equal((await json(...args, "windows-1252")).accepted, 1);
  const err = await refusal(exitCodes.usage, ...args, "latin1");
  assert.match(err, /^error: .*utf-8, windows-1252, iso-8859-1.*\n$/);
});

test("--merge adds, changes and removes what the file names, the same again publishes nothing, and the last record stays unless the source may end up empty", async (t) => {
  const { write, text, json, refusal, versions } = workplace(t);
  await text("import ndjson", write("a", linesOf(acme, ada)), "--source", "own");
  const delta = write(
    "delta",
    linesOf(
      { ...acme, hq_city: "Reno" },
      { ...acme, id: "birch" },
      { record: "principal", id: "ada", deleted: true },
    ),
  );
  const args = ["import ndjson --source own", delta, "--merge"];
  const { mode, added, changed, removed, unchanged, absent } = await json(...args);
  assert.deepEqual([mode, added, changed, removed, unchanged, absent], ["merge", 1, 1, 1, 0, 0]);
  const again = await text(...args);
  assert.match(again, /^\S+delta:3: id 'ada' names no principal of this source, so there is noth/);
  assert.match(
    again,
    /The result is the same as the current dataset, so no new dataset was made\.\n$/,
  );
  assert.equal((await versions()).length, 2);
  const all = ["acme", "birch"].map((id) => ({ record: "gp", id, deleted: true }));
  const last = ["import ndjson --source own", write("all", linesOf(...all)), "--merge"];
  const err = await refusal(exitCodes.inputRefused, ...last);
  assert.match(err, /^error: Source 'own' would be left without a record; .*--allow-empty/);
  assert.equal((await json(...last, "--allow-empty")).outcome, "published");
});

test("--stage publishes nothing and says how to look at it and how to publish it", async (t) => {
  const { write, text, json, start } = workplace(t);
  const first = await json("import ndjson", write("a", linesOf(acme)), "--source", "own");
  const file = write("b", linesOf(acme, ada));
  const args = ["import ndjson --source own", file, "--stage"];
  const [told, , diff, publish] = (await text(...args)).trimEnd().split("\n").slice(-4);
  const [, version] = /Staged as (\S+): 1 GP/.exec(told!) ?? [];
  assert.equal(diff, `  gp-records datasets diff ${first.version} ${version}`);
  assert.equal(publish, `  gp-records datasets publish ${version}`);
  assert.equal((await json("datasets show")).version, first.version);
  assert.equal((await json(...args)).outcome, "staged");
  await text("datasets publish", version!);
  assert.equal((await json("datasets show")).version, version);
  assert.equal((await start(...args, "--dry-run")).exitCode, exitCodes.usage);
});

const members = {
  Name: "name",
  Status: "status",
  City: "city",
  State: "state",
  Country: "country",
  Amount: "total_amount_usd",
  "Raised (million)": "raised_amount_usd",
  Start: "start_date",
} as const;
type Column = keyof typeof members;
const columns = ["Id", ...(Object.keys(members) as Column[])] as const;

/**
 * A cell of a file in windows-1252 with a decimal comma, and what is published of it or why its row is not. All the ways to write
 * numbers and dates are in test/importers/cells.test.ts, words of closed lists in compile-mapping.test.ts.
 */
type Case = [
  column: Column,
  cell: string,
  becomes: string | number | null | RegExp,
  country?: string,
];

const cases: Case[] = [
  ["Amount", "1\xa0234\xa0567,00", 1_234_567],
  ["Amount", "1\x92234\x92567", 1_234_567],
  ["Amount", "TBD", null],
  ["Amount", "(12.500)", /^must be at least 0$/],
  ["Amount", "\x8012.500", /^must be a number .* holds "€12\.500"$/],
  ["Raised (million)", "1,2", 1_200_000],
  ["State", "Texas", "TX"],
  ["State", " NEW  YORK", "NY"],
  ["State", "d.c.", "DC"],
  ["State", "ZZ", /^must be a US state, unless country names another country; it is "ZZ"$/],
  ["State", "Texass", /; it is "Texass"; the closest match is "Texas"$/],
  ["State", "Ontario", /^must be a US state/],
  ["State", "Ontario", "Ontario", "CA"],
  ["State", "ON", /^must be a US state/, "United States"],
  ["Status", "ON-HOLD", "on_hold"],
  ["Status", "Under Constuction", /; the closest match is "under_construction"; column "Status"/],
  ["City", "Coeur d\x92Alene", "Coeur d’Alene"],
  ["Start", "12/31/1999", "1999-12-31"],
  ["Start", "", null],
];

const cellOf = (
  column: (typeof columns)[number],
  line: number,
  [changed, cell, , country]: Case,
) => {
  if (column === changed) return cell;
  if (column === "Country") return country ?? "";
  return column === "Id" || column === "Name" ? `row ${line}` : "";
};

test("a messy table publishes no value that its author did not mean", async (t) => {
  const { folder, write, start, text } = workplace(t);
  const rows = cases.map((one, i) => columns.map((column) => cellOf(column, i + 2, one)));
  const lines = [columns, ...rows].map((cells) => `${cells.join(";")}\r\n`);
  const file = write("messy.csv", Buffer.from(lines.join(""), "latin1"));
  const fields = Object.fromEntries(
    Object.entries(members).map(([column, member]) => [member, column]),
  );
  const raised = { column: "Raised (million)", multiply_by: 1e6 };
  const map = write("map.json", {
    encoding: "windows-1252",
    delimiter: ";",
    decimal: ",",
    dates: ["YYYY-MM-DD", "MM/DD/YYYY"],
    missing: ["TBD"],
    records: [{ record: "project", id: "Id", fields: { ...fields, raised_amount_usd: raised } }],
  });
  const args = ["import csv --source own", file, "--map", map, "--max-rejected", "100%"];
  const { rejections } = JSON.parse((await start(...args, "--json")).out);
  await text("export --format ndjson --kind project -o", folder);
  const published = readLines(readFileSync(join(folder, "project.ndjson"), "utf8"));
  for (const [i, [column, cell, becomes]] of cases.entries()) {
    const line = i + 2;
    const where = `${column} ${JSON.stringify(cell)}`;
    const record = published.find(({ name }) => name === `row ${line}`);
    const reasons = rejections.filter((one: any) => one.line === line);
    if (becomes instanceof RegExp) {
      assert.match(reasons.map(({ reason }: any) => reason).join("\n"), becomes, where);
      assert.equal(record, undefined, where);
    } else {
      assert.deepEqual(reasons, [], where);
      assert.equal(record[members[column]], becomes, where);
    }
  }
});

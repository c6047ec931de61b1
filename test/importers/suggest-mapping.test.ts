import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { fieldsOf, neededIn } from "#importers/mapping.ts";
import { suggestMapping } from "#importers/suggest-mapping.ts";
import { recordKinds } from "#records/kinds.ts";
import { allCommands } from "../support/all-commands.ts";
import { readLines } from "../support/json-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { faultOf, writtenFile } from "./written-file.ts";

const suggested = (t: TestContext, content: string | Uint8Array, name = "table.csv") =>
  suggestMapping(writtenFile(t, name, content));

/** The draft of a mapping for a table of this text, whose shape a test knows. */
const draftOf = async (t: TestContext, content: string | Uint8Array): Promise<any> =>
  (await suggested(t, content)).mapping;

/** Text in windows-1252; none of its characters is beyond ISO 8859-1. */
const bytesOf = (text: string) => Buffer.from(text, "latin1");

const messy =
  bytesOf(`Ref;Projekt;Status;Asset Class;Stadt;State;Units;Budget (Mio. $);Baubeginn;Fertigstellung;Sponsor;Notes
P-1;ALDER LÖFTS;IM BAU;MULTI FAMILY;SAN JOSÉ;California;1.200;12,5;13.04.2031;05.06.2032;Bluefin Homes, Inc.;
P-2;Pier Yard;Completed;Apartments;RENO;NV;160;7,25;01.02.2030;03.04.2031;BLUEFIN HOMES LLC;TBD
P-2;Pier Yard;Completed;Apartments;RENO;NV;160;7,25;01.02.2030;03.04.2031;BLUEFIN HOMES LLC;TBD
P-3;Heron Court;Frozen;Self-Storage;AUSTIN;texas;n/a;1.250,75;;07.08.2033;bluefin homes inc;
P-4;Elm Row;frozen;RETAIL;DALLAS;Texass;24;3;28.02.2031;09.10.2032;Café Partners;
`);

/** What the owner of the table knows and no program can: the answer to a question by the words that it holds. */
const answers: Record<string, string> = { Frozen: "on_hold", "05.06.2032": "dmy" };

/** Sets a value at a path of a mapping, such as `records[0].fields.status.values["Frozen"]`. */
function setAt(mapping: any, path: string, value: unknown): void {
  const found = path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g);
  const steps = Array.from(found, ([, quoted, number, name]) => quoted ?? number ?? name!);
  const last = steps.pop()!;
  steps.reduce((at, step) => at[step], mapping)[last] = value;
}

test("a messy table is published in three tries by what --suggest and the messages say, with every value right", async (t) => {
  const folder = temporaryFolder(t);
  const { start, json } = allCommands(join(folder, "data"));
  const file = join(folder, "messy.csv");
  const map = join(folder, "map.json");
  writeFileSync(file, messy);
  const draft = await start("import csv --suggest", file);
  assert.equal(draft.exitCode, exitCodes.done, draft.err);
  writeFileSync(map, draft.out);
  const args = ["import csv --source own --map", map, file];

  const asked = await start(...args);
  assert.equal(asked.exitCode, exitCodes.inputRefused);
  const mapping = JSON.parse(draft.out);
  const questions = Array.from(asked.err.matchAll(/^error: {3}(.+): write (.+)$/gm));
  assert.equal(questions.length, 2, asked.err);
  for (const [, path = "", words = ""] of questions) {
    const known = Object.keys(answers).find((one) => `${path} ${words}`.includes(one))!;
    setAt(mapping, path, answers[known]);
  }
  writeFileSync(map, JSON.stringify(mapping));

  const rejected = await start(...args);
  assert.equal(rejected.exitCode, exitCodes.inputRefused);
  const block = /^ {2}(\w+): (.*)$/m.exec(rejected.out)!;
  const alike = /differ only in legal form\..*\n {2}(.*)$/m.exec(rejected.out)!;
  const [{ fields }] = mapping.records;
  fields[block[1]!] = { column: fields[block[1]!], ...JSON.parse(`{${block[2]}}`) };
  mapping.named_gps.names = { column: mapping.named_gps.names, ...JSON.parse(`{${alike[1]}}`) };
  writeFileSync(map, JSON.stringify(mapping));

  const allowed = /--max-rejected \d+/.exec(rejected.err)![0].split(" ");
  const published = await start(...args, ...allowed);
  assert.equal(published.exitCode, exitCodes.done, published.out + published.err);
  assert.doesNotMatch(published.out, /legal form/);
  await json("export --format ndjson -o", folder);
  const recordsOf = (kind: string) =>
    readLines(readFileSync(join(folder, `${kind}.ndjson`), "utf8"));
  const names = new Map(recordsOf("gp").map(({ id, name }) => [id, name]));
  assert.deepEqual(new Set(names.values()), new Set(["Bluefin Homes, Inc.", "Café Partners"]));
  assert.deepEqual(
    recordsOf("project").map((one) => [
      [one.name, one.status, one.property_type, one.city, one.state, one.units],
      [one.total_amount_usd, one.start_date, one.completion_date],
      one.gps.map(({ name }: { name: string }) => name),
    ]),
    [
      [
        ["ALDER LÖFTS", "under_construction", "multifamily", "San José", "CA", 1200],
        [12_500_000, "2031-04-13", "2032-06-05"],
        ["Bluefin Homes, Inc."],
      ],
      [
        ["Elm Row", "on_hold", "retail", "Dallas", "TX", 24],
        [3_000_000, "2031-02-28", "2032-10-09"],
        ["Café Partners"],
      ],
      [
        ["Heron Court", "on_hold", "self_storage", "Austin", "TX", null],
        [1_250_750_000, null, "2033-08-07"],
        ["Bluefin Homes, Inc."],
      ],
      [
        ["Pier Yard", "completed", "multifamily", "Reno", "NV", 160],
        [7_250_000, "2030-02-01", "2031-04-03"],
        ["Bluefin Homes, Inc."],
      ],
    ],
  );
});

test("encoding and delimiter of a table are recognised, and a byte order mark is none of its text", async (t) => {
  for (const delimiter of [",", ";", "\t", "|"]) {
    const text = `Id,Project,City\n1,Café,Köln\n2,Birch,Reno\n`.replaceAll(",", delimiter);
    const written = delimiter === "," ? undefined : delimiter;
    for (const [content, encoding] of [
      [text, undefined],
      [`\uFEFF${text}`, undefined],
      [bytesOf(text), "windows-1252"],
    ] as const) {
      const draft = await draftOf(t, content);
      assert.deepEqual(
        [draft.encoding, draft.delimiter],
        [encoding, written],
        JSON.stringify(content),
      );
      assert.deepEqual([draft.records[0].id, draft.records[0].fields.name], ["Id", "Project"]);
    }
  }
});

test("a draft takes quotes between tabs for text where they enclose no cell", async (t) => {
  const quotesOf = async (cell: string) =>
    (await draftOf(t, `Id\tProject\tUnits\n1\t${cell}\t3\n`)).quotes;
  assert.equal(await quotesOf('"Oak\tLofts"'), true);
  for (const cell of ['5" pipe', '"open']) assert.equal(await quotesOf(cell), false);
});

test("a list in a cell is asked about word by word, and not where each is known", async (t) => {
  const table = "Id,Firm Name,Strategies\n1,Acme,Value-Add; core;\n2,Birch,Debt;Frozen\n";
  const { strategies } = (await draftOf(t, table)).records[0].fields;
  assert.deepEqual([strategies.separator, Object.keys(strategies.values)], [";", ["Frozen"]]);
});

test("a quote that only a wrong delimiter leaves open is no fault of the table", async (t) => {
  const draft = await draftOf(t, 'Id,Project,City\n1,"Oak;""",Reno\n2,Elm,Reno\n');
  assert.deepEqual([draft.delimiter, draft.records[0].id], [undefined, "Id"]);
  const { message } = await faultOf(suggested(t, 'Id;Project\n1;Oak\n2;"Elm, Oak\n'));
  assert.match(message, /table\.csv:3: a quote in this row is never closed/);
});

const orders: [cells: string[], dates: string | RegExp | undefined][] = [
  [["13/04/2031", "05/06/2031"], "dmy"],
  [["05.06.2031", "04.13.2031"], "mdy"],
  [
    ["05/06/2031", "07/08/2031"],
    /^CHOOSE: dmy if 05\/06\/2031 is written day, month, year; mdy if/,
  ],
  [["13/04/2031", "04/13/2031"], /^CHOOSE: /],
  [["4 March 2031", "05/06/2031"], /^CHOOSE: /],
  [["4-Mar-2031", "5-Jun-2031"], "dmy"],
  [["March 4, 2031", "June 5, 2031"], "mdy"],
  [["2031/03/04", "2031/06/05"], "ymd"],
  [["2031-03-04", "2031-06"], undefined],
];
for (const [cells, expected] of orders)
  test(`dates such as ${cells.join(" and ")} are ${expected ?? "read without a format"}`, async (t) => {
    const rows = cells.map((cell, at) => `${at};N${at};"${cell}"\n`).join("");
    const draft = await draftOf(t, `Id;Project;Completion\n${rows}`);
    const { completion_date: written } = draft.records[0].fields;
    const first = written.dates?.[0];
    if (expected instanceof RegExp) assert.match(first, expected);
    else assert.equal(first, expected);
  });

const numbers: [cells: string[], decimal: string | RegExp | undefined][] = [
  [["1.234,50", "1.200"], ","],
  [["$1,234.50", "1,200"], "."],
  [["1.200", "3.400"], /^CHOOSE: /],
  [["1200", "3400"], undefined],
  [
    ["1.234,50", "1,234.50"],
    /^CHOOSE: the decimal mark, \. or ,; .* "1,234\.50" in "Total cost" with "1\.234,50"/,
  ],
];
for (const [cells, expected] of numbers)
  test(`amounts such as ${cells.join(" and ")} are read with ${expected ?? "no decimal mark"}`, async (t) => {
    const rows = cells.map((cell, at) => `${at};N${at};${cell}\n`).join("");
    const { decimal } = await draftOf(t, `Id;Project;Total cost\n${rows}`);
    if (expected instanceof RegExp) assert.match(decimal, expected);
    else assert.equal(decimal, expected);
  });

test("what is guessed is said, and so are columns without a place", async (t) => {
  const { mapping, notes } = await suggested(
    t,
    "Project,State,Phase,Phase,Permit,Cost ($000)\nAlder,Texas,a,b,04/13/2031,5\nOak,NV,a,b,,6\nAlder,tx,a,b,,7\nElm,TX,a\n",
  );
  const [{ id, fields }] = (mapping as any).records;
  assert.match(id, /^CHOOSE: the name of the column that tells the rows apart/);
  assert.deepEqual(Object.keys(fields), ["name", "state", "total_amount_usd"]);
  assert.equal(fields.total_amount_usd.multiply_by, 1000);
  const text = notes.join("\n");
  for (const words of [
    /column 2 "State": state$/m,
    /multiplied by 1,000, because of its name/,
    /column 3 "Phase": such as "a"; another column has the same name$/m,
    /column 5 "Permit": such as "04\/13\/2031"$/m,
  ])
    assert.match(text, words);
});

test("the kind of record and the id are asked where the columns do not tell, and a heading that is narrower than a field gets no place", async (t) => {
  const draft = await draftOf(t, "cik,label\n7,Ada\n7,Bo\n8,Cy\n");
  assert.match(draft.records[0].record, /^CHOOSE: what each row is, one of project, gp, /);
  assert.match(draft.records[0].id, /^CHOOSE: the name of the column that tells the rows apart/);
  const { mapping } = await suggested(
    t,
    "crdNumber,entityName,AUM (Individuals),AUM ($000)\n7,Acme,5,9\n8,Birch,6,7\n",
  );
  const [{ record, id, fields }] = (mapping as any).records;
  assert.deepEqual([record, id, fields.name], ["gp", "crdNumber", "entityName"]);
  assert.deepEqual(fields.aum_usd, { column: "AUM ($000)", multiply_by: 1000 });
});

test("columns named as the members of a kind tell the kind, and every member that it needs is filled or asked for", async (t) => {
  for (const kind of recordKinds) {
    const paths = [...fieldsOf(kind).keys()];
    const header = paths.filter((path) => !neededIn(kind).includes(path));
    const { records } = await draftOf(t, `id,${header.join()}\n1${",".repeat(header.length)}\n`);
    assert.equal(records[0].record, kind);
    assert.equal(records[0].id, "id");
    assert.deepEqual(Object.keys(records[0].fields), neededIn(kind));
  }
});

test("what is no table with a header and rows is refused by file and line with the reason", async (t) => {
  const refusals: [content: string | Uint8Array, words: RegExp][] = [
    ["", /table\.csv: has no row below its header/],
    ["Id,Name\n", /table\.csv: has no row below its header/],
    [
      "36091,1001,Verbena\n36758,1001,Plantersville\n",
      /:1: no column of this header is known.*"36091", .*; the first line must name the columns/,
    ],
    ["Foo,Bar\n1,2\n", /:1: no column of this header is known.*"Foo", "Bar"/],
    [Buffer.from("Id,Name\n1,\0\n"), /:2: has a zero byte, so the file is not text/],
    [Buffer.from("\x1f\x8b\x08", "latin1"), /is compressed with gzip/],
    [bytesOf("Id,Name\n1,a\x81b\n"), /:2: column 2 is not windows-1252 at byte 2 \(0x81\)/],
    [`Id,Name\n1,${"x".repeat(2 ** 21)}\n`, /:2: this row is longer than 1048576 bytes/],
  ];
  for (const [content, words] of refusals) {
    const { message } = await faultOf(suggested(t, content));
    assert.match(message, words);
    assert.match(message, /table\.csv/);
  }
});

test("--suggest takes one file that can be read twice, and an import needs --source and --map as before", async (t) => {
  const { refusal } = allCommands(temporaryFolder(t));
  assert.match(
    await refusal(exitCodes.usage, "import csv --suggest -"),
    /not possible with standard input/,
  );
  assert.match(await refusal(exitCodes.usage, "import csv --suggest a b"), /takes only one file/);
  assert.match(await refusal(exitCodes.inputRefused, "import csv --suggest none"), /no such file/);
  for (const [line, option] of [
    ["import csv a --map b", "--source <name>"],
    ["import csv a --source b", "--map <file>"],
  ] as const)
    assert.match(
      await refusal(exitCodes.usage, line),
      new RegExp(
        `^error: required option '${option}' not specified\\. See \`gp-records import csv --help\``,
      ),
    );
});

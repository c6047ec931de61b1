import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { oneFiling, quarterFiles, together } from "../filings/quarter.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface Invented {
  name: string;
  industry?: string;
  clarification?: string;
}

const accessionOf = (at: number) => `0001700000-26-${String(at).padStart(6, "0")}`;

/** Returns the rows of the filing of an invented issuer, whose only person has a clarification. */
const filing = (at: number, { name, industry = "Residential", clarification = "" }: Invented) =>
  oneFiling(accessionOf(at), name, {
    FORMDSUBMISSION: { FILE_NUM: `021-${300000 + at}`, SIC_CODE: "" },
    ISSUERS: { CIK: String(1700000 + at), STREET1: `${at} Larch Street`, STREET2: "" },
    OFFERING: {
      INDUSTRYGROUPTYPE: industry,
      FEDERALEXEMPTIONS_ITEMS_LIST: "06b",
      ISPOOLEDINVESTMENTFUNDTYPE: "",
    },
    RELATEDPERSONS: { LASTNAME: `Smith${at}`, RELATIONSHIPCLARIFICATION: clarification },
  });

/** Runs the evaluation on a folder with one quarter, with labels of its own if there are any. */
function evaluate(t: TestContext, filings: readonly Invented[], labels?: unknown) {
  const folder = temporaryFolder(t);
  const rows = together(...filings.map((one, at) => filing(at + 1, one)));
  for (const [name, text] of Object.entries(quarterFiles(rows)))
    writeFileSync(join(folder, name), text);
  if (labels === undefined) return run(folder);
  const file = join(temporaryFolder(t), "labels.json");
  writeFileSync(file, JSON.stringify(labels));
  return run("--labels", file, folder);
}

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["eval/main.ts", ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

const label = (at: number, kind: string, sponsor: string | null, more: object = {}) => ({
  accession: accessionOf(at),
  kind,
  sponsor,
  ...more,
});

test("a right name, a wrong one, a missed one and one where nobody is count as what they are", (t) => {
  const filings = [
    { name: "Heron Flats LLC", clarification: "President of Oakline Capital LLC, the Manager" },
    { name: "Gull Yard LLC", clarification: "President of Rowan Homes LLC, the Manager" },
    { name: "Teal Court LLC" },
    { name: "Finch Lofts LLC", clarification: "President of Alder Group LLC, the Manager" },
    { name: "Wren Pumps Inc", industry: "Manufacturing" },
    { name: "Lark Row LLC", clarification: "President of Birch Homes LLC, the Manager" },
  ];
  const { stdout, stderr } = evaluate(t, filings, [
    label(1, "project", "Oakline", { also: ["Oakline Capital, L.L.C."] }),
    label(2, "project", "Cedar Homes"),
    label(3, "project", "Maple Partners"),
    label(4, "fund", null),
    label(5, "out", null),
    label(6, "project", null, { unsure: true }),
    label(7, "project", null),
  ]);
  assert.equal(stderr, "");
  assert.equal(
    stdout,
    `filings read: 6; labels: 7; counted: 5, unsure: 1, of filings not read: 1

kind     right
fund     0 of 1, too few
project  3 of 3, too few
out      1 of 1, too few
all      4 of 5, too few

links                        precision        recall           coverage
sponsor_text                 1 of 3, too few  1 of 3, too few  3 of 4, too few
confidence 0.8 to 1          1 of 3, too few  1 of 3, too few  3 of 4, too few
confidence 0.5 to below 0.8  0 of 0, too few  0 of 3, too few  0 of 4, too few
all                          1 of 3, too few  1 of 3, too few  3 of 4, too few

misses
0001700000-26-000002  sponsor: label Cedar Homes, said Rowan Homes by sponsor_text, 0.9, from "President of Rowan Homes LLC, the Manager"
0001700000-26-000003  sponsor: label Maple Partners, said nobody
0001700000-26-000004  kind: label fund, said project (industry Residential)
0001700000-26-000004  sponsor: label nobody, said Alder Group by sponsor_text, 0.9, from "President of Alder Group LLC, the Manager"
`,
  );
});

test("from 60 cases on a rate is given, with its interval by Wilson", (t) => {
  const filings = Array.from({ length: 60 }, (_, at) => ({
    name: `Heron${at} Flats LLC`,
    clarification: `President of Oakline${at} Capital LLC, the Manager`,
  }));
  const labels = filings.map((_, at) =>
    label(at + 1, "project", at < 58 ? `Oakline${at} Capital` : null),
  );
  const { stdout } = evaluate(t, filings, labels);
  assert.match(stdout, /^all +96\.7 % \(88\.6 to 99\.1\), 58 of 60  58 of 58, too few  100\.0 %/m);
});

test("the labels of the project are read, hold names of firms alone, and count only for filings among the files", (t) => {
  const { stdout } = evaluate(t, [{ name: "Heron Flats LLC" }]);
  const labels = JSON.parse(readFileSync("eval/labels.json", "utf8")) as object[];
  assert.match(
    stdout,
    new RegExp(
      `^filings read: 1; labels: ${labels.length}; counted: 0, unsure: 0, of filings not read: ${labels.length}\n`,
    ),
  );
  const members = new Set(labels.flatMap((one) => Object.keys(one)));
  assert.deepEqual([...members].sort(), ["accession", "also", "kind", "sponsor", "unsure"]);
});

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { readNameList } from "#importers/name-list.ts";
import { gp } from "../datasets/published.ts";
import { allCommands } from "../support/all-commands.ts";
import { importRecords } from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const gps = [
  gp("a", {
    name: "Café Capital Partners",
    legal_name: "Café Capital Partners, LLC",
    hq_city: "Dallas",
    hq_state: "TX",
  }),
  gp("b", {
    name: "Harbor Point Realty",
    hq_city: "Boston",
    hq_state: "MA",
    external_ids: { crd: ["9900001"], cik: ["0009000001"] },
  }),
  gp("c", { name: "Harbor Point Realty", hq_city: "Miami", hq_state: "FL" }),
  gp("d", { name: "=Summit & Company" }),
  gp("e", { name: "Dune Limited Partnership Fund" }),
];

async function published(t: TestContext) {
  const dataDir = temporaryFolder(t);
  await importRecords(openCatalogue(join(dataDir, "datasets")), gps);
  const file = join(temporaryFolder(t), "names.csv");
  const commands = allCommands(dataDir);
  const match = (content: string | Buffer) => {
    writeFileSync(file, content);
    return commands.json("match", file);
  };
  return { file, match, ...commands };
}

const brief = (rows: { certainty: string; gp: { hq_city: string | null } | null }[]) =>
  rows.map(({ certainty, gp }) => `${certainty} ${gp?.hq_city ?? "-"}`);

test("match decides by CRD or CIK, then by name, with city and state between equal names", async (t) => {
  const { match } = await published(t);
  const found = await match(
    [
      "Name;City;State;Note;CRD;CIK",
      "Cafe capital partners;;;x;;",
      "Café Capital Partners L.L.C.;Dallas;texas;;;",
      "Café Capital Partners LP;;;;;",
      "Café Capital Partners;Denver;;;;",
      "Cafe Captial Partners;;;;;",
      "Harbor Point Realty, Inc.;;;;;",
      "Harbor Point Realty;;Florida;;;",
      "Anything;;;;9900001;",
      "Anything;;;;;9000001",
      "Anything;;;;9900001;9000002",
      "Nobody Knows This One;;;;;",
      "Dune Limited Partnership Fund;;;;;",
    ].join("\r\n"),
  );
  assert.deepEqual(brief(found), [
    "sure Dallas",
    "sure Dallas",
    "probable Dallas",
    "probable Dallas",
    "probable Dallas",
    `unsure ${found[5].gp.hq_city}`,
    "sure Miami",
    "sure Boston",
    "sure Boston",
    "unsure Boston",
    "none -",
    "sure -",
  ]);
  const cities = new Set([found[5].gp.hq_city, found[5].runnerUp.hq_city]);
  assert.deepEqual(cities, new Set(["Boston", "Miami"]));
});

test("match reads windows-1252, a byte order mark, and one name a line, in which a comma means nothing", async (t) => {
  const { match } = await published(t);
  for (const content of [
    Buffer.from("Café Capital Partners, LLC\r\n\r\nSummit and Company", "latin1"),
    '\uFEFFname\n"Café Capital Partners, LLC"\n\nSummit and Company\n',
  ])
    assert.deepEqual(brief(await match(content)), ["sure Dallas", "sure -"]);
});

test("match prints CSV that no spreadsheet runs", async (t) => {
  const { file, text } = await published(t);
  writeFileSync(file, "=Summit & Co.\n<script>alert(1)</script>");
  const [heading, first, second] = (await text("match", file)).split("\r\n");
  assert.equal(
    heading,
    "name,city,state,crd,cik,certainty,gp_id,gp_name,gp_city,gp_state,runner_up_id,runner_up_name",
  );
  assert.match(first!, /^'=Summit & Co\.,,,,,sure,gp_\w{16},'=Summit & Company,,,,$/);
  assert.equal(second, "<script>alert(1)</script>,,,,,none,,,,,,");
});

test("match refuses a list that is empty, too long, binary or faulty, and names the line", async (t) => {
  const { file, start } = await published(t);
  const refused = async (content: string | Buffer, words: RegExp) => {
    writeFileSync(file, content);
    const { exitCode, out, err } = await start("match", file);
    assert.deepEqual([exitCode, out], [exitCodes.inputRefused, ""]);
    assert.match(err, words);
  };
  await refused("", /names\.csv: contains no names/);
  const tooMany = /names\.csv:5002: a list may have at most 5000 names; split/;
  await refused("name\n" + "x\n".repeat(5001), tooMany);
  await refused(Buffer.from("PK\x03\x04xlsx"), /names\.csv: is a zip archive or a spreadsheet/);
  await refused(Buffer.from([0x41, 0, 0x42]), /names\.csv: is not text/);
  await refused("Name,city,NAME\nA,,B", /names\.csv:1: has the column "name" twice; rename one/);
  await refused("name,city\n,Dallas", /names\.csv:2: has no name, CRD or CIK/);
  await refused('name\nA\n"B\nC\n', /names\.csv:3: has a quote that is never closed/);
});

test("match counts lines as the file has them, in cells of several, too", () => {
  const list = (lines: string) => Buffer.from(["name,city", '"A\nB",', "", lines, ""].join("\r\n"));
  const refused = (lines: string, message: string) =>
    assert.throws(() => readNameList(list(lines), "names.csv", 2), { message });
  refused(',"Reno\r\nNV"', "names.csv:5: has no name, CRD or CIK; add one, or delete the line");
  refused('"C\n"D,x', "names.csv:5: has an undoubled quote inside a cell; double it");
  const many = "a list may have at most 2 names; split it before this line";
  refused('C,\r\n"D\nE",\r\n', `names.csv:6: ${many}`);
});

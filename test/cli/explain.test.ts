import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { fold } from "#records/fold.ts";
import { allCommands } from "../support/all-commands.ts";
import { writeFilingFolder } from "../support/filing-folder.ts";

const place = mkdtempSync(join(tmpdir(), "gp-records-"));
after(() => rmSync(place, { recursive: true }));
const folder = join(place, "sec");
mkdirSync(folder);
const { sponsors, truth } = await writeFilingFolder(folder, { size: 8 });
const { start, text, json, refusal } = allCommands(join(place, "data"));
await text("import sec", folder);

/** What is explained of the issuers that name their sponsor, or nobody, in some way. */
async function projects(way: string): Promise<any[]> {
  const ciks = [...truth].filter(([, one]) => one.way === way && one.kind === "project");
  assert.notEqual(ciks.length, 0, way);
  const found = ciks.map(async ([cik, { sponsor }]) => {
    const all: any[] = await json("explain", `cik:${cik}`);
    return all.filter(({ kind }) => kind === "project").map((one) => ({ ...one, sponsor }));
  });
  return (await Promise.all(found)).flat();
}

test("a project whose filing names its sponsor is explained by the sentence, the filing and the rule", async () => {
  for (const { sponsor, gps, evidence } of await projects("text")) {
    const [best] = evidence;
    assert.ok(best.taken);
    assert.equal(best.basis, "sponsor_text");
    assert.match(best.text, /^President of .+, the Manager of the Issuer$/);
    assert.ok(fold(best.text).includes(fold(sponsor.name)));
    assert.match(best.document.form, /^Form D/);
    assert.match(best.document.url, /^https:\/\/www\.sec\.gov\/.+\/primary_doc\.xml$/);
    assert.ok(fold(gps[0].name).startsWith(fold(sponsor.brand)));
    const own = evidence.find(({ basis }: any) => basis === "issuer_stem");
    assert.equal(own.taken, false);
  }
  const [{ id, gps }] = await projects("text");
  const said = await text("explain", id);
  const words = /named in the text of a filing, confidence 90 %, because the text states its role/;
  assert.match(said, words);
  assert.ok(said.includes(`GP: ${gps[0].name}, ${gps[0].id}`));
});

test("a project that nobody is named for says so, why, and which persons its filing names", async () => {
  const all = [...(await projects("persons")), ...(await projects("deal"))];
  for (const { evidence, id } of all.filter((one) => one.gps.length === 0)) {
    assert.ok(evidence.every(({ taken }: any) => !taken));
    const persons = evidence.filter(({ firm }: any) => firm === null);
    assert.equal(persons.length, 2);
    for (const { text: said, why } of persons) {
      assert.match(said, /^[A-Z][a-z]+ [A-Z][a-z]+: Executive Officer$/);
      assert.equal(why, "a person is not a sponsor");
    }
    assert.match(await text("explain", id), /\nNo filing names a sponsor\.\n/);
  }
  const [deal] = await projects("deal");
  assert.ok(deal.evidence.some(({ basis }: any) => basis === "related_entity_deal"));
});

test("a GP is explained by its Form ADV and the best evidence of each vehicle, a person by who names him", async () => {
  const { crd, people, name } = sponsors.find((one) => one.crd !== null)!;
  const [gp] = await json("explain", `crd:${crd}`);
  const vehicles = [...truth].filter(([, { sponsor }]) => sponsor?.crd === crd);
  assert.deepEqual(
    gp.evidence.slice(0, 2).map(({ document, text: said }: any) => [document.form, fold(said)]),
    [
      ["Correction", "its letterhead says so"],
      ["Form ADV", fold(`${name}, LLC`)],
    ],
  );
  assert.ok(gp.evidence.length > vehicles.length / 2);
  const confidences = gp.evidence.map(({ confidence }: any) => confidence);
  assert.deepEqual(
    confidences,
    confidences.toSorted((a: number, b: number) => b - a),
  );
  const person = people[0]!.map(fold).join(" ");
  const keys = vehicles.map(([cik]) => `cik:${cik}/${person}`);
  const answers = await Promise.all(keys.map((key) => start("explain", key, "--json")));
  const [principal] = JSON.parse(answers.find(({ exitCode }) => exitCode === 0)!.out);
  const [stated, ...filed] = principal.evidence;
  assert.equal(stated.field, "Schedule A");
  assert.match(stated.text, /^[A-Z]+, [A-Z]+,?: MANAGING MEMBER$/);
  assert.ok(filed.some(({ document }: any) => document.form.startsWith("Form D")));
  for (const { text: said } of filed) assert.ok(fold(said).startsWith(person), said);
});

test("a record is found by its id, a former one and those of its source; others are refused with the next step", async () => {
  const file = join(place, "records.ndjson");
  const deliver = async (gp: object) => {
    writeFileSync(file, JSON.stringify({ record: "gp", ...gp }));
    await text("import ndjson --source own", file);
  };
  await deliver({ id: "birch", name: "Birch" });
  const [{ id }] = await json("explain birch");
  await deliver({ id: "elm", name: "Elm", former_ids: ["birch"] });
  for (const known of [id, "birch", "elm"]) {
    const [elm, ...others] = await json("explain", known);
    assert.deepEqual([elm.name, others], ["Elm", []], known);
  }
  assert.match(await refusal(exitCodes.conflict, "explain", "gp_nobody"), /has the id 'gp_nobody'/);
});

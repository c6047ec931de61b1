import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { CoveredGps, Suppression } from "#datasets/suppressions.ts";
import { explainPublished } from "#datasets/evidence.ts";
import { mintId } from "#datasets/draft-record.ts";
import type { Evidence } from "#records/canonical.ts";
import { recordKinds } from "#records/kinds.ts";
import { entriesOf, importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { day, documents, evidenceOf, gp, principal, project, signal } from "./published.ts";

let number = 0;
const suppressed = (name: string, scope: Partial<Suppression> = {}): Suppression => ({
  number: ++number,
  name,
  gp: null,
  cik: null,
  crd: null,
  reason: "asked",
  created_at: "2026-11-01T00:00:00.000Z",
  applied_at: null,
  gp_ids: "",
  ...scope,
});

/** Imports records, without these people. */
async function imported(
  t: TestContext,
  records: readonly object[],
  suppressions: readonly Suppression[],
  evidence: Readonly<Record<string, Evidence[]>> = {},
) {
  const catalogue = temporaryCatalogue(t);
  const entries = entriesOf(records).map((entry) => ({
    ...entry,
    evidence: evidence[entry.records[0]!.id] ?? [],
  }));
  const options = { entries, suppressions, nowMilliseconds: day(1) };
  const result = await importRecords(catalogue, [], options);
  const names = recordKinds.flatMap((kind) =>
    documents(catalogue, kind).map((one): string => one["name"] ?? one["title"]),
  );
  return {
    catalogue,
    result,
    names: names.toSorted(),
    of: (kind: "gp" | "principal" | "signal" | "project") => documents(catalogue, kind),
  };
}

test("a person goes, and so does a GP called after them, to which nothing links any more", async (t) => {
  const { result, names, of } = await imported(
    t,
    [
      gp("oak", { name: "Oak Capital" }),
      gp("roe", { name: "JANE ROE Holdings, LLC" }),
      principal("jane", ["oak", "roe"], { name: "Jane Roe" }),
      principal("max", ["oak", "roe"], { name: "Max Poe" }),
      project("tower", { name: "Jane Roe Tower", gps: ["oak"] }),
      signal("sold", { title: "Sold", gps: ["roe"], project_ids: ["tower"] }),
    ],
    [suppressed("Jané ROE")],
  );
  assert.deepEqual(names, ["Max Poe", "Oak Capital", "Sold"]);
  assert.deepEqual(
    of("principal")[0]!["gps"].map(({ name }: any) => name),
    ["Oak Capital"],
  );
  const [sold] = of("signal");
  assert.deepEqual([sold!["gps"], sold!["project_ids"]], [[], []]);
  assert.deepEqual([result.outcome, result.withheldCount, result.records!.gp], ["built", 3, 1]);
});

test("other texts have [withheld] in place of the name as whole words, however it is written", async (t) => {
  const cases = [
    ["Founded by Jane Roe.", "Founded by [withheld]."],
    ["JANE  ROE, Jane-Roe and jane roe", "[withheld], [withheld] and [withheld]"],
    ["Jane Roe's firm, Jane Roe’s own", "[withheld]'s firm, [withheld]’s own"],
    ["Jane\nRoe", "[withheld]"],
    ["Ja\u0301ne R\u00f6e\u0301 left", "[withheld] left"],
    ["Ｊａｎｅ Ｒｏｅ", "[withheld]"],
    ["Mary Jane Roe jr", "Mary [withheld] jr"],
    [
      "He left.Jane Roe joined. Jane.Roe@oak.example",
      "He left.[withheld] joined. [withheld]@oak.example",
    ],
    ["At oak.example/J%C3%A1ne%20Ro%c3%a9%20vita", "At oak.example/[withheld]%20vita"],
    ["Jane Roe Jane Roe", "[withheld] [withheld]"],
    ["Ja\u00adne R\u200co\u2060e and \ufeffJane\u00ad Roe", "[withheld] and \ufeff[withheld]"],
    [
      "1.Jane Roe, left...Jane Roe, and…Jane Roe",
      "1.[withheld], left...[withheld], and…[withheld]",
    ],
    ["Jane Roeper, Mijane Roe, Jane. Roe2, Jane Q. Roe", null],
    ["Roe Jane", null],
  ] as const;
  const records = cases.map(([text], i) => gp(`g${i + 10}`, { description: text }));
  const { of } = await imported(t, records, [suppressed("Jane Roe")]);
  const given = of("gp").map((one) => one["description"]);
  assert.deepEqual(
    given,
    cases.map(([text, expected]) => expected ?? text),
  );
});

test("names of funds, aliases, titles and links lose the name", async (t) => {
  const { of, result } = await imported(
    t,
    [
      gp("oak", {
        aliases: ["Jane Roe Partners", "Oak"],
        website: "https://www.example.com/team/jane-roe",
        funds: [{ name: "Jane Roe Fund II, LP" }],
      }),
      gp("elm", { website: "https://elm.example/J%C3%A1n%C3%A9%20Ro%65.pdf" }),
      signal("hired", { title: "Oak hires Jane Roe", summary: "Jane Roe joins.", gps: ["oak"] }),
    ],
    [suppressed("Jane Roe")],
  );
  const [elm, oak] = of("gp");
  assert.equal(elm!["website"], "https://withheld.invalid/");
  assert.deepEqual(oak!["aliases"], ["[withheld] Partners", "Oak"]);
  assert.equal(oak!["website"], "https://withheld.invalid/");
  assert.equal(oak!["funds"][0].name, "[withheld] Fund II, LP");
  const [hired] = of("signal");
  assert.deepEqual(
    [hired!["title"], hired!["summary"]],
    ["Oak hires [withheld]", "[withheld] joins."],
  );
  assert.equal(result.withheldCount, 3);
});

test("evidence is quoted without the name, in every column", async (t) => {
  const evidence = {
    sallow: [
      evidenceOf(1, { text: "Jane Roe: director", firm: "Jane Roe LLC", filer: "JANE ROE" }),
      evidenceOf(2, { url: "https://filings.example/jane-roe" }),
    ],
  };
  const sallow = project("sallow", { name: "412 Sallow Street" });
  const { catalogue } = await imported(t, [sallow], [suppressed("Jane Roe")], evidence);
  const generation = catalogue.current()!;
  const path = catalogue.pathOf(generation.version);
  const told = explainPublished(path, generation, mintId("project", "own", "sallow"))!;
  const [first, second] = told.evidence;
  assert.equal(first!.text, "[withheld]: director");
  assert.equal(first!.firm, "[withheld] LLC");
  assert.equal(first!.document.filer, "[withheld]");
  assert.equal(second!.document.url, "https://withheld.invalid/");
  assert.equal(second!.text, evidenceOf(2).text);
});

/** Jane Roe at two firms, each with a project, a signal and a description that names her. */
const firms = ["oak", "elm"].flatMap((firm, i) => [
  gp(firm, {
    name: `${firm} Capital`,
    aliases: [`${firm} Group`],
    description: "Led by Jane Roe.",
    external_ids: { cik: [`000${i + 1}`], crd: [`${i + 11}`] },
  }),
  principal(`jane-${firm}`, [firm], { name: "Jane Roe", external_ids: { crd: [`${i + 21}`] } }),
  project(`${firm}-flats`, { gps: [firm], external_ids: { cik: [`${i + 31}`] } }),
  signal(`${firm}-sale`, { summary: "Jane Roe sold.", project_ids: [`${firm}-flats`] }),
]);

for (const [what, scope] of [
  ["the name of the GP", { gp: "ELM Capital" }],
  ["an alias of the GP", { gp: "Elm Group" }],
  ["the CIK of the GP", { cik: "2" }],
  ["the CRD number of the GP", { crd: "012" }],
  ["the person's own CRD number", { crd: "22" }],
  ["the CIK of a project", { cik: "32" }],
] as const)
  test(`a suppression limited by ${what} leaves out the person there alone`, async (t) => {
    const { result, of } = await imported(t, firms, [suppressed("Jane Roe", scope)]);
    assert.deepEqual(
      of("principal").map((one) => one["gps"][0].name),
      ["oak Capital"],
    );
    const textsOf = (kind: "gp" | "signal", member: string) =>
      of(kind).map((one): string => one[member]);
    assert.deepEqual(textsOf("gp", "description"), ["Led by [withheld].", "Led by Jane Roe."]);
    assert.deepEqual(textsOf("signal", "summary").toSorted(), [
      "Jane Roe sold.",
      "[withheld] sold.",
    ]);
    assert.equal(result.withheldCount, 3);
  });

test("a number or a GP that no record has limits a suppression to nothing", async (t) => {
  for (const scope of [{ gp: "Ash Capital" }, { cik: "9" }, { crd: "0" }]) {
    const { result } = await imported(t, firms, [suppressed("Jane Roe", scope)]);
    assert.equal(result.withheldCount, 0);
  }
});

test("what is carried over from other sources is without the person, too", async (t) => {
  const { catalogue } = await imported(
    t,
    [principal("jane", [], { name: "Jane Roe" }), gp("oak")],
    [],
  );
  const suppressions = [suppressed("Jane Roe")];
  const options = { source: "other", suppressions, nowMilliseconds: day(2) };
  const { withheldCount } = await importRecords(catalogue, [gp("elm")], options);
  assert.equal(withheldCount, 1);
  assert.deepEqual(documents(catalogue, "principal"), []);
});

test("no guard counts what is withheld: a source may shrink by it, or end up empty", async (t) => {
  const people = ["a", "b", "c"].map((id) => principal(id, [], { name: "Jane Roe" }));
  const { catalogue } = await imported(t, people, []);
  const suppressions = [suppressed("Jane Roe")];
  const options = { shrinkPercentMax: 0, suppressions, nowMilliseconds: day(2) };
  const { outcome, records } = await importRecords(catalogue, people, options);
  assert.deepEqual([outcome, records!.principal], ["built", 0]);
});

test("an import with a suppression gives what one without the person would have given", async (t) => {
  const others = [
    gp("oak"),
    principal("max", ["oak"], { name: "Max Poe" }),
    signal("s", { gps: ["oak"] }),
  ];
  const jane = principal("jane", ["oak"], { name: "Jane Roe" });
  const without = await imported(t, others, []);
  const withheld = await imported(t, [...others, jane], [suppressed("Jane Roe")]);
  assert.equal(withheld.catalogue.current()!.hash, without.catalogue.current()!.hash);
});

test("links to GPs of other sources count as well, also by a former id", async (t) => {
  const roe = gp("roe", { name: "Jane Roe Inc", former_ids: ["old"] });
  const { catalogue, of } = await imported(t, [gp("oak", { name: "Oak" }), roe], []);
  const [oakId, oldId] = ["oak", "old"].map((id) => mintId("gp", "own", id));
  const awarded = [
    project("p1", { name: "Jane Roe Court", gps: [oakId] }),
    project("p2", { name: "Jane Roe Place" }),
    project("p3", { name: "Quarry", gps: [oldId] }),
  ];
  const linked = { source: "awards", nowMilliseconds: day(2) };
  await importRecords(catalogue, awarded, linked);
  assert.equal(of("project").find(({ name }) => name === "Quarry")!["gps"].length, 1);
  const suppressions = [
    suppressed("Jane Roe", { gp: "Oak" }),
    suppressed("Jane Roe", { gp: "Jane Roe Inc" }),
  ];
  const { changes } = await importRecords(catalogue, awarded, {
    ...linked,
    suppressions,
    nowMilliseconds: day(3),
  });
  assert.deepEqual(
    of("project").map(({ name, gps }) => [name, gps.length]),
    [
      ["Jane Roe Place", 0],
      ["Quarry", 0],
    ],
  );
  assert.deepEqual(changes.unlinked, []);
});

test("a merge may link to what was left out, before or now, and loses the link alone", async (t) => {
  const roe = gp("roe", { name: "Jane Roe Inc" });
  const { catalogue, of } = await imported(
    t,
    [gp("oak"), roe, project("p", { name: "Jane Roe Court" })],
    [suppressed("Jane Roe")],
  );
  const sale = (id: string) => signal(id, { gps: ["oak", "roe"], project_ids: ["p"] });
  const merge = (suppressions: Suppression[], number: number, ...records: object[]) =>
    importRecords(catalogue, records, {
      isMerge: true,
      suppressions,
      nowMilliseconds: day(number),
    });
  await merge([suppressed("Jane Roe")], 2, sale("s1"));
  const { outcome, changes } = await merge([suppressed("Jane Roe")], 3, sale("s2"), roe);
  assert.deepEqual([outcome, changes.unlinked], ["built", []]);
  for (const { gps, project_ids } of of("signal"))
    assert.deepEqual([gps.map(({ name }: any) => name), project_ids], [["oak"], []]);
  const unknown = await merge([suppressed("Jane Roe")], 4, signal("s3", { gps: ["elm"] }));
  assert.equal(unknown.refusal, "rejections");
  const ended = await merge([], 5, sale("s4"));
  assert.equal(ended.refusal, "rejections");
  await merge([], 6, sale("s4"), roe, project("p", { name: "Jane Roe Court" }));
  assert.deepEqual(
    of("gp").map(({ name }) => name),
    ["Jane Roe Inc", "oak"],
  );
});

test("a limit to a GP that went, or to an alias that lost a name, holds for what a merge links to it", async (t) => {
  const suppressions = ["Jane Roe Inc", "Jane Roe Group"].map((gp) =>
    suppressed("Jane Roe", { gp }),
  );
  const { catalogue, of } = await imported(
    t,
    [gp("roe", { name: "Jane Roe Inc" }), gp("oak", { aliases: ["Jane Roe Group"] }), gp("elm")],
    suppressions,
  );
  const records = ["roe", "oak", "elm"].flatMap((firm) => [
    principal(`jane-${firm}`, [firm], { name: "Jane Roe" }),
    project(`${firm}-flats`, { gps: [firm] }),
    signal(`${firm}-sale`, { title: "Jane Roe sold.", project_ids: [`${firm}-flats`] }),
  ]);
  const options = { isMerge: true, suppressions, nowMilliseconds: day(2) };
  await importRecords(catalogue, records, options);
  assert.deepEqual(
    of("principal").map(({ gps }) => gps.map(({ name }: any) => name)),
    [["elm"]],
  );
  const titles = of("signal").map(({ title }): string => title);
  assert.deepEqual(titles.toSorted(), ["Jane Roe sold.", "[withheld] sold.", "[withheld] sold."]);
});

test("a limit by a name holds for the GP under its next name, and where its id leads, but nowhere else", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const one = suppressed("Jane Roe", { gp: "Oak Capital" });
  const rememberGps = async (covered: CoveredGps) => {
    one.gp_ids = [one.gp_ids, ...covered.get(one.number)!].join(" ");
  };
  const kept = { suppressions: [one], rememberGps };
  await importRecords(catalogue, firms, { ...kept, isDryRun: true });
  assert.equal(one.gp_ids, "");
  const names = ["oak", "ash", "elm"].map((id) => gp(id));
  const [oak, ash, elm] = names;
  const at = async (number: number, ...gps: object[]) => {
    const people = gps.map(({ id }: any) => principal(`jane-${id}`, [id], { name: "Jane Roe" }));
    const options = { ...kept, nowMilliseconds: day(number) };
    const { outcome } = await importRecords(catalogue, [...gps, ...people], options);
    assert.equal(outcome, "built");
    const found = documents(catalogue, "principal").map((one): string => one["gps"][0].name);
    return found.toSorted();
  };
  assert.deepEqual(await at(1, { ...oak, name: "Oak Capital" }, ash!, elm!), ["ash", "elm"]);
  assert.deepEqual(await at(2, { ...oak, name: "Acorn Group" }, ash!, elm!), ["ash", "elm"]);
  assert.deepEqual(await at(3, { ...ash, former_ids: ["oak"] }, elm!), ["elm"]);
});

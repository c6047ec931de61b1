import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openFilings } from "#cli/import-filings.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { documents, namesLedTo, rows } from "../datasets/published.ts";
import { allCommands } from "../support/all-commands.ts";
import { asking, ciksOf, score } from "../support/filing-answers.ts";
import { writeFilingFolder } from "../support/filing-folder.ts";
import { linesOf } from "../support/json-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A folder of filings, and the commands of an installation beside it. @param size number of sponsors. */
async function workplace(t: TestContext, size = 6) {
  const place = temporaryFolder(t);
  const [folder, dataDir] = [join(place, "sec"), join(place, "data")];
  mkdirSync(folder);
  const invented = await writeFilingFolder(folder, { size });
  const commands = allCommands(dataDir);
  const versions = async () =>
    (await commands.json("datasets list")).map((one: any) => one.version);
  const datasets = () => readdirSync(join(dataDir, "datasets")).toSorted();
  return { folder, dataDir, invented, versions, datasets, ...commands };
}

const sumOf = (counts: Record<string, number>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

test("a folder of filings becomes GPs, of whom few are wrong and few are missing, and no fund is a project", async (t) => {
  const { folder, dataDir, invented, json } = await workplace(t, 60);
  const { filings } = await json("import sec", folder);
  const { truth } = invented;
  const server = await asking(t, dataDir);
  const { precision, recall, ...others } = await score(server, invented);
  t.diagnostic(`precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`);
  assert.ok(precision >= 0.95 && recall >= 0.9, JSON.stringify({ precision, recall, ...others }));

  const kindsOf = (records: readonly any[]) => [
    ...new Set(records.flatMap(ciksOf).map((cik) => truth.get(cik)!.kind)),
  ];
  const projects = await server.all("list-projects");
  assert.deepEqual(kindsOf(projects), ["project"]);
  const inventedProjects = [...truth.values()].filter(({ kind }) => kind === "project");
  assert.equal(projects.length, inventedProjects.length);
  assert.ok(projects.every(({ market }) => market !== null));
  const outside = [...truth.values()].filter(({ kind }) => kind === "out");
  const left = sumOf(filings.not_real_estate);
  assert.ok(left >= outside.length, `${left} of ${outside.length}`);
  // A round for the 100 holders that a REIT needs brings no signal.
  const signals = await server.all("list-signals");
  assert.equal(signals.filter(({ title }) => / REIT\b/.test(title)).length, 0);
  const file = join(folder, "corrections.ndjson");
  assert.deepEqual(filings.corrections_unmet, [{ file, line: 3, why: "Meets nothing" }]);
  const nobody = [...truth].find(([, { way }]) => way === "corrected")!;
  const project = projects.find((one) => ciksOf(one).includes(nobody[0]));
  const gps = project.gps.map((gp: any) => gp.name);
  assert.deepEqual(gps, [`${nobody[1].sponsor!.brand} Holdings`]);
  assert.equal(project.provenance.basis, "corrected");
});

test("an import of filings reports files, filings, vehicles and GPs, to people and as JSON", async (t) => {
  const { folder, text, json } = await workplace(t);
  const { filings, source, outcome, version } = await json("import sec", folder, "--dry-run");
  assert.deepEqual([source, outcome, version], ["sec", "dry_run", null]);
  const { by_basis, by_confidence, total } = filings.gps;
  assert.deepEqual([sumOf(by_basis), sumOf(by_confidence)], [total, total]);
  const once = { adv: 1, firm_feed: 1, corrections: 1, county_cbsa: 1, zip_county: 1 };
  assert.deepEqual(filings.files, { form_d_quarter: 4, ...once });
  const notes = join(folder, "notes.txt");
  assert.deepEqual(filings.files_left_out, [
    { file: notes, reason: "is neither a filing nor another file that imports use" },
  ]);
  const { named, unnamed } = filings.vehicles;
  const told = await text("import sec", folder, "--dry-run");
  const lines = [
    `Files: 4 Form D quarters, 1 Form ADV file, 1 firm feed, 1 corrections file, 1 county table, 1 ZIP code table; 1 left out:`,
    `  ${notes} is neither a filing nor another file that imports use`,
    `Filings: ${filings.form_d} of Form D, ${filings.form_adv} of Form ADV, ${filings.firms} firms of the firm feed; left out: none.`,
    `Vehicles: ${named} of ${named + unnamed} have a GP (${Math.floor((named * 100) / (named + unnamed))}%).`,
    `  ${join(folder, "corrections.ndjson")}:3: the correction matches no record; its reason is: Meets nothing`,
  ];
  for (const line of lines) assert.ok(told.split("\n").includes(line), `${line}\n\n${told}`);
  assert.match(told, /\nSource 'sec': \d+ records read, \d+ accepted, 0 rejected\.\n/);
});

test("the figures of an import of filings stay with the dataset, and it shows them as the import did", async (t) => {
  const { folder, dataDir, text, json } = await workplace(t);
  const told = (await text("import sec", folder)).split("\n");
  const { reports } = await json("datasets show");
  const { files_left_out, rejected_rows, corrections_unmet, ...figures } = (
    await json("import sec", folder, "--dry-run")
  ).filings;
  assert.deepEqual(reports, { sec: figures });
  assert.deepEqual([files_left_out.length, rejected_rows, corrections_unmet.length], [1, [], 1]);
  const { form_d, ...others } = figures.newest;
  assert.deepEqual(others, { form_adv: "2026-07-11", firm_feed: "2026-07-13" });
  assert.match(form_d, /^2026-06-\d\d$/);
  const { records } = await json("datasets show");
  for (const [kind, members] of Object.entries<any>(figures.filled)) {
    assert.equal(members.records, records[kind]);
    assert.equal(members.provenance, members.records);
  }
  const { vehicles } = figures.gps.largest[0];
  assert.ok(vehicles >= figures.gps.largest[1].vehicles && vehicles > 1);

  const [, shown = ""] = (await text("datasets show")).split("\n\nSource 'sec'\n");
  const lines = shown.trimEnd().split("\n");
  assert.equal(
    lines[0],
    "Files: 4 Form D quarters, 1 Form ADV file, 1 firm feed, 1 corrections file, 1 county table, 1 ZIP code table.",
  );
  for (const line of lines.slice(1)) assert.ok(told.includes(line), line);
  assert.match(
    shown,
    /^Newest: Form D 2026-06-\d\d, \d+ days ago; Form ADV 2026-07-11, \d+ days ago; firm feed 2026-07-13, \d+ days ago\.$/m,
  );
  assert.match(shown, /^Members filled in \d+ gps: .*\bprovenance 100%/m);
  // Another source's import carries them on.
  const other = join(dataDir, "own.ndjson");
  writeFileSync(other, '{"record":"gp","id":"a","name":"Acme"}\n');
  await json("import ndjson", other, "--source", "own");
  assert.deepEqual((await json("datasets show")).reports, { sec: figures });
});

test("an import of filings tells how many rows it has read, and how many advisers and filings are resolved", async (t) => {
  const { folder } = await workplace(t, 200);
  const shown = new Set<string>();
  const { close } = await openFilings([folder], {
    folder: temporaryFolder(t),
    source: "sec",
    minConfidence: 0.5,
    namedPercentMin: undefined,
    show: (_, what) => shown.add(what),
  });
  close();
  assert.deepEqual([...shown], ["rows read", "advisers compared", "filings resolved"]);
});

test("a dry run changes nothing, and a second import of the same folder publishes nothing", async (t) => {
  const { folder, json, versions, datasets } = await workplace(t);
  assert.equal((await json("import sec", folder, "--dry-run")).outcome, "dry_run");
  assert.deepEqual(await versions(), []);
  await json("import sec", folder);
  const [before, files] = [await versions(), datasets()];
  assert.equal((await json("import sec", folder)).outcome, "unchanged");
  const names = readdirSync(folder).map((name) => join(folder, name));
  assert.equal((await json("import sec", ...names.toReversed())).outcome, "unchanged");
  rmSync(join(folder, "2026q2_d.zip"));
  assert.ok((await json("import sec", folder, "--dry-run")).removed > 0);
  assert.deepEqual([await versions(), datasets()], [before, files]);
});

test("ids that are published are kept when Form ADV comes later, and corrections meet by them", async (t) => {
  const { folder, dataDir, json } = await workplace(t);
  const adv = "ADV_Filing_Data_20260701_20260731.zip";
  const aside = join(temporaryFolder(t), adv);
  renameSync(join(folder, adv), aside);
  await json("import sec", folder);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const before = documents(catalogue, "gp").map(({ id }): string => id);
  renameSync(aside, join(folder, adv));
  const correction = { gp: before[0], is: "Fir Partners", why: "They say so" };
  appendFileSync(join(folder, "corrections.ndjson"), linesOf(correction));
  const { filings } = await json("import sec", folder);
  assert.equal(filings.corrections_unmet.length, 1);
  for (const id of before) assert.equal(namesLedTo(catalogue, id).length, 1, id);
  assert.deepEqual(namesLedTo(catalogue, before[0]!), ["Fir Partners"]);
  const keyed = rows(catalogue, "select public_id from canonical where source_id like 'crd:%'");
  assert.ok(keyed.some(({ public_id }) => before.includes(public_id)));
});

test("--min-named refuses filings of which too few name a GP, after the report", async (t) => {
  const { folder, json, start, versions } = await workplace(t);
  const refused = await start("import sec", folder, "--min-named", "99%", "--json");
  assert.equal(refused.exitCode, exitCodes.shrunk);
  const report = JSON.parse(refused.out);
  assert.deepEqual([report.outcome, report.refusal, report.version], ["refused", "unnamed", null]);
  const { named, unnamed } = report.filings.vehicles;
  const percent = Math.floor((named * 100) / (named + unnamed));
  assert.equal(
    refused.err,
    `error: Only ${named} of ${named + unnamed} vehicles have a GP, fewer than the 99% that --min-named requires; nothing was published. Check that no archive of Form ADV is missing. If this share is right, use --min-named ${percent}%.\n`,
  );
  assert.deepEqual(await versions(), []);
  await json("import sec", folder, "--min-named", `${percent}%`);
  assert.equal((await versions()).length, 1);
});

test("--min-confidence leaves vehicles without a GP if their link has a lower confidence", async (t) => {
  const { folder, json } = await workplace(t);
  const args = ["import sec", folder, "--dry-run", "--min-confidence"];
  const namedAt = async (confidence: string): Promise<number> =>
    (await json(...args, confidence)).filings.vehicles.named;
  const [all, likely, sure] = [await namedAt("0"), await namedAt("0.5"), await namedAt("0.95")];
  assert.ok(all >= likely && likely > sure, `${all} ${likely} ${sure}`);
});

test("rows that a killed import left are cleared, and what makes no sense for filings is no option", async (t) => {
  const { folder, dataDir, text, refusal, datasets } = await workplace(t);
  mkdirSync(join(dataDir, "datasets"), { recursive: true });
  writeFileSync(join(dataDir, "datasets", ".draft.sqlite.filings"), "left");
  await text("import sec", folder);
  assert.ok(!datasets().some((name) => name.includes("draft")));
  const refused = (...options: string[]) =>
    refusal(exitCodes.usage, "import sec", folder, ...options);
  for (const option of ["--merge=", "--encoding=utf-8", "--map=x"])
    assert.match(await refused(option), /unknown option/);
  const words = /Write a number from 0 to 1 with at most three decimals, such as 0\.8\./;
  assert.match(await refused("--min-confidence", "80%"), words);
});

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { allCommands } from "../support/all-commands.ts";
import { cast } from "../support/cast.ts";
import { flipByte } from "../support/damage.ts";
import { importRecords } from "../support/dataset.ts";
import { forEachStore, storePlace } from "../support/for-each-store.ts";
import { startService } from "../support/service.ts";
import { importShared } from "../support/shared-datasets.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function published(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  await importRecords(catalogue, [{ record: "gp", id: "old", name: "Old Partners" }]);
  await importRecords(catalogue, cast);
  const versions = catalogue.versions();
  return { dataDir, versions, folder: temporaryFolder(t), ...allCommands(dataDir) };
}

test("export writes a file for each kind of the current dataset and one workbook for all, and says how many records each has", async (t) => {
  const { text, json, folder, versions } = await published(t);
  const { version, files } = await json("export --format ndjson -o", folder);
  assert.equal(version, versions[1]);
  assert.deepEqual(
    files.map(({ file, records }: { file: string; records: number }) => [file, records]),
    ["gp", "principal", "signal", "project"].map((kind) => [
      join(folder, `${kind}.ndjson`),
      readFileSync(join(folder, `${kind}.ndjson`), "utf8").split("\n").length - 1,
    ]),
  );
  assert.match(
    await text("export --format csv --output", folder),
    /^Dataset \S+\nFILE +RECORDS +BYTES +SHA256\n.*gp\.csv +10 /,
  );
  const made = await json("export --format xlsx -o", folder);
  const found = made.files.map(({ file }: { file: string }) => file);
  assert.deepEqual(found, [join(folder, "records.xlsx")]);
});

test("export takes another version and only the kinds asked for, in the usual order, into a folder it makes", async (t) => {
  const { json, folder, versions } = await published(t);
  const made = join(folder, "new", "one");
  const args = `export --format ndjson --version ${versions[0]} --kind project gp gp --output`;
  await json(args, made);
  assert.deepEqual(readdirSync(made).toSorted(), ["gp.ndjson", "project.ndjson"]);
  assert.match(readFileSync(join(made, "gp.ndjson"), "utf8"), /^\{.*"Old Partners".*\}\n$/);
  assert.equal(readFileSync(join(made, "project.ndjson"), "utf8"), "");
});

test("export says where versions are listed when it is asked for another, and names a folder it cannot use", async (t) => {
  const { refusal, folder } = await published(t);
  assert.equal(
    await refusal(exitCodes.conflict, "export --format csv --version 1"),
    "error: There is no dataset '1'. 'gp-records datasets list' shows all datasets; if this one should be current, 'gp-records doctor' says how to restore it.\n",
  );
  const file = join(folder, "file");
  writeFileSync(file, "");
  assert.match(
    await refusal(exitCodes.usage, "export --format csv -o", join(file, "in")),
    /^error: .*file\/in cannot be used \(ENOTDIR\)\. .*--output\.\n$/,
  );
  assert.match(
    await refusal(exitCodes.usage, "export --format pdf"),
    /Allowed choices are ndjson, csv, parquet, xlsx/,
  );
  const empty = allCommands(temporaryFolder(t));
  assert.match(
    await empty.refusal(exitCodes.conflict, "export --format csv"),
    /No dataset is published yet\. Publish one with 'gp-records import' /,
  );
});

test("a damaged dataset is not exported", async (t) => {
  const { refusal, dataDir, folder, versions } = await published(t);
  flipByte(join(dataDir, "datasets", `${versions[1]}.sqlite`), 20_000);
  assert.match(
    await refusal(exitCodes.conflict, "export --format csv -o", folder),
    /is not the file that was published: its SHA-256 differs/,
  );
  assert.ok(!existsSync(join(folder, "gp.csv")));
});

forEachStore("export reads a dataset from where it is kept, and fetches it first", async (t) => {
  const { dataDir, databaseUrl } = await storePlace(t);
  if (databaseUrl === null) await importRecords(openCatalogue(join(dataDir, "datasets")), cast);
  else await importShared(t, databaseUrl, cast);
  const folder = temporaryFolder(t);
  const { json } = allCommands(dataDir, { DATABASE_URL: databaseUrl ?? "" });
  const { files } = await json("export --format parquet --kind gp -o", folder);
  assert.equal(files[0].records, 10);
});

test("openapi prints what /openapi.json serves under the same settings", async (t) => {
  const settings = { PAGE_SIZE_MAX: "250" };
  const { get, dataDir } = await startService(t, { records: null, settings });
  const { body } = await get("/openapi.json", { "x-api-key": "" });
  const printed = JSON.parse(await allCommands(dataDir, settings).text("openapi"));
  assert.deepEqual(printed, body);
  const { parameters } = printed.paths["/fetch-gp"].get;
  assert.equal(parameters.find(({ name }: any) => name === "limit").schema.maximum, 250);
  assert.equal((await get("/fetch-signals?limit=250")).status, 503);
  assert.equal((await get("/fetch-signals?limit=251")).body.errors[0].maximum, 250);
});

test("openapi.json is what openapi prints; `npm run openapi` writes it anew", async () => {
  assert.equal(readFileSync("openapi.json", "utf8"), await allCommands("unused").text("openapi"));
});

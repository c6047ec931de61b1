import assert from "node:assert/strict";
import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { DatasetFault, open, Problem } from "#library.ts";
import { operations } from "#operations/index.ts";
import { cast } from "./support/cast.ts";
import { importRecords } from "./support/dataset.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

async function publish(dataDir: string) {
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  await importRecords(catalogue, cast);
  const version = catalogue.currentVersion()!;
  return { version, path: catalogue.pathOf(version) };
}

/** The records of a data folder of the test's own. */
async function openPublished(t: TestContext, options?: Parameters<typeof open>[1]) {
  const dataDir = temporaryFolder(t);
  await publish(dataDir);
  return open(dataDir, options);
}

test("a dataset is opened by its file, or as the one published in a data folder, and answers once the files are gone", async (t) => {
  const dataDir = temporaryFolder(t);
  const { version, path } = await publish(dataDir);
  const [byFolder, byFile] = [await open(dataDir), await open(path)];
  rmSync(dataDir, { recursive: true });
  const bodies = [byFolder, byFile].map(({ datasetVersion, fetchGp }) => {
    assert.equal(datasetVersion, version);
    const { body, total } = fetchGp({ gp_name: "stone", limit: 1 });
    assert.equal(total, 2);
    return Buffer.from(body).toString();
  });
  assert.equal(bodies[0], bodies[1]);
});

test("what was answered stays as it was while further answers are made", async (t) => {
  const records = await openPublished(t);
  const first = records.fetchSignals();
  const before = Buffer.from(first.body).toString();
  for (let i = 0; i < 1000; i++) records.fetchGp({ gp_name: "no" });
  assert.equal(Buffer.from(first.body).toString(), before);
  assert.equal(JSON.stringify(first.json()), before);
});

test("faulty parameters throw the problem the service answers, each fault named", async (t) => {
  const { fetchGp, fetchPrincipals, fetchProjects } = await openPublished(t, { pageSizeMax: 5 });
  const faultsOf = (ask: () => void) => {
    try {
      ask();
    } catch (error) {
      assert.ok(error instanceof Problem);
      return error.members.errors!.map(({ parameter, code }) => `${parameter} ${code}`);
    }
    return [];
  };
  const two = faultsOf(() => fetchGp({ gp_name: "k", limit: 6 }));
  assert.deepEqual(two, ["gp_name too_short", "limit out_of_range"]);
  const one = faultsOf(() => fetchProjects({ tag: "ai" } as object));
  assert.deepEqual(one, ["tag unknown_parameter"]);
  const missing = faultsOf(() =>
    fetchPrincipals({ tag: [null], theme: [], limit: null } as object),
  );
  assert.deepEqual(missing, ["tag empty_value", "theme empty_value"]);
  assert.equal(fetchProjects({ gp_name: null, offset: null } as object).total, 2);
});

test("each read and each list of the service is a method, under its name in camel case", async (t) => {
  const methods = new Map<string, unknown>(Object.entries(await openPublished(t)));
  for (const { name, path } of operations) {
    const [verb, rest = ""] = name.split("-");
    const method = methods.get(`${verb}${rest.charAt(0).toUpperCase()}${rest.slice(1)}`);
    assert.throws(
      () => (method as (parameters: object) => void)({ colour: "red" }),
      ({ message }: Problem) => message.includes(`'colour' is not a parameter of ${path}`),
      name,
    );
  }
});

test("a list reads the records at its first call, and gives GPs without principals and signals, in any order", async (t) => {
  const { listGps, listPrincipals, listSignals, listProjects } = await openPublished(t);
  const { data, pagination } = listGps({ market: ["dallas", "new york"], sort: "-name" }).json();
  assert.deepEqual(
    data.map(({ name, signals_total }) => [name, signals_total]),
    [
      ["Stonehaven Realty", 1],
      ["Northwind Residential Partners", 3],
      ["KKR", 0],
    ],
  );
  assert.equal(pagination.total, 3);
  assert.ok(data.every((gp) => !("principals" in gp) && !("signals" in gp)));
  const { id } = data[1]!;
  assert.equal(listPrincipals({ gp_id: id, role: "managing_member" }).total, 1);
  assert.equal(listSignals({ has_gp: false, date_from: "2026" }).total, 1);
  assert.equal(listProjects({ units_min: 120, units_max: 120 }).total, 1);
  assert.throws(
    () => listProjects({ units_min: 2, units_max: 1 }),
    ({ members }: Problem) => members.errors?.[0]?.code === "out_of_order",
  );
});

test("what cannot be opened is refused with its path and the reason, and nothing is made there", async (t) => {
  const dataDir = temporaryFolder(t);
  const refuses = (path: string, words: RegExp) =>
    assert.rejects(open(path), (error) => {
      assert.ok(error instanceof DatasetFault);
      assert.match(error.message, words);
      assert.ok(error.message.includes(dataDir), error.message);
      return true;
    });
  await refuses(join(dataDir, "nothing"), /does not exist/);
  await refuses(dataDir, /no folder 'datasets'/);
  openCatalogue(join(dataDir, "datasets"));
  await refuses(dataDir, /No dataset is published/);
  writeFileSync(join(dataDir, "some.sqlite"), "");
  await refuses(join(dataDir, "some.sqlite"), /is not a dataset/);
  const { path } = await publish(dataDir);
  truncateSync(path, 20_000);
  await refuses(dataDir, /20000 bytes instead of/);
});

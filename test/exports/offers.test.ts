import assert from "node:assert/strict";
import fs, { mkdirSync, readdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { openExportOffers } from "#exports/offers.ts";
import { cast } from "../support/cast.ts";
import { importRecords, temporaryCatalogue } from "../support/dataset.ts";

test("a file is found without a look at other datasets", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const { published } = await importRecords(catalogue, cast);
  const { folder } = catalogue;
  const served = () => published!.version;
  const offers = openExportOffers({ folder, served, program: "1", onMade() {} });
  const mock = t.mock.method(fs, "readdirSync");
  syncBuiltinESMExports();
  const found = offers.find(published!.version, "gp.csv");
  const looks = mock.mock.callCount();
  mock.mock.restore();
  syncBuiltinESMExports();
  assert.deepEqual([found?.records, looks], [published!.records.gp, 0]);
});

test("a folder of exports that cannot be removed keeps no other, and is removed the next time", (t) => {
  const { folder, exportsFolder } = temporaryCatalogue(t);
  const offers = openExportOffers({ folder, served: () => null, program: "1", onMade() {} });
  offers.tidy("none");
  for (const name of ["a", "b", "c"]) mkdirSync(join(exportsFolder, name), { recursive: true });
  const [stuck] = readdirSync(exportsFolder);
  const { rmSync } = fs;
  const mock = t.mock.method(fs, "rmSync", (...args: Parameters<typeof rmSync>) => {
    if (args[0] === join(exportsFolder, stuck!)) throw new Error("EBUSY");
    rmSync(...args);
  });
  syncBuiltinESMExports();
  offers.tidy("none");
  mock.mock.restore();
  syncBuiltinESMExports();
  assert.deepEqual(readdirSync(exportsFolder), [stuck]);
  offers.tidy("none");
  assert.deepEqual(readdirSync(exportsFolder), []);
});

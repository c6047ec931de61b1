import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { cast } from "../support/cast.ts";
import { allCommands } from "../support/all-commands.ts";
import { builtAt, importRecords } from "../support/dataset.ts";
import { fixedClock, startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("the command prints what the path answers", async (t) => {
  const service = await startService(t, { clock: fixedClock(builtAt) });
  const dataDir = temporaryFolder(t);
  await importRecords(openCatalogue(join(dataDir, "datasets")), cast);
  const { json } = allCommands(dataDir);
  assert.deepEqual(await json("vocabulary"), (await service.get("/vocabulary")).body);
});

test("people get a table of the open values and one of the closed lists, of any dataset", async (t) => {
  const dataDir = temporaryFolder(t);
  const { text, refusal } = allCommands(dataDir);
  assert.match(await refusal(exitCodes.conflict, "vocabulary"), /There is no dataset yet/);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published } = await importRecords(catalogue, cast);
  await importRecords(catalogue, [{ record: "gp", id: "a", name: "A", tags: ["only"] }]);
  const [current, former] = [
    await text("vocabulary"),
    await text("vocabulary", published!.version),
  ];
  assert.match(current, /^LIST +VALUE +GPS\ntags +only +1\n\n/);
  assert.match(former, /^markets +Dallas-Fort Worth-Arlington, TX +2$/m);
  assert.match(former, /^CLOSED LIST +VALUE +MEANING$/m);
  assert.match(former, /^provenance\.basis +stated +The source states it\.$/m);
  await refusal(exitCodes.conflict, "vocabulary", "20200101T000000Z-00000000");
});

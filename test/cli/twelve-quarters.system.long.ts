/** Twelve imports of files by the command, of a folder that grows and is corrected, asked over HTTP in the end. */
import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { day } from "../datasets/published.ts";
import { followSequence, type GrowingFolder, type Imports } from "../sponsors/sequence.ts";
import { allCommands } from "../support/all-commands.ts";
import { eventually } from "../support/eventually.ts";
import { forEachStore, type StorePlace, storePlace } from "../support/for-each-store.ts";
import { roomy } from "../support/own-process.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Imports by the command, of files in a folder that is there for this import. */
function importsByCommand(t: TestContext, { dataDir, databaseUrl }: StorePlace): Imports {
  let time = 0;
  const { json } = allCommands(dataDir, { DATABASE_URL: databaseUrl ?? "" }, () => time);
  const files = join(temporaryFolder(t), "sec");
  return {
    catalogue: openCatalogue(join(dataDir, "datasets")),
    async importFolder(folder: GrowingFolder, number: number) {
      time = day(number);
      mkdirSync(files);
      folder.write(files);
      const { outcome, rejected, filings } = await json("import sec", files);
      assert.match(outcome, /^(?:published|unchanged)$/);
      assert.deepEqual([rejected, filings.files_left_out, filings.rejected_rows], [0, [], []]);
      rmSync(files, { recursive: true });
    },
  };
}

forEachStore(
  "twelve quarters, imported one after the other by the command with merges, parts, re-keys and corrections between them, keep every published id of who is still named, and give the records of one import of all",
  async (t) => {
    const place = await storePlace(t);
    const fresh = importsByCommand(t, await storePlace(t));
    const { happened, answering } = await followSequence(26, importsByCommand(t, place), fresh, 3);
    t.diagnostic(JSON.stringify(happened));
    for (const count of Object.values(happened)) assert.ok(count > 0, JSON.stringify(happened));

    const service = await startService(t, { place, records: null });
    await eventually(async () => assert.ok((await fetch(`${service.url}/ready`)).ok));
    const { key } = await service.newKey({ quotas: roomy });
    const ask = async (path: string): Promise<any[]> => {
      const { status, body } = await service.get(path, { "x-api-key": key });
      assert.equal(status, 200, path);
      return body.data;
    };
    for (const [id, holder] of answering.gp) {
      const [gp, ...others] = await ask(`/fetch-gp?gp_name=${id}`);
      assert.deepEqual([gp.id, others], [holder, []]);
    }
    for (const id of answering.principal)
      assert.equal((await ask(`/list-principals?id=${id}`)).length, 1, id);
  },
);

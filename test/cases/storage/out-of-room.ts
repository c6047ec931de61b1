/** An import that finds no room for its dataset. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { exitCodes } from "#cli/command-fault.ts";
import { mainPath, outcomeOf } from "../../support/command-line.ts";
import { ask } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";
import { assertPublished, gp, linesOf, openWorkplace } from "../imports/workplace.ts";

export async function outOfRoomCases(
  caseOf: CaseOf,
  { dataDir, port, key }: TestService,
  folder: string,
): Promise<void> {
  const { catalogue, write, lines } = openWorkplace(dataDir, folder);

  await caseOf(
    "C60 · an import that runs out of room ends with 8 and the bytes it needs, leaves nothing behind, and the dataset before it is served (a limit on the size of files; a full disk: npm run faults)",
    async () => {
      const content = linesOf(
        ...Array.from({ length: 200 }, (_, i) => gp(`${i}`, { description: "x".repeat(3000) })),
      );
      const before = [catalogue.currentVersion(), ...readdirSync(catalogue.folder)];
      const { exitCode, err } = await outcomeOf(
        "/bin/sh",
        [
          "-c",
          'ulimit -f 800; exec "$0" "$@"',
          process.execPath,
          mainPath,
          "import",
          "ndjson",
          write(content, "ndjson"),
          "--source",
          "c60",
        ],
        { ...process.env, DATA_DIR: dataDir },
      );
      assert.equal(exitCode, exitCodes.diskFull, err);
      assert.match(err, /^error: \S+\/datasets needs more than [\d,]+ bytes .*\n$/);
      assert.deepEqual([catalogue.currentVersion(), ...readdirSync(catalogue.folder)], before);
      assert.equal((await ask(port, "/fetch-gp?gp_name=kkr", { key })).status, 200);
      assertPublished(await lines("c60", content));
    },
  );
}

/** Stores whose schema is older or newer than the program. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openStore } from "#store/open-store.ts";
import { controlFile } from "#store/files.ts";
import { command, outcomeOfScript } from "../../support/command-line.ts";
import { allCommands } from "../../support/all-commands.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

export function schemaCases(): void {
  test("C67 · a store of a newer version is refused by name and left byte for byte as it was", async (t) => {
    const dataDir = temporaryFolder(t);
    await command(["accounts", "create", "--name", "Acme"], { dataDir });
    const newer = new DatabaseSync(controlFile(dataDir));
    newer.exec(
      "insert into kysely_migration values ('9999-of-tomorrow', '2030-01-01T00:00:00.000Z')",
    );
    newer.close();
    const before = readFileSync(controlFile(dataDir));
    const names = readdirSync(dataDir);
    const words = /control\.sqlite was written by a newer gp-records: .*'9999-of-tomorrow'/;
    for (const args of [["accounts", "list"], "accounts create --name Birch".split(" ")]) {
      const { exitCode, err } = await command(args, { dataDir });
      assert.equal(exitCode, exitCodes.conflict);
      assert.match(err, words);
    }
    assert.match(await allCommands(dataDir).refusal(exitCodes.conflict, "serve"), words);
    assert.ok(before.equals(readFileSync(controlFile(dataDir))));
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name !== "datasets"),
      names,
    );
  });

  test("C67 · a store without the newest step gets it in one transaction: killed in the middle it is what it was, and the next command brings it up to date", async (t) => {
    const dataDir = temporaryFolder(t);
    const shape = {
      file: controlFile(dataDir),
      migrations: {},
      synchronous: "full",
      busyMilliseconds: 50,
    } as const;
    await (await openStore(shape)).close();
    const { exitCode, err } = await outcomeOfScript(`
      const { openStore } = await import(${JSON.stringify(import.meta.resolve("#store/open-store.ts"))});
      const { controlMigrations } = await import(${JSON.stringify(import.meta.resolve("#store/migrations/index.ts"))});
      const [[name, { up }]] = Object.entries(controlMigrations);
      const killed = { up: async (database) => (await up(database), process.kill(process.pid, "SIGKILL")) };
      await openStore({ ...${JSON.stringify(shape)}, migrations: { [name]: killed } });`);
    assert.equal(exitCode, null, err);
    const half = new DatabaseSync(shape.file);
    const tables = half.prepare("select name from sqlite_schema where name = 'account'").all();
    half.close();
    assert.deepEqual(tables, []);
    const made = await command(["accounts", "create", "--name", "Acme"], { dataDir });
    assert.equal(made.exitCode, exitCodes.done, made.err);
  });
}

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { allCommands } from "../support/all-commands.ts";
import { cast } from "../support/cast.ts";
import { importRecords } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import { newKey, roomy } from "../support/own-process.ts";
import { onPostgres as test, postgresOfFile, runSql, urlOf } from "../support/postgres.ts";
import { startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const page = readFileSync("docs/scaling.md", "utf8");
/** Of the superuser on the server, of the superuser in the database, and of the owner once there are tables. */
const [makeRoles = "", grant = "", restrict = ""] = [...page.matchAll(/```sql\n([^`]+)```/g)].map(
  ([, text]) => text!,
);

test("with the two roles of docs/scaling.md the owner restores into a database, and the role of servers serves it and backs it up", async (t) => {
  const server = await postgresOfFile();
  for (const statement of makeRoles.split(/(?<=;)/).filter((one) => one.trim() !== ""))
    await runSql(server.url, statement);
  const database = urlOf(server, "records");
  await runSql(database, grant);
  const as = (role: string) => {
    const url = new URL(database);
    [url.username, url.password] = [`gp_records_${role}`, `${role.toUpperCase()}-PASSWORD`];
    return url.href;
  };
  const [owner, serving] = [as("owner"), as("server")];
  const commands = (dataDir: string, settings: Record<string, string>) =>
    allCommands(dataDir, settings);
  await commands(temporaryFolder(t), { DATABASE_URL: owner }).text("migrate");
  await runSql(owner, restrict);

  const here = join(temporaryFolder(t), "here");
  await importRecords(openCatalogue(join(here, "datasets")), cast);
  const key = await newKey(here, "Acme", roomy);
  const ask = async (dataDir: string, settings: Record<string, string> = {}) => {
    const one = await startServer(t, { dataDir, settings });
    await eventually(async () =>
      assert.equal((await one.get("/fetch-gp?gp_name=kkr", { "x-api-key": key })).status, 200),
    );
    one.signal("SIGTERM");
    assert.equal((await one.ended).exitCode, 0);
  };

  const file = join(temporaryFolder(t), "moved.tar");
  await commands(here, {}).text("backup", file);
  const restore = ["restore", file, "--to"];
  assert.match(
    await commands(here, {}).refusal(exitCodes.conflict, ...restore, serving),
    /belong to the role 'gp_records_owner', and --to names the role 'gp_records_server'\. Only the owner/,
  );
  assert.deepEqual(await runSql(owner, "select 1 from account"), []);
  await commands(here, {}).text(...restore, owner);
  await ask(temporaryFolder(t), { DATABASE_URL: serving });

  const back = join(temporaryFolder(t), "back");
  const again = join(temporaryFolder(t), "again.tar");
  const onDatabase = commands(temporaryFolder(t), { DATABASE_URL: serving });
  await onDatabase.text("backup", again);
  await onDatabase.text("restore", again, "--to", back);
  await ask(back);
});

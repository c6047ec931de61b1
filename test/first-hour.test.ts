import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commandInOwnProcess, outcomeOf } from "./support/command-line.ts";
import { startServer } from "./support/server-process.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** The commands of the page's first hour, in their order; `serve` is started apart. */
function firstHour(): string[] {
  const page = readFileSync("docs/running.md", "utf8");
  const hour = page.slice(page.indexOf("## The first hour"), page.indexOf("## On a server"));
  const commands = [...hour.matchAll(/`((?:DATA_DIR=\S+ \S+ )?bin\/gp-records [^`]+)`/g)];
  return commands.map(([, command]) => command!).filter((command) => !command.endsWith("serve"));
}

test("the first hour of docs/running.md works word by word in an empty folder", async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, "data");
  const commands = firstHour();
  assert.equal(commands.length, 7);
  let key = "";
  for (const command of commands) {
    const inFolder = command.replaceAll("first.tar", join(folder, "first.tar"));
    const environment = { ...process.env, DATA_DIR: dataDir, PORT: "0" };
    const { exitCode, out, err } = await outcomeOf("bash", ["-c", inFolder], environment);
    assert.equal(exitCode, 0, `${command}: ${err}`);
    key ||= /gpr_\w{36}/.exec(out)?.[0] ?? "";
    if (command.includes("--dry-run")) {
      const args = command.replace(" --dry-run", "").split(" ").slice(1);
      assert.equal((await commandInOwnProcess(args, dataDir)).exitCode, 0);
    }
  }
  const server = await startServer(t, { dataDir });
  const { status, body } = await server.get("/fetch-gp?gp_name=fernhill", { "x-api-key": key });
  assert.equal(status, 200);
  assert.equal(body.data[0].name, "Fernhill Residential");
});

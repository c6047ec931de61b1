/** Another process that holds the write lock of an SQLite file. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Work } from "./work.ts";

const holder = `
  import { DatabaseSync } from "node:sqlite";
  const db = new DatabaseSync(process.argv[1], { timeout: 5000 });
  db.exec("BEGIN IMMEDIATE");
  console.log("held");
  process.stdin.on("end", () => { db.exec("ROLLBACK"); db.close(); }).resume();
`;

/** Resolves once the write lock is held; what it resolves to gives it back. */
export async function hold(work: Work, path: string): Promise<() => Promise<void>> {
  const child = work.adopt(
    spawn(process.execPath, ["--input-type=module", "-e", holder, path], {
      stdio: ["pipe", "pipe", "inherit"],
    }),
  );
  await once(child.stdout, "data");
  return async () => {
    child.stdin.end();
    await once(child, "close");
  };
}

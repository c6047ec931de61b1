/** Another process that holds a database the way a stuck program does, until it is told to end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";

const script = `
  import { DatabaseSync } from "node:sqlite";
  const [file, statements] = process.argv.slice(1);
  const db = new DatabaseSync(file);
  db.exec(statements);
  process.stdout.write("held");
  process.stdin.resume();
`;

/** @returns its pid, once it holds it. */
export async function holdDatabase(
  t: TestContext,
  file: string,
  statements: string,
): Promise<number> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, file, statements], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await once(child.stdout, "data");
  return child.pid!;
}

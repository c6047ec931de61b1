/** Another process that holds a database the way a stuck program does, until it is told to end. */
import { spawn } from "node:child_process";
import { once } from "node:events";

const script = `
  import { DatabaseSync } from "node:sqlite";
  const [file, statements] = process.argv.slice(1);
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec(statements);
  process.stdout.write("held");
  process.stdin.resume();
`;

/** Resolves once it holds it, to what ends it. */
export async function holdDatabase(
  t: { after(end: () => Promise<void>): void },
  file: string,
  statements: string,
): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, file, statements], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const end = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  t.after(end);
  await once(child.stdout, "data");
  return end;
}

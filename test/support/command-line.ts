/** Runs commands of gp-records in a process of their own, as an operator does. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Outcome {
  exitCode: number | null;
  out: string;
  err: string;
}

export const mainPath = fileURLToPath(import.meta.resolve("#cli/main.ts"));

/** Runs a command in another process. */
export function commandInOwnProcess(args: readonly string[], dataDir: string): Promise<Outcome> {
  return outcomeOf(process.execPath, [mainPath, ...args], { ...process.env, DATA_DIR: dataDir });
}

/** What a command printed that must succeed, run in another process. */
export async function commandDone(dataDir: string, ...args: string[]): Promise<string> {
  const { exitCode, out, err } = await commandInOwnProcess(args, dataDir);
  if (exitCode !== 0)
    throw new Error(`gp-records ${args.join(" ")}: exit code ${exitCode}, ${err}`);
  return out;
}

export function outcomeOf(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Outcome> {
  const child = spawn(program, args, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (text) => (out += String(text)));
  child.stderr.on("data", (text) => (err += String(text)));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, out, err }));
  });
}

/** Runs the text of a module in a Node of its own. */
export const outcomeOfScript = (script: string) =>
  outcomeOf(process.execPath, ["--input-type=module", "-e", script], process.env);

/** Reads the log of the server as it is written: JSON lines, without errors, without keys. */
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { beginsSecret } from "./judge-leaks.ts";
import type { Secrets } from "./secrets.ts";

export interface LogWatch {
  /** Resolves to the address the server prints. */
  address: Promise<string>;
  lines(): number;
  /** Takes what has come in since and must not be in a log. */
  takeFaults(): readonly string[];
}

/** pino's numbers: 50 is an error. */
const errorLevel = 50;

export function watchLog(child: ChildProcess, secrets: Secrets): LogWatch {
  const faults: string[] = [];
  let lines = 0;
  const { promise: address, resolve } = Promise.withResolvers<string>();
  const reportError = (text: string) => void faults.push(text.slice(0, 2000));
  createInterface({ input: child.stdout! }).on("line", (line) => {
    const [, url] = /^gp-records answers at (http:\S+)$/.exec(line) ?? [];
    if (url !== undefined) return resolve(url);
    lines++;
    const fault = faultIn(line, secrets);
    if (fault !== null) reportError(`${fault}: ${line}`);
  });
  createInterface({ input: child.stderr! }).on("line", (line) => reportError(`stderr: ${line}`));
  return { address, lines: () => lines, takeFaults: () => faults.splice(0) };
}

function faultIn(line: string, secrets: Secrets): string | null {
  if (beginsSecret(line, secrets)) return "a key in the log";
  try {
    const { level } = JSON.parse(line) as { level: number };
    return level >= errorLevel ? "an error in the log" : null;
  } catch {
    return "a log line that is no JSON";
  }
}

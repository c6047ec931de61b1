/** Reads the log of the server as it is written: JSON lines, without errors, without keys. */
import { beginsSecret } from "./judge-leaks.ts";
import type { Secrets } from "./secrets.ts";

export type LogWatch = ReturnType<typeof openLogWatch>;

/** pino's numbers: 50 is an error. */
const errorLevel = 50;
/** What is printed for people, between the lines of the log. */
const address = /^gp-records answers at http:\S+$/;

export function openLogWatch(secrets: Secrets) {
  const faults: string[] = [];
  let lines = 0;
  let begun = "";
  return {
    /** Takes what the server prints. */
    hear(text: string) {
      const heard = (begun + text).split("\n");
      begun = heard.pop()!;
      for (const line of heard) {
        if (address.test(line)) continue;
        lines++;
        const fault = faultIn(line, secrets);
        if (fault !== null) faults.push(`${fault}: ${line.slice(0, 2000)}`);
      }
    },
    hearError: (text: string) => void faults.push(`stderr: ${text.slice(0, 2000)}`),
    lines: () => lines,
    /** Returns what has come in since the last call and must not be in a log. */
    takeFaults: () => faults.splice(0),
  };
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

/** What `npm run fuzz` was asked to do. */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

export interface FuzzOptions {
  seed: number;
  /** Requests to send at least; 0 for none. */
  requests: number;
  /** Import files to try; 0 for none. */
  imports: number;
  /** Each of the two ends after so long, whatever is left. */
  secondsMax: number;
  /** The one to replay instead, by its number. */
  only: { part: "request" | "import"; number: number } | null;
}

const usage = `npm run fuzz -- [--seed S] [--count N] [--imports N] [--seconds N] [--only N | --only-import N]

  --seed S           begin from this seed; without it one is drawn and printed
  --count N          requests to send, 100000 without it
  --imports N        mutated import files to try, 10000 without it
  --seconds N        end each part after so long, 600 without it
  --only N           replay conversation N of the seed and print it
  --only-import N    replay import N of the seed and print it`;

/** @returns what is wrong, as a text, where an option cannot be used. */
export function readOptions(args: readonly string[]): FuzzOptions | string {
  try {
    return parse(args);
  } catch (error) {
    return `${(error as Error).message}\n\n${usage}`;
  }
}

function parse(args: readonly string[]): FuzzOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string" },
      count: { type: "string", default: "100000" },
      imports: { type: "string", default: "10000" },
      seconds: { type: "string", default: "600" },
      only: { type: "string" },
      "only-import": { type: "string" },
    },
  });
  const numbered = (part: "request" | "import", text: string | undefined, name: string) =>
    text === undefined ? null : { part, number: wholeNumber(name, text) };
  return {
    seed: values.seed === undefined ? randomInt(2 ** 31) : wholeNumber("--seed", values.seed),
    requests: wholeNumber("--count", values.count),
    imports: wholeNumber("--imports", values.imports),
    secondsMax: wholeNumber("--seconds", values.seconds),
    only:
      numbered("request", values.only, "--only") ??
      numbered("import", values["only-import"], "--only-import"),
  };
}

function wholeNumber(name: string, text: string): number {
  if (/^[0-9]{1,10}$/.test(text)) return Number(text);
  throw new Error(`${name} must be a whole number, but is '${text.slice(0, 50)}'.`);
}

/** What a run is asked for on the command line. */
import { parseArgs } from "node:util";
import { rows, type RowName } from "./rows.ts";

/** Everything `--rows` takes: the rows of the table, and the steps of a request. */
export const choices = [...(Object.keys(rows) as RowName[]), "steps"] as const;
export type Choice = (typeof choices)[number];

/** Rows `--profile` can look into. */
const profiled = [
  "warm",
  "log",
  "metrics",
  "cold",
  "cold-650k",
  "start",
  "memory",
  "import",
  "import-p99",
] as const;
export type Profiled = (typeof profiled)[number];

const large: readonly Choice[] = ["cold-650k"];
const quickest: readonly Choice[] = [
  "warm",
  "log",
  "metrics",
  "cold",
  "start",
  "memory",
  "import",
  "steps",
];

export const optionsHelp = {
  quick: "fewer rounds of the most telling rows: a minute or two",
  rows: `only these rows, separated by commas: ${choices.join(", ")}`,
  "650k": "also the rows that need 650,000 records, which take minutes to import",
  compare: "measure another commit of this repository too, in turn with this checkout",
  profile: `where the time or the memory of one row goes, or what its slowest requests waited for: ${profiled.join(", ")}`,
  markdown: "print the table as Markdown, with what it was measured on",
  help: "print this",
} as const;

export interface Options {
  choices: ReadonlySet<Choice>;
  isQuick: boolean;
  compareTo: string | null;
  profile: Profiled | null;
  isMarkdown: boolean;
}

/** The command line cannot be used; the message says why. */
export class OptionFault extends Error {}

/**
 * @returns undefined where help is asked for.
 * @throws OptionFault
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const given = parse(args);
  if (given.help === true) return undefined;
  const isQuick = given.quick === true;
  const compareTo = given.compare ?? null;
  const asked = given.rows?.split(",").map((name) => oneOf("--rows", name.trim(), choices));
  const byDefault = (isQuick ? quickest : choices).filter((one) => !large.includes(one));
  const chosen = new Set(asked ?? byDefault.filter((one) => compareTo === null || one !== "steps"));
  if (given["650k"] === true) for (const one of large) chosen.add(one);
  if (compareTo !== null && chosen.has("steps"))
    throw new OptionFault(
      "--compare cannot measure the row 'steps', which calls the functions of this checkout only; leave it out of --rows.",
    );
  const profile = given.profile === undefined ? null : oneOf("--profile", given.profile, profiled);
  if (profile !== null && compareTo !== null)
    throw new OptionFault("--profile looks at this checkout; leave --compare out.");
  return { choices: chosen, isQuick, compareTo, profile, isMarkdown: given.markdown === true };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean" },
        rows: { type: "string" },
        "650k": { type: "boolean" },
        compare: { type: "string" },
        profile: { type: "string" },
        markdown: { type: "boolean" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new OptionFault((error as Error).message);
  }
}

function oneOf<T extends string>(option: string, name: string, known: readonly T[]): T {
  const found = known.find((one) => one === name);
  if (found !== undefined) return found;
  throw new OptionFault(`${option} does not know '${name}'; it takes ${known.join(", ")}.`);
}

export const helpText = `npm run bench -- [options]

${Object.entries(optionsHelp)
  .map(([name, help]) => `  --${name.padEnd(10)} ${help}`)
  .join("\n")}

docs/bench.md tells how to read what is printed.`;

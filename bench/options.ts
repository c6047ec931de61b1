/** What a run is asked for on the command line. */
import { parseArgs } from "node:util";
import type { Budget } from "./rounds.ts";
import { rows, type RowName } from "./rows.ts";
import { figuresForInterval } from "./statistics.ts";

/** For a table that is published, and for one's own work. */
const thorough: Budget = { rounds: 9, roundsMax: 27, secondsMax: 150 };
const quick: Budget = { rounds: figuresForInterval, roundsMax: figuresForInterval, secondsMax: 60 };

/** What `--only` takes. */
export const choices = Object.keys(rows) as RowName[];

/** Rows that are measured only where they are asked for: they take long, or need what is not installed everywhere. */
const special = choices.filter((row) => /650k|engines|peers/.test(row));
const compared: readonly RowName[] = ["warm", "all", "cold", "start", "memory"];
/** Those of the README, too. */
const quickest: readonly RowName[] = [
  "warm",
  "warm-young",
  "log",
  "log-young",
  "all",
  "all-young",
  "cold",
  "start",
  "memory",
  "import",
  "import-memory",
  "recording",
  "recording-thread",
  "recording-disk",
];

const known = {
  quick: { type: "boolean", help: "fewer rounds of the rows that tell most: some ten minutes" },
  only: {
    type: "string",
    help: `only these rows, separated by commas: ${choices.join(", ")}; without it all but ${special.join(", ")}`,
  },
  rounds: { type: "string", help: "measure at least so many rounds of each row" },
  compare: {
    type: "string",
    help: `measure another commit of this repository too, in turn with this checkout; without --only the rows ${compared.join(", ")}`,
  },
  save: { type: "string", help: "keep the figures in a file, too" },
  merge: {
    type: "boolean",
    help: "measure nothing, and print the figures of the files that are named, or only the rows of --only: the median of these runs with its range",
  },
  help: { type: "boolean", help: "print this" },
} as const;

export interface Options {
  choices: ReadonlySet<RowName>;
  budget: Budget;
  compareTo: string | null;
  /** Where the figures are kept, too. */
  saveTo: string | null;
  /** Files with the figures of earlier runs; where there are any, nothing is measured. */
  merged: readonly string[];
}

/** The command line cannot be used; the message says why. */
export class OptionFault extends Error {}

/**
 * @returns undefined where help is asked for.
 * @throws OptionFault
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values: given, positionals } = parse(args);
  if (given.help === true) return undefined;
  const isQuick = given.quick === true;
  const compareTo = given.compare ?? null;
  const asked = given.only?.split(",").map((name) => oneOf("--only", name.trim(), choices));
  const chosen = new Set(asked ?? defaultChoices(given));
  const peer = [...chosen].find((row) => row.startsWith("peers"));
  if (compareTo !== null && peer !== undefined)
    throw new OptionFault(
      `--compare cannot measure the row '${peer}', which looks at this checkout only; leave it out.`,
    );
  const budget = withRounds(isQuick ? quick : thorough, given.rounds);
  return {
    choices: chosen,
    budget,
    compareTo,
    saveTo: readSaveTo(given),
    merged: readMerged(given, positionals),
  };
}

function readSaveTo({ save, merge, compare }: Given): string | null {
  if (save === undefined) return null;
  if (compare !== undefined || merge === true)
    throw new OptionFault(
      "--save keeps the figures of this checkout; leave --compare and --merge out.",
    );
  return save;
}

function defaultChoices(given: Given): readonly RowName[] {
  if (given.merge === true) return choices;
  const usual = given.compare !== undefined ? compared : given.quick === true ? quickest : choices;
  return usual.filter((one) => !special.includes(one));
}

function readMerged(given: Given, files: readonly string[]): readonly string[] {
  if (given.merge !== true) {
    const [first] = files;
    if (first === undefined) return [];
    throw new OptionFault(`'${first}' belongs to no option; only --merge takes names of files.`);
  }
  const others = Object.keys(given).filter((name) => !["merge", "only"].includes(name));
  if (others.length > 0)
    throw new OptionFault(`--merge measures nothing; leave --${others[0]} out.`);
  if (files.length > 0) return files;
  throw new OptionFault("--merge takes the names of files that --save has written.");
}

/** @param text as it was typed. */
function withRounds(budget: Budget, text: string | undefined): Budget {
  if (text === undefined) return budget;
  const rounds = Number(text);
  if (!/^\d+$/.test(text) || rounds < figuresForInterval || rounds > roundsMax)
    throw new OptionFault(
      `--rounds takes a whole number from ${figuresForInterval}, which an interval needs, to ${roundsMax}, not '${text}'.`,
    );
  return { ...budget, rounds, roundsMax: (rounds * budget.roundsMax) / budget.rounds };
}

const roundsMax = 1000;

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: known });
  } catch (error) {
    throw new OptionFault((error as Error).message);
  }
}

type Given = ReturnType<typeof parse>["values"];

function oneOf<T extends string>(option: string, name: string, known: readonly T[]): T {
  const found = known.find((one) => one === name);
  if (found !== undefined) return found;
  throw new OptionFault(`${option} does not know '${name}'; it takes ${known.join(", ")}.`);
}

export const helpText = `npm run bench -- [options]

${Object.entries(known)
  .map(([name, { help }]) => `  --${name.padEnd(10)} ${help}`)
  .join("\n")}

docs/bench.md tells how to read what is printed.`;

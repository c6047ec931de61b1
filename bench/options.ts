/** What a run is asked for on the command line. */
import { parseArgs } from "node:util";
import { rows, type RowName } from "./rows.ts";
import { figuresForInterval } from "./statistics.ts";

/** How much is measured: enough for one's own work, or for a table that is published. */
export interface Effort {
  /** Rounds at least: of the rows of processor time and starts, and of those that take longer a round. */
  rounds: number;
  longRounds: number;
  /** Where the figures are not known well enough after these, up to so many times as many rounds are measured. */
  roundsFactorMax: number;
  /** Rows that are measured together are given no more rounds than needed after so long. */
  secondsMax: number;
}

const thorough: Effort = {
  rounds: 9,
  longRounds: 7,
  roundsFactorMax: 3,
  secondsMax: 150,
};

const quick: Effort = {
  rounds: figuresForInterval,
  longRounds: figuresForInterval,
  roundsFactorMax: 1,
  secondsMax: 60,
};

/** What `--only` takes. */
export const choices = Object.keys(rows) as RowName[];

const large: readonly RowName[] = [
  "cold-650k",
  "operations-650k",
  "import-650k",
  "import-memory-650k",
  "export-memory-650k",
];
const inOtherFormats: readonly RowName[] = ["cold-ndjson", "cold-csv"];
const onEngines: readonly RowName[] = ["engines-valkey", "engines-postgres", "engines-four"];
const besidePeers: readonly RowName[] = ["peers", "peers-same", "peers-compressed"];
/** Rows that are measured only where they are asked for: they take long, or need what is not installed everywhere. */
const special: readonly RowName[] = [...large, ...inOtherFormats, ...onEngines, ...besidePeers];
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

const optionsHelp = {
  quick: "fewer rounds of the rows of the README: some ten minutes",
  only: `only these rows, separated by commas: ${choices.join(", ")}`,
  rounds: "measure at least so many rounds of each row",
  "650k": "also the rows that need 650,000 records, which take minutes to import",
  peers:
    "what users would take instead: Fastify with pg, with an LRU of answers, doing the same work, compressing; PostGraphile; without --only nothing else",
  compare: `measure another commit of this repository too, in turn with this checkout; without --only the rows ${compared.join(", ")}`,
  markdown: "print the table as Markdown, with what it was measured on",
  save: "keep the figures in a file, too",
  merge:
    "measure nothing, and print the figures of the files that are named, or only the rows of --only: the median of these runs with its range",
  help: "print this",
} as const;

export interface Options {
  choices: ReadonlySet<RowName>;
  effort: Effort;
  compareTo: string | null;
  isMarkdown: boolean;
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
  if (given["650k"] === true) for (const one of large) chosen.add(one);
  if (given.peers === true) for (const one of besidePeers) chosen.add(one);
  for (const one of compareTo === null ? [] : besidePeers)
    if (chosen.has(one))
      throw new OptionFault(
        `--compare cannot measure the row '${one}', which looks at this checkout only; leave it out.`,
      );
  const effort = withRounds(isQuick ? quick : thorough, given.rounds);
  return {
    choices: chosen,
    effort,
    compareTo,
    isMarkdown: given.markdown === true,
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
  if (given.peers === true) return [];
  const usual = given.compare !== undefined ? compared : given.quick === true ? quickest : choices;
  return usual.filter((one) => !special.includes(one));
}

function readMerged(given: Given, files: readonly string[]): readonly string[] {
  if (given.merge !== true) {
    const [first] = files;
    if (first === undefined) return [];
    throw new OptionFault(`'${first}' belongs to no option; only --merge takes names of files.`);
  }
  const others = Object.keys(given).filter((name) => !["merge", "only", "markdown"].includes(name));
  if (others.length > 0)
    throw new OptionFault(`--merge measures nothing; leave --${others[0]} out.`);
  if (files.length > 0) return files;
  throw new OptionFault("--merge takes the names of files that --save has written.");
}

/** @param rounds as it was typed. */
function withRounds(effort: Effort, rounds: string | undefined): Effort {
  if (rounds === undefined) return effort;
  const count = Number(rounds);
  if (!/^\d+$/.test(rounds) || count < figuresForInterval || count > roundsMax)
    throw new OptionFault(
      `--rounds takes a whole number from ${figuresForInterval}, which an interval needs, to ${roundsMax}, not '${rounds}'.`,
    );
  return { ...effort, rounds: count, longRounds: count };
}

const roundsMax = 1000;

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: "boolean" },
        only: { type: "string" },
        rounds: { type: "string" },
        "650k": { type: "boolean" },
        compare: { type: "string" },
        peers: { type: "boolean" },
        markdown: { type: "boolean" },
        save: { type: "string" },
        merge: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
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

${Object.entries(optionsHelp)
  .map(([name, help]) => `  --${name.padEnd(10)} ${help}`)
  .join("\n")}

docs/bench.md tells how to read what is printed.`;

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
  /** Requests a round of one server; a third of it where answers are made anew. */
  perRound: number;
  /** Requests of a new process before those that count: V8 has to compile the path of a request first. */
  warmUp: number;
  stepRounds: number;
}

const thorough: Effort = {
  rounds: 20,
  longRounds: 7,
  roundsFactorMax: 3,
  secondsMax: 150,
  perRound: 10_000,
  warmUp: 25_000,
  stepRounds: 15,
};

const quick: Effort = {
  rounds: figuresForInterval,
  longRounds: figuresForInterval,
  roundsFactorMax: 1,
  secondsMax: 60,
  perRound: 6000,
  warmUp: 20_000,
  stepRounds: 5,
};

/** Everything `--only` takes: the rows of the table, and the steps of a request. */
export const choices = [...(Object.keys(rows) as RowName[]), "steps"] as const;
export type Choice = (typeof choices)[number];

/** What `--profile` can look into: rows, the pages of usage, and what a count costs the engines themselves. */
const profiled = [
  "warm",
  "log",
  "all",
  "cold",
  "cold-650k",
  "engines-valkey",
  "engines-postgres",
  "start",
  "memory",
  "import",
  "import-p99",
  "usage-pages",
  "engines",
] as const;
export type Profiled = (typeof profiled)[number];

const large: readonly Choice[] = [
  "cold-650k",
  "operations-650k",
  "import-650k",
  "import-memory-650k",
  "export-memory-650k",
];
const inOtherFormats: readonly Choice[] = ["cold-ndjson", "cold-csv"];
const onEngines: readonly Choice[] = ["engines-valkey", "engines-postgres", "engines-four"];
/** Rows that are measured only where they are asked for: they take long, or need what is not installed everywhere. */
const special: readonly Choice[] = [...large, ...inOtherFormats, ...onEngines, "peers"];
/** Rows whose figure is no property of a commit alone. */
const ownOnly: readonly Choice[] = ["steps", "peers"];
const compared: readonly Choice[] = ["warm", "log", "all", "cold", "start", "memory"];
const quickest: readonly Choice[] = [...compared, "import", "import-memory", "steps"];

export const optionsHelp = {
  quick: "fewer rounds of the most telling rows: a few minutes",
  only: `only these rows, separated by commas: ${choices.join(", ")}`,
  rounds: "measure at least so many rounds of each row",
  "650k": "also the rows that need 650,000 records, which take minutes to import",
  peers:
    "what users would take instead: Fastify with pg, the same with an LRU of answers, PostGraphile; without --only nothing else",
  compare: `measure another commit of this repository too, in turn with this checkout; without --only the rows ${compared.join(", ")}`,
  profile: `where the time or the memory of one row goes, what its slowest requests waited for, what reading usage takes, or what a count costs PostgreSQL and Redis: ${profiled.join(", ")}`,
  markdown: "print the table as Markdown, with what it was measured on",
  save: "keep the figures in a file, too",
  merge:
    "measure nothing, and print the figures of the files that are named, or only the rows of --only: the median of these runs with its range",
  help: "print this",
} as const;

export interface Options {
  choices: ReadonlySet<Choice>;
  effort: Effort;
  compareTo: string | null;
  profile: Profiled | null;
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
  if (given.peers === true) chosen.add("peers");
  for (const one of compareTo === null ? [] : ownOnly)
    if (chosen.has(one))
      throw new OptionFault(
        `--compare cannot measure the row '${one}', which looks at this checkout only; leave it out.`,
      );
  const profile = given.profile === undefined ? null : oneOf("--profile", given.profile, profiled);
  if (profile !== null && compareTo !== null)
    throw new OptionFault("--profile looks at this checkout; leave --compare out.");
  const effort = withRounds(isQuick ? quick : thorough, given.rounds);
  return {
    choices: chosen,
    effort,
    compareTo,
    profile,
    isMarkdown: given.markdown === true,
    saveTo: readSaveTo(given, profile ?? compareTo),
    merged: readMerged(given, positionals),
  };
}

/** @param other what is asked for that prints no figures of its own. */
function readSaveTo({ save, merge }: Given, other: string | null): string | null {
  if (save === undefined) return null;
  if (other !== null || merge === true)
    throw new OptionFault(
      "--save keeps the figures of this checkout; leave --compare, --profile and --merge out.",
    );
  return save;
}

function defaultChoices(given: Given): readonly Choice[] {
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
        profile: { type: "string" },
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

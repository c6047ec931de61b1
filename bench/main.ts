/** `npm run bench`: measures the program and prints how far it is from what it has to reach, or how it compares with another commit. */
import { type Fixtures, openFixtures } from "./fixtures.ts";
import { helpText, OptionFault, type Options, readOptions } from "./options.ts";
import { linesOf, type Measured, report } from "./report.ts";
import { sizesOf } from "./requests.ts";
import { measureRounds, type Session } from "./rounds.ts";
import { type Figure, ratioOf, rows, type RowName } from "./rows.ts";
import { type CostRow, costSetups, openCost, rowsOnProcessesOf } from "./rows/cost.ts";
import { openDeepOffset } from "./rows/deep-offset.ts";
import { openImport } from "./rows/import.ts";
import { openImportSec } from "./rows/import-sec.ts";
import { openLists } from "./rows/lists.ts";
import { openOperations } from "./rows/operations.ts";
import { openRecording } from "./rows/recording.ts";
import { openRefusedKeys } from "./rows/refused-keys.ts";
import { openMemoryLoad, openMemoryTakeover } from "./rows/memory.ts";
import { openStart } from "./rows/start.ts";
import { openTail } from "./rows/tail.ts";
import { mergedReport, readRun, saveRun } from "./runs.ts";
import { estimate, uncertainty, uncertaintyMax } from "./statistics.ts";

const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

async function run(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (options === undefined) {
      console.log(helpText);
      return exitCodes.done;
    }
    return await runWith(options);
  } catch (error) {
    if (!(error instanceof OptionFault)) throw error;
    console.error(`error: ${error.message}\nnpm run bench -- --help tells what there is.`);
    return exitCodes.usage;
  }
}

/** What is under way; the result alone goes to standard output. */
const tell = (what: string) => console.error(`… ${what}`);

async function runWith(options: Options): Promise<number> {
  if (options.merged.length > 0) {
    console.log(mergedReport(options.merged.map(readRun), options.choices));
    return exitCodes.done;
  }
  const fixtures = openFixtures(options.compareTo, tell);
  const measured = await measure(fixtures, options);
  console.log(report(measured, namesOf(fixtures)));
  if (options.saveTo !== null && measured.figures.length > 0) saveRun(options.saveTo, measured);
  return measured.faults.length === 0 ? exitCodes.done : exitCodes.failed;
}

/** Rows that are measured together. */
interface Group {
  rows: readonly RowName[];
  open(fixtures: Fixtures, wanted: readonly RowName[]): Promise<Session>;
}

const groups: readonly Group[] = [
  ...(Object.keys(costSetups) as CostRow[]).map((row): Group => ({
    rows: rowsOnProcessesOf(row),
    open: (fixtures, wanted) => openCost(row, fixtures, wanted),
  })),
  { rows: ["operations-650k"], open: openOperations },
  { rows: ["lists"], open: (fixtures) => openLists(fixtures, 1) },
  { rows: ["lists-650k"], open: (fixtures) => openLists(fixtures, 10) },
  { rows: ["start", "memory"], open: openStart },
  { rows: ["memory-load"], open: openMemoryLoad },
  { rows: ["memory-takeover"], open: openMemoryTakeover },
  { rows: ["import", "import-memory"], open: (fixtures) => openImport(fixtures, 1) },
  { rows: ["import-650k", "import-memory-650k"], open: (fixtures) => openImport(fixtures, 10) },
  { rows: ["import-sec", "import-sec-xml"], open: openImportSec },
  { rows: ["tail"], open: openTail },
  { rows: ["recording", "recording-thread", "recording-disk"], open: openRecording },
  { rows: ["deep-offset"], open: openDeepOffset },
  { rows: ["refused-keys"], open: openRefusedKeys },
];

async function measure(fixtures: Fixtures, { choices, budget }: Options): Promise<Measured> {
  const figures: Figure[] = [];
  const faults: string[] = [];
  for (const { rows: together, open } of groups) {
    const wanted = together.filter((row) => choices.has(row));
    if (wanted.length === 0) continue;
    tell(`measuring ${wanted.join(", ")}`);
    const wantedOf = (all: readonly Figure[]) => all.filter(({ row }) => wanted.includes(row));
    try {
      const session = await open(fixtures, wanted);
      const isKnown = (all: readonly Figure[]) => areKnown(fixtures, wantedOf(all));
      const found = wantedOf(await measureRounds(session, budget, isKnown));
      for (const { cells } of linesOf(found, namesOf(fixtures))) tell(cells.join(" | "));
      figures.push(...found);
    } catch (error) {
      // What fails must not take the other rows with it.
      faults.push(`${wanted.join(", ")}: ${(error as Error).message}`);
    }
  }
  const asksMix = figures.some(({ row }) => row in costSetups);
  const sizes = asksMix ? sizesOf(await fixtures.mix(), await fixtures.answers()) : null;
  const order = Object.keys(rows);
  figures.sort((a, b) => order.indexOf(a.row) - order.indexOf(b.row));
  return { figures, sizes, faults };
}

const namesOf = ({ checkouts }: Fixtures) => checkouts.map(({ name }) => name);

/** With another commit the ratio has to be known, else each figure. */
function areKnown({ checkouts }: Fixtures, figures: readonly Figure[]): boolean {
  const [own, other] = checkouts.map(({ name }) => figures.filter((one) => one.checkout === name));
  const estimates = own!.map((figure, i) =>
    other === undefined ? estimate(figure.values) : ratioOf(figure, other[i]!),
  );
  return estimates.every((one) => uncertainty(one) <= uncertaintyMax);
}

process.exit(await run(process.argv.slice(2)));

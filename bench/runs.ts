/** Figures of a run kept in a file, and the table of several runs: one run tells how sure its figures are, not what another hour brings. */
import { readFileSync, writeFileSync } from "node:fs";
import { OptionFault } from "./options.ts";
import { asTable, boundsOf, describeRun, type Measured, mixText } from "./report.ts";
import { gradeOf, type Row, type RowName, rows } from "./rows.ts";
import { ownName, type PeerFigure, peerRows } from "./rows/peers.ts";
import { median } from "./statistics.ts";

/** What a file holds, as JSON. */
export interface SavedRun {
  format: typeof format;
  /** RFC 3339. */
  at: string;
  /** Date, commit, Node, machine, command. */
  about: string;
  mix: string | null;
  /** In the order of the rows. */
  figures: { row: RowName; values: number[]; note: string }[];
  peers: PeerFigure[];
}

/** 1 held what was measured before V8 had settled. */
const format = 2;

/** @throws Error where the file cannot be written. */
export function saveRun(path: string, { figures, sizes, peers }: Measured): void {
  const run: SavedRun = {
    format,
    at: new Date().toISOString(),
    about: describeRun(),
    mix: sizes === null ? null : mixText(sizes),
    figures: figures.map(({ row, values, note }) => ({ row, values, note })),
    peers: [...peers],
  };
  writeFileSync(path, `${JSON.stringify(run)}\n`);
}

/** @throws OptionFault where the file is none of ours, or names a row that there is not. */
export function readRun(path: string): SavedRun {
  let run: Partial<SavedRun>;
  try {
    run = JSON.parse(readFileSync(path, "utf8")) as Partial<SavedRun>;
  } catch (error) {
    throw new OptionFault(`--merge cannot read ${path}: ${(error as Error).message}`);
  }
  if (run?.format !== format)
    throw new OptionFault(`${path} is no file of --save, or one of another version of the bench.`);
  const unknown = run.figures!.find(({ row }) => !(row in rows));
  if (unknown !== undefined)
    throw new OptionFault(`${path} holds the row '${unknown.row}', which there is no more.`);
  return run as SavedRun;
}

/** The median of the runs with the lowest and the highest; which runs they are, and what they were measured on. */
export function mergedReport(
  runs: readonly SavedRun[],
  choices: ReadonlySet<RowName>,
  isMarkdown: boolean,
): string {
  const inOrder = runs.toSorted((a, b) => a.at.localeCompare(b.at));
  const list = inOrder.map(({ at, about }) => `- ${at.slice(0, 16)}Z: ${about}`).join("\n");
  const mixes = new Set(inOrder.map(({ mix }) => mix).filter((mix) => mix !== null));
  const lines = (Object.keys(rows) as RowName[])
    .filter((row) => choices.has(row))
    .map((row) => mergedLine(row, inOrder))
    .filter((line) => line !== undefined);
  const peers = peerRows.some((row) => choices.has(row)) ? mergedPeers(inOrder) : [];
  return [
    `${runs.length === 1 ? "One run" : `${runs.length} runs; their median, and in brackets their range`}:`,
    list,
    ...mixes,
    ...(lines.length === 0 ? [] : [asTable([heading, ...lines], isMarkdown)]),
    ...(peers.length === 0 ? [] : [asTable([peersHeading, ...peers], isMarkdown)]),
  ].join("\n\n");
}

const heading = ["row", "floor", "goal", "measured", "range", "runs", "", "how (last run)"];
const peersHeading = ["service", "µs a request", "against gp-records", "memory", "mean body"];

/** Undefined where no run has the row. */
function mergedLine(row: RowName, runs: readonly SavedRun[]): string[] | undefined {
  const found = runs.flatMap((run) => run.figures.filter((one) => one.row === row));
  if (found.length === 0) return undefined;
  const { title, target, show }: Row = rows[row];
  const { value, low, high } = spreadOf(found.map(({ values }) => median(values)));
  const grades = new Set([low, high].map((one) => gradeOf(target, one)));
  return [
    title,
    ...boundsOf(rows[row]),
    show(value),
    `${show(low)} to ${show(high)}`,
    String(found.length),
    grades.size === 1 ? [...grades][0]! : "cannot tell",
    found.at(-1)!.note,
  ];
}

function mergedPeers(runs: readonly SavedRun[]): string[][] {
  const measured = runs.filter(({ peers }) => peers.length > 0);
  const names = [...new Set(measured.flatMap(({ peers }) => peers.map(({ name }) => name)))];
  return names.map((name) => {
    const pairs = measured.flatMap(({ peers }) => {
      const own = peers.find((one) => one.name === ownName)!;
      return peers.filter((one) => one.name === name).map((peer) => ({ peer, own }));
    });
    const show = (figures: readonly number[], digits: number, unit: string) => {
      const { value, low, high } = spreadOf(figures);
      const [middle, from, to] = [value, low, high].map((one) => one.toFixed(digits));
      return `${middle}${unit} (${from} to ${to})`;
    };
    return [
      pairs[0]!.peer.title,
      show(
        pairs.map(({ peer }) => median(peer.microseconds)),
        1,
        "",
      ),
      show(
        pairs.map(({ peer, own }) =>
          median(peer.microseconds.map((one, round) => one / own.microseconds[round]!)),
        ),
        2,
        "×",
      ),
      show(
        pairs.map(({ peer }) => median(peer.megabytes)),
        0,
        " MB",
      ),
      `${(pairs.at(-1)!.peer.bodyBytesMean / 1000).toFixed(1)} kB`,
    ];
  });
}

const spreadOf = (figures: readonly number[]) => ({
  value: median(figures),
  low: Math.min(...figures),
  high: Math.max(...figures),
});

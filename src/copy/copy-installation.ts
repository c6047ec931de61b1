/** Moves an installation to another place: it serves for as long as most is copied, then stops, and what changed follows, the counts last. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { openTakeOver } from "#datasets/take-over.ts";
import type { Clock } from "#limits/clocks.ts";
import { type CountedRequests, openStoredCounts } from "#limits/stored-counts.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { type MoveMark, refuseMarked } from "#store/move-mark.ts";
import { openUsageTakeOver } from "#usage/take-over.ts";
import { type CopiedTable, equalTables, sumTables, type TableSum } from "./equal-tables.ts";
import { keyOf, type Rows } from "./rows.ts";
import { type Installation, openSide, type Side } from "./sides.ts";
import { controlTables, usageTables } from "./tables.ts";

interface CopyOrder {
  source: Installation;
  target: Installation;
  /** Milliseconds since 1970. */
  now(): number;
  clock: Clock;
  /** Told what is done next, in a few words. */
  onStep(step: string): void;
  /** Told once nobody is served from the source any more. */
  onStopped(): void;
  /** Told what was not copied, without a full stop. */
  onWarning(sentence: string): void;
}

export interface Copied {
  from: string;
  to: string;
  datasets: { current: string | null; datasets: number; bytes: number; publications: number };
  /** By name; each was read back from both sides and is the same. */
  tables: readonly (TableSum & { name: string })[];
  /** In the request log. */
  requests: number;
  /** Requests of the last day; null where counts stay where they are. */
  counted: number | null;
  /** How long nobody was served. */
  stoppedMilliseconds: number;
}

/**
 * Can be run again whenever it was interrupted: before the source was marked that begins anew with what is there, after that it finishes.
 * @returns null where all had been done but the last step, which is done now.
 * @throws DomainError where one of the sides does not allow it.
 */
export async function copyInstallation(order: CopyOrder): Promise<Copied | null> {
  const { source: from, target: to } = order;
  if (isSame(from, to))
    throw new DomainError("conflict", "COPY_TO names the installation itself. Name another place.");
  const source = await openSide(from, "DATABASE_URL");
  try {
    const target = await openSide(to, "COPY_TO");
    try {
      // Held until the end: one copy at a time.
      await target.lockImports();
      return await copy(order, source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

const isSame = (a: Installation, b: Installation) =>
  a.databaseUrl === b.databaseUrl &&
  (a.databaseUrl !== null || resolve(a.dataDir!) === resolve(b.dataDir!));

async function copy(order: CopyOrder, source: Side, target: Side): Promise<Copied | null> {
  const { onStep, now } = order;
  const mark = await source.readMark();
  const id = await agreedId(source, target, mark);
  if (mark?.doneAt != null) {
    await target.settle();
    await target.writeMark(null);
    return null;
  }
  await source.refuseMissing();
  // A server that cannot be reached is found while everybody is served.
  await withCounts(order, async () => {});
  const begunAt = new Date(now()).toISOString();
  if ((await target.readMark()) === null) {
    await target.refuseTaken();
    await target.writeMark({ id, side: "target", other: source.name, begunAt, doneAt: null });
  }
  await target.prepare();
  const ways = await openWays(order, source, target);
  try {
    if (mark === null) {
      onStep("datasets");
      await ways.datasets.takeNew(({ version }) => onStep(`dataset ${version}`));
      onStep("accounts, keys and people");
      await equalTables(ways.sourceRows, ways.targetRows, controlTables);
      onStep("totals and the request log");
      await equalTables(ways.sourceUsage, ways.targetUsage, usageTables);
      await ways.log.takeGroups((requests) => onStep(`${requests} requests`));
      onStep("totals, once more");
      await equalTables(ways.sourceUsage, ways.targetUsage, usageTables);
    }
    onStep("stopping what serves the source");
    await source.lockImports();
    const stoppedAt = performance.now();
    const stopping = mark ?? { id, side: "source", other: target.name, begunAt, doneAt: null };
    if (mark === null) await source.writeMark(stopping);
    order.onStopped();
    await source.stop();
    onStep("what changed meanwhile");
    const datasets = await ways.datasets.finish();
    await equalTables(ways.sourceRows, ways.targetRows, controlTables);
    // After a first pass older hours are known to be the same, and there may be millions of them.
    const changing = usageTables.map((table) =>
      mark === null && table.name === "usage_hour"
        ? { ...table, where: `hour >= '${hourText(now() - changingMilliseconds)}'` }
        : table,
    );
    await equalTables(ways.sourceUsage, ways.targetUsage, changing);
    const requests = await ways.log.finish();
    onStep("counts");
    const counted = await copyCounts(order, ways.sourceRows);
    onStep("comparing both sides");
    const tables = [
      ...(await compared(source, target, [ways.sourceRows, ways.targetRows], controlTables)),
      ...(await compared(source, target, [ways.sourceUsage, ways.targetUsage], changing)),
    ];
    await source.writeMark({ ...stopping, doneAt: new Date(now()).toISOString() });
    await target.settle();
    await target.writeMark(null);
    const stoppedMilliseconds = performance.now() - stoppedAt;
    const [copiedFrom, copiedTo] = [source.name, target.name];
    return {
      from: copiedFrom,
      to: copiedTo,
      datasets,
      tables,
      requests,
      counted,
      stoppedMilliseconds,
    };
  } finally {
    ways.close();
  }
}

/**
 * The name of this move: a new one, or that of one that was interrupted.
 * @throws DomainError where one of the sides takes part in another move.
 */
async function agreedId(source: Side, target: Side, mark: MoveMark | null): Promise<string> {
  if (mark?.side === "target") refuseMarked(mark, source.name);
  const theirs = await target.readMark();
  if (theirs?.side === "source") refuseMarked(theirs, target.name);
  if (mark !== null && mark.id !== theirs?.id) refuseMarked(mark, source.name);
  if (theirs !== null && theirs.other !== source.name)
    throw new DomainError(
      "conflict",
      `COPY_TO names ${target.name}, into which a copy of ${theirs.other} was begun. Finish that one, or name an empty place.`,
    );
  return theirs?.id ?? randomUUID();
}

/** Totals of hours that are longer ago do not change any more; what waits is added to theirs within minutes. */
const changingMilliseconds = 7 * dayMilliseconds;

/** As totals name it: `2026-11-21T09`. */
const hourText = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 13);

interface Ways {
  datasets: Awaited<ReturnType<typeof openTakeOver>>;
  log: Awaited<ReturnType<typeof openUsageTakeOver>>;
  sourceUsage: Rows;
  targetUsage: Rows;
  sourceRows: Rows;
  targetRows: Rows;
  close(): void;
}

async function openWays(
  { source: from, target: to, onWarning }: CopyOrder,
  source: Side,
  target: Side,
): Promise<Ways> {
  const sourceRows = await source.openControl();
  const targetRows = await target.openControl();
  const [ofSource, ofTarget] = [await source.openUsage(), await target.openUsage()];
  const datasets = await openTakeOver(datasetsOf(from), datasetsOf(to), onWarning);
  return {
    datasets,
    log: await openUsageTakeOver(ofSource.connection, ofTarget.connection),
    sourceUsage: ofSource.rows,
    targetUsage: ofTarget.rows,
    sourceRows,
    targetRows,
    close() {
      datasets.close();
      ofSource.close();
      ofTarget.close();
      sourceRows.close();
      targetRows.close();
    },
  };
}

const datasetsOf = ({ dataDir, databaseUrl }: Installation) => ({
  folder: dataDir === null ? null : resolve(dataDir, "datasets"),
  databaseUrl,
});

const accountsAtOnce = 256;

/** @returns how many requests are counted; null where both sides count in the same place. */
const copyCounts = (order: CopyOrder, rows: Rows): Promise<number | null> =>
  withCounts(order, async (from, to) => {
    let counted = 0;
    const parts = async function* (): AsyncGenerator<CountedRequests[]> {
      for await (const accounts of accountNumbers(rows)) {
        const part = await from.read(accounts);
        counted += part.reduce((sum, { times }) => sum + times.length, 0);
        yield part;
      }
    };
    await to.replace(parts());
    return counted;
  });

type Counts = Awaited<ReturnType<typeof openStoredCounts>>;

/**
 * Does this with the counts of both sides; nothing where they are the same.
 * @throws StoreFault where a server that counts does not answer, or cannot be used.
 */
async function withCounts<T>(
  { source, target, clock, onWarning }: CopyOrder,
  work: (from: Counts, to: Counts) => Promise<T>,
): Promise<T | null> {
  if (source.countersUrl !== null && source.countersUrl === target.countersUrl) return null;
  const warn = (fault: Error) => onWarning(fault.message.replace(/\.$/, ""));
  const from = await openStoredCounts({ ...source, countersSetting: "COUNTERS_URL" }, clock, warn);
  try {
    const of = { ...target, countersSetting: "COPY_COUNTERS_TO" } as const;
    const to = await openStoredCounts(of, clock, warn);
    try {
      return await work(from, to);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

async function* accountNumbers(rows: Rows): AsyncGenerator<number[]> {
  const shape = { name: "account", key: ["number"], columns: ["number"] };
  for (let after: ReturnType<ReturnType<typeof keyOf>> | null = null; ;) {
    const batch = await rows.read(shape, after, accountsAtOnce);
    if (batch.length === 0) return;
    yield batch.map(([number]) => number as number);
    after = batch.at(-1)!;
  }
}

/** @throws DomainError where a table is not the same on both sides. */
async function compared(
  source: Side,
  target: Side,
  [sourceRows, targetRows]: readonly [Rows, Rows],
  tables: readonly CopiedTable[],
): Promise<Copied["tables"]> {
  const wanted = await sumTables(sourceRows, tables);
  const found = await sumTables(targetRows, tables);
  return [...wanted].map(([name, sum]) => {
    const other = found.get(name)!;
    if (other.sha256 !== sum.sha256)
      throw new DomainError(
        "conflict",
        `The table ${name} has ${sum.rows} rows in ${source.name} and ${other.rows} in ${target.name}, which are not the same, though it was copied. Does somebody else write there? Run \`gp-records copy\` again.`,
      );
    return { name, ...sum };
  });
}

/**
 * Lets the source serve again, whatever was copied.
 * @param isForced although the move was done, so that the other side may have changed meanwhile.
 * @throws DomainError where it was not being moved, or the move was done.
 */
export async function undoCopy(
  installation: Installation,
  isForced: boolean,
): Promise<{ source: string; other: string }> {
  const side = await openSide(installation, "DATABASE_URL");
  try {
    const mark = await side.readMark();
    if (mark === null)
      throw new DomainError(
        "conflict",
        `${side.name} is not being moved: there is nothing to undo.`,
      );
    if (mark.side === "target")
      throw new DomainError(
        "conflict",
        `${side.name} is what is being filled, by a copy of ${mark.other}. Undo it there; this place can then be removed.`,
      );
    if (mark.doneAt !== null && !isForced)
      throw new DomainError(
        "conflict",
        `${side.name} was moved to ${mark.other} at ${mark.doneAt}, and what changed there since is not here: accounts, keys, revocations, counts. With --force it serves from here all the same; stop the servers there first.`,
      );
    await side.lockImports();
    await side.allowChanges();
    await side.writeMark(null);
    return { source: side.name, other: mark.other };
  } finally {
    await side.close();
  }
}

/** Makes tables of one side equal to those of the other, row by row: what is equal already costs no write. */
import { createHash } from "node:crypto";
import { DomainError } from "#store/domain-error.ts";
import { keyOf, type Row, type Rows, type Shape, type Value } from "./rows.ts";

export interface CopiedTable {
  name: string;
  key: readonly string[];
  /** A text beside the key that no two rows may share, and that a row may have taken over from another. */
  unshared?: string;
  /** A number that means so many hundredths, and that one engine stores as a sum of fractions. */
  hundredths?: string;
  /** SQL of which rows are copied; all where it is left out. */
  where?: string;
}

type TableShape = Shape & Pick<CopiedTable, "hundredths">;

const batchRows = 1000;

/**
 * Makes all tables equal in one transaction of the target, as they are at one moment of the source.
 * @param tables parents before those that refer to them. Of one that is not empty, what differs is held in memory.
 * @returns how many rows were added, changed or removed.
 * @throws DomainError `conflict` where the two sides do not have the same columns, or hold what the other cannot.
 */
export async function equalTables(
  source: Rows,
  target: Rows,
  tables: readonly CopiedTable[],
): Promise<number> {
  const found: { table: CopiedTable; shape: TableShape }[] = [];
  for (const table of tables) found.push({ table, shape: await sameShape(source, target, table) });
  let changes = 0;
  await source.reading(() =>
    target.writing(async () => {
      const compared = [];
      for (const { table, shape } of found) {
        const isEmpty = (await target.read(shape, null, 1)).length === 0;
        const differences = isEmpty ? null : await compare(source, target, shape);
        // First, so that a value which goes from one row to another is free in whatever order they are written.
        if (differences !== null && table.unshared !== undefined)
          await free(target, shape, table.unshared, differences);
        compared.push({ shape, differences });
      }
      for (const { shape, differences } of compared) {
        if (differences === null) changes += await fill(source, target, shape);
        else {
          await target.replace(shape, differences.changed);
          await target.insert(shape, differences.added);
          changes += differences.changed.length + differences.added.length;
        }
      }
      for (const { shape, differences } of compared.toReversed()) {
        await target.remove(shape, differences?.removed ?? []);
        changes += differences?.removed.length ?? 0;
      }
    }),
  );
  return changes;
}

export interface TableSum {
  rows: number;
  /** SHA-256 over all rows in the order of their keys, the same on both engines. */
  sha256: string;
}

/** Reads tables as they are at one moment. */
export async function sumTables(
  side: Rows,
  tables: readonly CopiedTable[],
): Promise<Map<string, TableSum>> {
  const sums = new Map<string, TableSum>();
  await side.reading(async () => {
    for (const table of tables) {
      const shape = { ...table, columns: await side.columnsOf(table.name) };
      const digest = createHash("sha256");
      let rows = 0;
      for await (const batch of batches(side, shape)) {
        rows += batch.length;
        for (const row of batch) digest.update(rowText(row));
      }
      sums.set(table.name, { rows, sha256: digest.digest("hex") });
    }
  });
  return sums;
}

async function sameShape(source: Rows, target: Rows, table: CopiedTable): Promise<TableShape> {
  const { name } = table;
  const columns = await source.columnsOf(name);
  const others = await target.columnsOf(name);
  if (columns.length === 0 || String(columns) !== String(others))
    throw new DomainError(
      "conflict",
      `The table ${name} has the columns ${columns.join(", ") || "none"} in ${source.place}, and ${others.join(", ") || "none"} in ${target.place}. Bring both to the schema of this program: \`gp-records migrate\`.`,
    );
  return { ...table, columns };
}

/** Whole rows, but of those that are to be removed the keys. */
interface Differences {
  added: Row[];
  changed: Row[];
  removed: Row[];
}

async function compare(source: Rows, target: Rows, shape: TableShape): Promise<Differences> {
  const differences: Differences = { added: [], changed: [], removed: [] };
  const key = keyOf(shape);
  const wanted = rowsOf(source, shape);
  const present = rowsOf(target, shape);
  let ours = await wanted.next();
  let theirs = await present.next();
  while (!ours.done || !theirs.done) {
    const order = ours.done
      ? 1
      : theirs.done
        ? -1
        : compareKeys(key(ours.value), key(theirs.value));
    if (order < 0) differences.added.push(ours.value!);
    else if (order > 0) differences.removed.push(key(theirs.value!));
    else if (rowText(ours.value!) !== rowText(theirs.value!)) differences.changed.push(ours.value!);
    if (order <= 0) ours = await wanted.next();
    if (order >= 0) theirs = await present.next();
  }
  for (const row of [...differences.added, ...differences.changed]) refuseNul(source, shape, row);
  return differences;
}

async function fill(source: Rows, target: Rows, shape: TableShape): Promise<number> {
  let rows = 0;
  for await (const batch of batches(source, shape)) {
    for (const row of batch) refuseNul(source, shape, row);
    await target.insert(shape, batch);
    rows += batch.length;
  }
  return rows;
}

async function free(
  target: Rows,
  shape: Shape,
  unshared: string,
  { changed, removed }: Differences,
): Promise<void> {
  const key = keyOf(shape);
  // No name, address or form has a control character.
  for (const one of [...changed.map(key), ...removed])
    await target.set(shape, one, unshared, `\u0001${rowText(one)}`);
}

async function* batches(side: Rows, shape: TableShape): AsyncGenerator<Row[], undefined> {
  const key = keyOf(shape);
  const rounded = shape.columns.indexOf(shape.hundredths ?? "");
  for (let after: Row | null = null; ;) {
    const batch: Row[] = await side.read(shape, after, batchRows);
    if (batch.length > 0)
      yield rounded < 0 ? batch : batch.map((row) => row.with(rounded, roundedTo(row[rounded]!)));
    if (batch.length < batchRows) return;
    after = key(batch.at(-1)!);
  }
}

const roundedTo = (value: Value) => Math.round((value as number) * 100) / 100;

async function* rowsOf(side: Rows, shape: TableShape): AsyncGenerator<Row, undefined> {
  for await (const batch of batches(side, shape)) yield* batch;
}

/** PostgreSQL takes no NUL in a text, and what is sent to it instead would be another text. */
function refuseNul({ place }: Rows, { name, key }: Shape, row: Row): void {
  if (row.some((value) => typeof value === "string" && value.includes("\0")))
    throw new DomainError(
      "conflict",
      `A text of the table ${name} in ${place} holds a NUL, which no command writes, and cannot be copied: the row whose ${key.join(", ")} begins ${rowText(row).slice(0, 80)}. Correct it.`,
    );
}

/** The same text for rows that are equal, and for no others; on one line. */
const rowText = (row: Row): string => `${JSON.stringify(row.map(plain))}\n`;

const plain = (value: Value) =>
  value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("hex") } : value;

/** As both engines order keys: numbers by value, texts and bytes byte by byte. */
function compareKeys(a: Row, b: Row): number {
  for (const [i, one] of a.entries()) {
    const order = compareValues(one, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(a: Value, b: Value): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(bytesOf(a), bytesOf(b));
}

const bytesOf = (value: Value): Uint8Array =>
  value instanceof Uint8Array ? value : Buffer.from(String(value));

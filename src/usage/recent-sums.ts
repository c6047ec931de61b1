/** Totals of the last batches, which wait in bytes until several of them are added to those of their hour at once. */
import { sql } from "kysely";
import { hourMilliseconds } from "#store/durations.ts";
import { type AccountOrder, listAccounts } from "#store/request-block.ts";
import type { RequestColumns } from "#store/request-columns.ts";
import type { UsageStore } from "#store/stores.ts";
import type { UsageHourTable } from "#store/usage-tables.ts";
import { hourOf } from "./time.ts";
import { openTuples } from "./tuples.ts";

/** The totals of some accounts in one hour. */
export interface RecentSums {
  hour: string;
  /** As `listAccounts` writes them. */
  accounts: Uint8Array;
  sums: Uint8Array;
}

/** In a row: a page reads rows whole, of several batches. */
const sumsMax = 256;

interface SumsHead {
  count: number;
  keys: readonly string[];
  operations: readonly (readonly [operation: string, status: number])[];
}

/** Members of the numbers that follow the head, and the bytes of each number. */
const columnBytes = 8;
const columns = ["account", "key", "operation", "requests", "hundredths", "bytes"] as const;
type Columns = Record<(typeof columns)[number], Float64Array>;

const headAt = 4;

/** The requests added up by account, key, operation and status, a row for each hour and so many accounts. */
export function sumRequests(requests: RequestColumns, { order }: AccountOrder): RecentSums[] {
  const operations: [string, number][] = [];
  const operationOf = requests.kinds.map(({ operation, status }) => {
    const known = operations.findIndex(([name, other]) => name === operation && other === status);
    return known >= 0 ? known : operations.push([operation, status]) - 1;
  });
  const tuples = openTuples();
  const sums: { requests: number[]; hundredths: number[]; bytes: number[] } = {
    requests: [],
    hundredths: [],
    bytes: [],
  };
  for (const i of order) {
    const place = tuples.placeOf(
      requests.account[i]!,
      requests.key[i]!,
      operationOf[requests.kind[i]!]!,
      Math.floor(requests.at[i]! / hourMilliseconds),
    );
    if (place === sums.requests.length) {
      sums.requests.push(0);
      sums.hundredths.push(0);
      sums.bytes.push(0);
    }
    sums.requests[place]!++;
    sums.hundredths[place]! += requests.hundredths[i]!;
    sums.bytes[place]! += requests.bytes[i]!;
  }
  const all = tuples.all();
  const hours = new Set(all.map(([, , , hour]) => hour));
  return [...hours].flatMap((hour) => {
    const places = [...all.keys()].filter((place) => all[place]![3] === hour);
    const rows: RecentSums[] = [];
    for (let start = 0; start < places.length; start += sumsMax) {
      const own = places.slice(start, start + sumsMax);
      const pick = (of: (place: number) => number) => Float64Array.from(own, of);
      const account = pick((place) => all[place]![0]);
      const keys = [...new Set(own.map((place) => all[place]![1]))];
      const keyPlaces = new Map(keys.map((key, i) => [key, i]));
      const names = keys.map((key) => requests.keys[key]!);
      const values = {
        account,
        key: pick((place) => keyPlaces.get(all[place]![1])!),
        operation: pick((place) => all[place]![2]),
        requests: pick((place) => sums.requests[place]!),
        hundredths: pick((place) => sums.hundredths[place]!),
        bytes: pick((place) => sums.bytes[place]!),
      };
      rows.push({
        hour: hourOf(hour * hourMilliseconds),
        accounts: listAccounts([...new Set(account)]),
        sums: encode(names, operations, values),
      });
    }
    return rows;
  });
}

function encode(
  keys: readonly string[],
  operations: SumsHead["operations"],
  values: Columns,
): Uint8Array {
  const count = values.account.length;
  const head = Buffer.from(JSON.stringify({ count, keys, operations } satisfies SumsHead));
  const bytes = new Uint8Array(headAt + head.length + columns.length * columnBytes * count);
  new DataView(bytes.buffer).setUint32(0, head.length);
  bytes.set(head, headAt);
  let at = headAt + head.length;
  for (const name of columns) {
    bytes.set(new Uint8Array(values[name].buffer), at);
    at += columnBytes * count;
  }
  return bytes;
}

function decode(bytes: Uint8Array): { head: SumsHead; values: Columns } {
  const headEnd = headAt + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const head: SumsHead = JSON.parse(Buffer.from(bytes.subarray(headAt, headEnd)).toString());
  const size = columnBytes * head.count;
  const values = Object.fromEntries(
    columns.map((name, i) => {
      // Copied, because numbers of eight bytes have to begin at a multiple of eight.
      const column = new Uint8Array(size);
      column.set(bytes.subarray(headEnd + i * size, headEnd + (i + 1) * size));
      return [name, new Float64Array(column.buffer)];
    }),
  );
  return { head, values: values as Columns };
}

/** As rows of the table of hours. @param account only its sums; all where it is left out. */
function rowsOf(
  { hour, sums }: Pick<RecentSums, "hour" | "sums">,
  account?: number,
): UsageHourTable[] {
  const { head, values } = decode(sums);
  const rows: UsageHourTable[] = [];
  for (let i = 0; i < head.count; i++) {
    if (account !== undefined && values.account[i] !== account) continue;
    const [operation, status] = head.operations[values.operation[i]!]!;
    rows.push({
      account: values.account[i]!,
      hour,
      key: head.keys[values.key[i]!]!,
      operation,
      status,
      requests: values.requests[i]!,
      bytes: values.bytes[i]!,
      milliseconds: values.hundredths[i]! / 100,
    });
  }
  return rows;
}

/** The sums of several batches, each row of the table of hours once. */
export function foldSums(
  batches: readonly Pick<RecentSums, "hour" | "sums">[],
): Iterable<UsageHourTable> {
  const rows = new Map<string, UsageHourTable>();
  for (const batch of batches)
    for (const row of rowsOf(batch)) {
      const name = `${row.hour} ${row.account} ${row.key} ${row.operation} ${row.status}`;
      const sum = rows.get(name);
      if (sum === undefined) rows.set(name, row);
      else {
        sum.requests += row.requests;
        sum.bytes += row.bytes;
        sum.milliseconds += row.milliseconds;
      }
    }
  return rows.values();
}

const dayLength = "2026-11-21".length;

/** What requests can be added up by, beside their status. */
const parts = {
  account: sql.ref("account"),
  hour: sql.ref("hour"),
  day: sql`substr(hour, 1, ${sql.lit(dayLength)})`,
  key: sql.ref("key"),
  operation: sql.ref("operation"),
};

interface SumParts extends Pick<UsageHourTable, "account" | "hour" | "key" | "operation"> {
  /** Such as `2026-11-21`. */
  day: string;
}

/** Sums of one status. */
export type StatusSums = Pick<UsageHourTable, "status" | "requests" | "bytes" | "milliseconds">;

interface SumsOrder<Part> {
  by: readonly Part[];
  /** All where it is left out. */
  account?: number | undefined;
  /** The first hour. */
  from: string;
  /** The hour after the last. */
  to: string;
}

/** A row of either table: of sums that wait, or of the table of hours, in which the members of the other are null. */
type FoundRow<Row> = (Row & { waiting: null }) | { waiting: Uint8Array; waitingHour: string };

/** A row for each part and status, and more for what waits. */
export async function readSums<Part extends keyof SumParts>(
  { database }: UsageStore,
  { by, account, from, to }: SumsOrder<Part>,
): Promise<(StatusSums & Pick<SumParts, Part>)[]> {
  type Row = StatusSums & Pick<SumParts, Part>;
  const groups = [...by.map((part) => parts[part]), sql.ref("status")];
  const names = by.map((part) => sql`${parts[part]} as ${sql.ref(part)},`);
  const isWanted = sql`hour >= ${from} and hour < ${to}`;
  const isOwn = account === undefined ? sql`` : sql`and account = ${account}`;
  // Its four bytes may also be found across two others: such a row adds nothing.
  const isListed =
    account === undefined ? sql`` : sql`and instr(accounts, ${listAccounts([account])}) > 0`;
  // One statement, because the writer moves sums from one table to the other.
  const { rows } = await sql<FoundRow<Row>>`
    select ${sql.join(names, sql` `)} status, sum(requests) as requests, sum(bytes) as bytes,
      sum(milliseconds) as milliseconds,
      null as waiting, null as "waitingHour"
    from usage_hour where ${isWanted} ${isOwn} group by ${sql.join(groups)}
    union all
    select ${sql.join(
      by.map(() => sql`null,`),
      sql` `,
    )} null, null, null, null,
      sums, hour
    from usage_recent where ${isWanted} ${isListed}`.execute(database);
  return rows.flatMap((row): Row[] => {
    if (row.waiting === null) return [row];
    const { waiting: sums, waitingHour: hour } = row;
    return rowsOf({ hour, sums }, account).map((one) => ({
      ...one,
      day: one.hour.slice(0, dayLength),
    }));
  });
}

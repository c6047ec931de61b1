/** Totals of the last batches, which wait in bytes until several of them are added to those of their hour at once. */
import type { Kysely } from "kysely";
import { hourMilliseconds } from "#store/durations.ts";
import type { AccountOrder } from "#store/request-block.ts";
import type { RequestColumns } from "#store/request-columns.ts";
import type { UsageStore } from "#store/stores.ts";
import type { UsageHourTable, UsageTables } from "#store/usage-tables.ts";
import { hourOf } from "./time.ts";
import { openTuples } from "./tuples.ts";

/** The totals of one hour. */
export interface RecentSums {
  hour: string;
  sums: Uint8Array;
}

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

/** The requests added up by account, key, operation and status, a result for each hour. */
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
  return [...new Set(all.map(([, , , hour]) => hour))].map((hour) => {
    const places = all.flatMap((tuple, place) => (tuple[3] === hour ? [place] : []));
    const pick = (of: (place: number) => number) => Float64Array.from(places, of);
    return {
      hour: hourOf(hour * hourMilliseconds),
      sums: encode(requests.keys, operations, {
        account: pick((place) => all[place]![0]),
        key: pick((place) => all[place]![1]),
        operation: pick((place) => all[place]![2]),
        requests: pick((place) => sums.requests[place]!),
        hundredths: pick((place) => sums.hundredths[place]!),
        bytes: pick((place) => sums.bytes[place]!),
      }),
    };
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
      // A copy, because numbers of eight bytes have to begin at a multiple of eight.
      const column = bytes.slice(headEnd + i * size, headEnd + (i + 1) * size);
      return [name, new Float64Array(column.buffer)];
    }),
  );
  return { head, values: values as Columns };
}

/** As rows of the table of hours. @param account only its sums; all where it is left out. */
function rowsOf({ hour, sums }: RecentSums, account?: number): UsageHourTable[] {
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

interface SumsOrder {
  /** All where it is left out. */
  account?: number | undefined;
  /** The first hour. */
  from: string;
  /** The hour after the last. */
  to: string;
}

/** What is in the table of hours, and after it what is to be added to it: neither of them twice, and all of both. */
export async function readSums<Row>(
  { database }: UsageStore,
  { account, from, to }: SumsOrder,
  rows: {
    settled: (database: Kysely<UsageTables>) => Promise<Row[]>;
    recent: (sums: UsageHourTable) => Row;
  },
): Promise<Row[]> {
  // In one transaction, because the writer moves sums from one table to the other.
  return database
    .transaction()
    .setAccessMode("read only")
    .execute(async (transaction) => {
      const settled = await rows.settled(transaction);
      const batches = await transaction
        .selectFrom("usage_recent")
        .select(["hour", "sums"])
        .where("hour", ">=", from)
        .where("hour", "<", to)
        .execute();
      const recent = batches.flatMap((batch) => rowsOf(batch, account)).map(rows.recent);
      return [...settled, ...recent];
    });
}

/** The sums of several batches, each row of the table of hours once. */
export function foldSums(batches: readonly RecentSums[]): Iterable<UsageHourTable> {
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

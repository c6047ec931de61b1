/**
 * Writes batches: to `usage.sqlite`, each in one transaction, or to PostgreSQL, where a batch counts once even if it is
 * sent again after a lost answer.
 */
import type { DatabaseSync } from "node:sqlite";
import { hourMilliseconds, hourOf } from "#store/durations.ts";
import type { UsageHourTable } from "#store/usage-schema.ts";
import type { PostgresSession } from "#store/postgres.ts";
import { type Batch, type ChunkRequest, type NumberedBatch, requestsIn } from "./recording.ts";

/** Statement that writes a key's last use, unless the stored one is later. */
const rememberKeyUse = `
  insert into key_use (key_id, last_used_at, network) values (?, ?, ?)
  on conflict (key_id) do update set last_used_at = excluded.last_used_at, network = excluded.network
  where key_use.last_used_at < excluded.last_used_at`;

const addToHour = `
  insert into usage_hour (account, hour, key, operation, status, requests, bytes, milliseconds)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (account, hour, key, operation, status) do update set
    requests = requests + excluded.requests, bytes = bytes + excluded.bytes,
    milliseconds = milliseconds + excluded.milliseconds`;

const addRequest = `
  insert into request (account, at, key, operation, status, hundredths, bytes, dataset, problem, id, query)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * Returns a function that writes one batch in one transaction, and throws whatever node:sqlite throws.
 * @param keepsLog true to log each request, besides adding it to the sums.
 */
export function openWrites(connection: DatabaseSync, keepsLog: boolean): (batch: Batch) => void {
  const remember = connection.prepare(rememberKeyUse);
  const hour = connection.prepare(addToHour);
  const request = connection.prepare(addRequest);
  const findWord = connection.prepare(
    "insert into word (word) values (?) on conflict (word) do update set word = word returning number",
  );
  /** Numbers of words. The table keeps words for good. */
  const known = new Map<string, number>();

  const numberOf = (word: string): number =>
    known.getOrInsertComputed(word, () => Number(findWord.get(word)!["number"]));
  const write = ({ keyUse, requests: chunk }: Batch) => {
    for (const { key_id, last_used_at, network } of keyUse)
      remember.run(key_id, last_used_at, network);
    const sums = openHourSums(chunk.words);
    // The first word stands for null.
    const numbers = keepsLog ? [null, ...chunk.words.slice(1).map(numberOf)] : [];
    for (const one of requestsIn(chunk)) {
      sums.add(one);
      if (keepsLog)
        request.run(
          one.account,
          one.at,
          numbers[one.key]!,
          numbers[one.operation]!,
          one.status,
          one.hundredths,
          one.bytes,
          numbers[one.dataset]!,
          numbers[one.problem]!,
          packRequestId(one.requestId),
          one.query,
        );
    }
    // Values are bound by position, because node:sqlite takes twice as long to bind them by name.
    for (const sum of sums.rows()) {
      const { account, key, operation, status, requests, bytes, milliseconds } = sum;
      hour.run(account, sum.hour, key, operation, status, requests, bytes, milliseconds);
    }
  };
  return (batch) => {
    connection.exec("begin immediate");
    try {
      write(batch);
      connection.exec("commit");
    } catch (error) {
      // The rollback may remove words that this batch added.
      known.clear();
      // On a full disk, SQLite may already have rolled back by itself.
      if (connection.isTransaction) connection.exec("rollback");
      throw error;
    }
  };
}

type Query = PostgresSession["query"];

/**
 * Returns a function that writes one batch, and resolves with the number of its newest logged request; null if there is
 * none. The batch may have been written even if the function rejects. Another call with the same number counts the
 * batch only once, even if the server runs the first statement later.
 * @param query runs SQL on the current session.
 * @param keepsLog true to log each request, besides adding it to the sums.
 * @param writer id of the writer that numbers the batches.
 */
export function openPostgresWrites(
  query: Query,
  keepsLog: boolean,
  writer: string,
): (numbered: NumberedBatch) => Promise<number | null> {
  const numbersOf = openWords(query);
  return async ({ number, batch: { keyUse, requests } }) => {
    if (keyUse.length > 0) await query(rememberKeyUses, [JSON.stringify(keyUse)]);
    if (requests.count === 0) return null;
    const sums = openHourSums(requests.words);
    const numbers = keepsLog ? await numbersOf(requests.words) : [];
    const logged: object[] = [];
    for (const one of requestsIn(requests)) {
      sums.add(one);
      if (keepsLog) logged.push(rowOf(one, numbers));
    }
    const writtenAt = new Date().toISOString();
    const values = [writer, number, writtenAt, JSON.stringify(sums.rows()), JSON.stringify(logged)];
    const add = { name: "usage_add", text: addBatch };
    return (await query<{ newest: number | null }>(add, values))[0]!.newest;
  };
}

/**
 * Statement that adds a batch. The writer's row prevents duplicates: a repeated statement waits until the first is
 * committed or rolled back. It then adds its batch only if the batch number in the row is lower. Sums are added in a
 * fixed order, so that instances cannot deadlock.
 */
const addBatch = `
  with once as (
    insert into usage_writer (id, batch, written_at) values ($1, $2, $3)
    on conflict (id) do update set batch = excluded.batch, written_at = excluded.written_at
      where usage_writer.batch < excluded.batch
    returning 1
  ), of_hours as (
    insert into usage_hour
    select own.* from once, json_populate_recordset(null::usage_hour, $4) as own
    order by account, hour, key, operation, status
    on conflict (account, hour, key, operation, status) do update set
      requests = usage_hour.requests + excluded.requests,
      bytes = usage_hour.bytes + excluded.bytes,
      milliseconds = usage_hour.milliseconds + excluded.milliseconds
  ), logged as (
    insert into request (account, at, key, operation, status, hundredths, bytes, dataset, problem, id, query)
    select account, at, key, operation, status, hundredths, bytes, dataset, problem, id, query
    from once, json_populate_recordset(null::request, $5)
    returning number
  )
  select max(number) as newest from logged`;

/** Statement that writes keys' last use, in a fixed order, so that instances cannot deadlock. */
const rememberKeyUses = `
  insert into key_use select * from json_populate_recordset(null::key_use, $1) order by key_id
  on conflict (key_id) do update set last_used_at = excluded.last_used_at, network = excluded.network
    where key_use.last_used_at < excluded.last_used_at`;

/** Statement that adds words in a fixed order, so that instances cannot deadlock, and returns all their numbers. */
const addWords = `
  insert into word (word) select * from unnest($1::text[]) order by 1
  on conflict (word) do update set word = excluded.word returning word, number`;

const rowOf = ({ requestId, ...others }: ChunkRequest, numbers: WordNumbers) => ({
  ...others,
  // JSON can represent a NUL, but PostgreSQL's text cannot contain one.
  query: others.query?.replaceAll("\0", "\uFFFD") ?? null,
  key: numbers[others.key],
  operation: numbers[others.operation],
  dataset: numbers[others.dataset],
  problem: numbers[others.problem],
  id: `\\x${Buffer.from(packRequestId(requestId)).toString("hex")}`,
});

/** Numbers of a chunk's words, by word index; null at index 0. */
type WordNumbers = readonly (number | null)[];

/** Returns a function that finds the numbers of words. It adds missing words to the table, where they stay for good. */
function openWords(query: Query): (words: readonly string[]) => Promise<WordNumbers> {
  const known = new Map<string, number>();
  return async ([, ...words]) => {
    const unknown = words.filter((word) => !known.has(word));
    if (unknown.length > 0) {
      const found = await query<{ word: string; number: number }>(addWords, [unknown]);
      for (const { word, number } of found) known.set(word, number);
    }
    return [null, ...words.map((word) => known.get(word)!)];
  };
}

/** Adds up a batch's requests by hour, account, key, operation and status. @param words the chunk's words. */
function openHourSums(words: readonly string[]) {
  const all = new Map<string, Omit<UsageHourTable, "milliseconds"> & { hundredths: number }>();
  return {
    add({ at, account, key, operation, status, bytes, hundredths }: ChunkRequest) {
      const name = `${Math.floor(at / hourMilliseconds)} ${account} ${key} ${operation} ${status}`;
      const sum = all.getOrInsertComputed(name, () => ({
        account,
        hour: hourOf(at),
        key: words[key]!,
        operation: words[operation]!,
        status,
        requests: 0,
        bytes: 0,
        hundredths: 0,
      }));
      sum.requests++;
      sum.bytes += bytes;
      sum.hundredths += hundredths;
    },
    rows: (): readonly UsageHourTable[] =>
      Array.from(all.values(), ({ hundredths, ...sum }) => ({
        ...sum,
        milliseconds: hundredths / 100,
      })),
  };
}

/**
 * Digits of Crockford's base 32, as in `http/routes.ts`. The service's own request ids are `req_` and 26 digits. They
 * are packed into 16 bytes. Other ids keep their characters.
 */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const digits = new Uint8Array(128);
for (let i = 0; i < alphabet.length; i++) digits[alphabet.charCodeAt(i)] = i;
const ownId = new RegExp(`^req_[${alphabet}]{26}$`);
/**
 * Numbers in a packed id: the time, and two halves of the random part. Each has its place and length in text and bytes.
 */
const numbersOfId = [
  { from: 4, letters: 10, at: 0, bytes: 6 },
  { from: 14, letters: 8, at: 6, bytes: 5 },
  { from: 22, letters: 8, at: 11, bytes: 5 },
] as const;
const packedBytes = 16;
/** Lowest first byte of an id that is not packed. The first byte of a packed time is lower until the year 3084. */
const firstCharacter = 0x20;
const timeMax = firstCharacter * 2 ** 40;

const packed = Buffer.alloc(packedBytes);

/** Returns an ASCII id as bytes, packed if it is the service's own. Packed bytes are valid until the next call. */
export function packRequestId(id: string): Uint8Array {
  if (!ownId.test(id)) return Buffer.from(id, "latin1");
  for (const { from, letters, at, bytes } of numbersOfId) {
    let value = 0;
    for (let i = from; i < from + letters; i++) value = value * 32 + digits[id.charCodeAt(i)]!;
    if (at === 0 && value >= timeMax) return Buffer.from(id, "latin1");
    packed.writeUIntBE(value, at, bytes);
  }
  return packed;
}

/** Returns the id that `packRequestId` turned into these bytes. */
export function readRequestId(stored: Uint8Array): string {
  const buffer = Buffer.from(stored);
  if (stored.length !== packedBytes || stored[0]! >= firstCharacter)
    return buffer.toString("latin1");
  let id = "req_";
  for (const { letters, at, bytes } of numbersOfId) {
    const value = buffer.readUIntBE(at, bytes);
    for (let left = letters - 1; left >= 0; left--)
      id += alphabet[Math.floor(value / 32 ** left) % 32]!;
  }
  return id;
}

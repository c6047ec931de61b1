/** Writes each batch to `usage.sqlite` in one transaction, with prepared statements. */
import type { DatabaseSync } from "node:sqlite";
import { hourMilliseconds, hourOf } from "#store/durations.ts";
import type { UsageHourTable } from "#store/usage-schema.ts";
import { type Batch, requestsIn, type ChunkRequest } from "./recording.ts";

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
  const addWord = connection.prepare("insert into word (word) values (?) on conflict do nothing");
  const findWord = connection.prepare("select number from word where word = ?");
  /** Numbers of words. The table keeps words for good. */
  const known = new Map<string, number>();

  const numberOf = (word: string): number =>
    known.getOrInsertComputed(word, () => {
      addWord.run(word);
      return Number(findWord.get(word)!["number"]);
    });
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

/** Opens sums of a batch's requests by hour, account, key, operation and status. @param words the chunk's words. */
export function openHourSums(words: readonly string[]) {
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
 * Digits of Crockford's base 32, as in `http/routes.ts`. One of the service's own request ids is `req_` and 26 digits,
 * and is packed into 16 bytes. Any other id keeps its characters.
 */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const digits = new Uint8Array(128);
for (let i = 0; i < alphabet.length; i++) digits[alphabet.charCodeAt(i)] = i;
const ownId = new RegExp(`^req_[${alphabet}]{26}$`);
/**
 * Numbers in a packed id, each with its place and length in text and in bytes: time, and two halves of the random part.
 */
const numbersOfId = [
  { from: 4, letters: 10, at: 0, bytes: 6 },
  { from: 14, letters: 8, at: 6, bytes: 5 },
  { from: 22, letters: 8, at: 11, bytes: 5 },
] as const;
const packedBytes = 16;
/** Lowest first byte of an id that is not packed. A packed time begins lower until the year 3084. */
const firstCharacter = 0x20;
const timeMax = firstCharacter * 2 ** 40;

const packed = Buffer.alloc(packedBytes);

/** Packs an id of ASCII characters. The result for one of the service's own ids is valid until the next call. */
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

/** Returns the id that was packed into these bytes. */
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

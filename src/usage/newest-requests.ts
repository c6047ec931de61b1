/** The newest requests that a filter lets pass, out of blocks of the request log that come in any order. */
import { StoreFault } from "#store/domain-error.ts";
import { randomBytes, readOwnId } from "#store/own-request-id.ts";
import { decodeBlock } from "#store/request-block.ts";
import type { RequestColumns } from "#store/request-columns.ts";
import { type StatusClass, statusClassOf } from "./status-class.ts";

/** Times are milliseconds since 1970; `until` is exclusive. */
export interface RequestFilter {
  key?: string | undefined;
  operation?: string | undefined;
  statusClass?: StatusClass | undefined;
  requestId?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** A request in the order of the log: the newest is the greatest. */
export interface Place {
  at: number;
  number: number;
}

const isBefore = (one: Place, other: Place): boolean =>
  one.at < other.at || (one.at === other.at && one.number < other.number);

/** The newest requests of blocks that come in any order. A request that comes twice is taken once. */
export interface Newest {
  /** What is older is not shown. To be told before anything is added. */
  startAt(start: Place): void;
  /** Only requests of this time can be among them: from the first up to and including the second. */
  span(): [number, number];
  /** @param name of the block, for the error if it cannot be read. */
  add(name: string, content: Uint8Array): void;
  /** The newest first. */
  found(): Found[];
}

/** Where a request that may be among the newest is. */
export interface Found extends Place {
  columns: RequestColumns;
  i: number;
}

interface NewestOrder {
  account: number | undefined;
  filter: RequestFilter;
  limit: number;
  after?: Place | undefined;
}

export function openNewest({ account, filter, limit, after }: NewestOrder): Newest {
  let firstNumber = 0;
  let since = filter.since ?? 0;
  const until = Math.min(after?.at ?? maxTime, (filter.until ?? maxTime) - 1);
  let found: Found[] = [];

  /** Sorts out what more than the limit are older than; now and then, as it costs more than to keep it. */
  const cut = () => {
    const numbers = new Set<number>();
    found = found
      .toSorted((one, other) => (isBefore(one, other) ? 1 : -1))
      .filter(({ number }) => !numbers.has(number) && numbers.add(number))
      .slice(0, limit);
    if (found.length === limit) since = Math.max(since, found.at(-1)!.at);
  };
  const addFrom = (columns: RequestColumns) => {
    const isFit = filterOf(columns, filter);
    if (isFit === undefined) return;
    let least = found.length >= limit ? found[limit - 1]! : undefined;
    for (let i = columns.count - 1; i >= 0; i--) {
      const at = columns.at[i]!;
      if (at < since || at > until) continue;
      const place = { at, number: columns.number[i]! };
      if (place.number < firstNumber || !isFit(i)) continue;
      if (after !== undefined && !isBefore(place, after)) continue;
      if (least !== undefined && isBefore(place, least)) continue;
      found.push({ ...place, columns, i });
      if (found.length < 2 * limit + 100) continue;
      cut();
      least = found.length >= limit ? found[limit - 1]! : undefined;
    }
    cut();
  };
  return {
    startAt({ number, at }) {
      firstNumber = number;
      since = Math.max(since, at);
    },
    span: () => [since, until],
    add(name, content) {
      try {
        const columns = decodeBlock(content, account);
        if (columns !== undefined) addFrom(columns);
      } catch (error) {
        throw new StoreFault(
          "unusable",
          `${name} of the request log is damaged: ${(error as Error).message}. Restore a backup.`,
          { cause: error },
        );
      }
    },
    found: () => found,
  };
}

/** Later than any request, and greater than any number. */
export const maxTime = Number.MAX_SAFE_INTEGER;

/** Tells whether a request is to be shown, whatever its time; undefined where none of them is. */
function filterOf(
  columns: RequestColumns,
  { key, operation, statusClass, requestId }: RequestFilter,
): ((i: number) => boolean) | undefined {
  const { kinds, keys } = columns;
  const kindsFit = kinds.map(
    (kind) =>
      (operation === undefined || kind.operation === operation) &&
      (statusClass === undefined || statusClassOf(kind.status) === statusClass),
  );
  const keysFit = keys.map((one) => key === undefined || one === key);
  if (!kindsFit.includes(true) || !keysFit.includes(true)) return undefined;
  const isId = requestId === undefined ? undefined : idTest(columns, requestId);
  return (i) =>
    kindsFit[columns.kind[i]!]! && keysFit[columns.key[i]!]! && (isId === undefined || isId(i));
}

function idTest(columns: RequestColumns, id: string): (i: number) => boolean {
  const wanted = new Uint8Array(randomBytes);
  const made = readOwnId(id, wanted, 0);
  const texts = columns.texts?.();
  const { at, sinceMade, random } = columns;
  return (i) => {
    if (sinceMade[i] === 0) return texts!.ids[i] === id;
    if (at[i]! - sinceMade[i]! + 1 !== made) return false;
    return wanted.every((byte, place) => random[i * randomBytes + place] === byte);
  };
}

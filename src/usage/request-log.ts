/** The request log of an account, newest first, page by page; and a request by its id. */
import { sql } from "kysely";
import { randomBytes, readOwnId } from "#store/own-request-id.ts";
import { listAccounts } from "#store/request-block.ts";
import { requestAt } from "#store/request-columns.ts";
import type { UsageStore } from "#store/stores.ts";
import { blocksWith, hashOfId } from "./groups.ts";
import {
  type Found,
  maxTime,
  type Newest,
  openNewest,
  type Place,
  type RequestFilter,
} from "./newest-requests.ts";
import type { AnsweredRequest } from "./request-chunk.ts";

/** A request as the log stores it. */
export interface LoggedRequest extends AnsweredRequest {
  /** ISO time at which it was answered. */
  at: string;
}

interface PageOrder {
  account: number;
  filter?: RequestFilter;
  limit: number;
  /** `next` of the page before; any other text means the first page. */
  after?: string | undefined;
}

interface RequestPage {
  requests: LoggedRequest[];
  /** Null on the last page. */
  next: string | null;
}

export async function readRequests(usage: UsageStore, order: PageOrder): Promise<RequestPage> {
  const { account, filter = {}, limit, after } = order;
  const newest = openNewest({
    account,
    filter,
    limit: limit + 1,
    after: after === undefined ? undefined : readPlace(after),
  });
  await addAll(newest, usage, account, filter);
  const found = newest.found();
  const last = found[limit - 1];
  return {
    requests: found.slice(0, limit).map(requestOf),
    next: found.length > limit ? `${last!.at}-${last!.number}` : null,
  };
}

async function addAll(
  newest: Newest,
  usage: UsageStore,
  account: number,
  filter: RequestFilter,
): Promise<void> {
  if (filter.requestId !== undefined) return addWithId(newest, usage, filter.requestId);
  const groupedAt = await addRecent(newest, usage, account);
  if (groupedAt >= newest.span()[0]) await addGrouped(newest, usage, account);
}

const pageSize = 1000;

/** For more than one page; stops after `countMax` requests. */
export async function* requestsInPages(
  usage: UsageStore,
  { account, filter = {}, countMax }: Omit<PageOrder, "limit" | "after"> & { countMax: number },
): AsyncGenerator<LoggedRequest[]> {
  let after: string | null | undefined;
  for (let left = countMax; left > 0 && after !== null;) {
    const limit = Math.min(left, pageSize);
    const page = await readRequests(usage, { account, filter, limit, after });
    if (page.requests.length > 0) yield page.requests;
    left -= page.requests.length;
    after = page.next;
  }
}

interface FindOrder {
  /** All accounts where it is left out. */
  account?: number | undefined;
  filter: RequestFilter & { requestId: string };
  limit: number;
}

/** Newest first; a client may give many requests the same id. */
export async function findRequests(
  usage: UsageStore,
  { account, filter, limit }: FindOrder,
): Promise<LoggedRequest[]> {
  const newest = openNewest({ account, filter, limit });
  await addWithId(newest, usage, filter.requestId);
  return newest.found().map(requestOf);
}

const recentName = (number: number) => `Row ${number} of request_recent`;
const blockName = (number: number) => `Row ${number} of request_block`;

interface BlockRow {
  number: number;
  content: Uint8Array;
}

/** The first few are enough for most pages. */
const blocksAtOnce = [2, 16] as const;

interface RecentRow {
  startNumber: number;
  startAt: number;
  groupedAt: number | null;
  /** The members of a block are null where there is none. */
  number: number | null;
  lastAt: number;
  content: Uint8Array;
}

/** @returns the time of the newest request of the account that is in a group; 0 where none is. */
async function addRecent(newest: Newest, usage: UsageStore, account: number): Promise<number> {
  // Its four bytes may also be found across two others: a block without the account adds nothing.
  const isListed = sql`instr(accounts, ${listAccounts([account])}) > 0`;
  let before = maxTime;
  let groupedAt = 0;
  for (let limit: number = blocksAtOnce[0]; ; limit = blocksAtOnce[1]) {
    const [since, until] = newest.span();
    const { rows } = await sql<RecentRow>`
      select log.number as "startNumber", log.at as "startAt",
        (select max(last_at) from request_run where account = ${account}) as "groupedAt",
        recent.number, recent.last_at as "lastAt", content
      from request_log_start as log left join (
        select number, last_at, content from request_recent
        where number < ${before} and last_at >= ${since} and first_at <= ${until} and ${isListed}
        order by number desc limit ${limit}) as recent on true
      order by recent.number desc`.execute(usage.database);
    for (const { startNumber, startAt, number, lastAt, content, ...row } of rows) {
      newest.startAt({ number: startNumber, at: startAt });
      groupedAt = Math.max(groupedAt, row.groupedAt ?? 0);
      if (number === null) return groupedAt;
      if (lastAt >= newest.span()[0]) newest.add(recentName(number), content);
      before = number;
    }
    if (rows.length < limit) return groupedAt;
  }
}

async function addGrouped(newest: Newest, usage: UsageStore, account: number): Promise<void> {
  let before = { lastAt: maxTime, block: maxTime };
  for (let limit: number = blocksAtOnce[0]; ; limit = blocksAtOnce[1]) {
    const [since, until] = newest.span();
    const { rows } = await sql<BlockRow & { lastAt: number }>`
      select block as number, last_at as "lastAt", content
      from request_run cross join request_block
      where request_block.number = block and account = ${account} and (last_at, block) < (${before.lastAt}, ${before.block})
        and last_at >= ${since} and first_at <= ${until}
      order by last_at desc, block desc limit ${limit}`.execute(usage.database);
    for (const { number, lastAt, content } of rows) {
      if (lastAt < newest.span()[0]) return;
      newest.add(blockName(number), content);
      before = { lastAt, block: number };
    }
    if (rows.length < limit) return;
  }
}

/** Only blocks that have the bytes of the id in them are read, and those that may have it compressed. */
async function addWithId(newest: Newest, usage: UsageStore, id: string): Promise<void> {
  const bytes = new Uint8Array(randomBytes);
  const made = readOwnId(id, bytes, 0);
  const { rows: starts } = await sql<Place>`select number, at from request_log_start`.execute(
    usage.database,
  );
  newest.startAt(starts[0]!);
  const [since, until] = newest.span();
  const { rows: recent } = await sql<BlockRow>`
    select number, content from request_recent
    where last_at >= ${since} and first_at <= ${until} and (
      instr(content, ${Buffer.from(JSON.stringify(id))}) > 0
      or first_made <= ${made} and last_at >= ${made} and instr(content, ${bytes}) > 0)`.execute(
    usage.database,
  );
  for (const { number, content } of recent) newest.add(recentName(number), content);
  const { rows: own } = await sql<BlockRow>`
    select request_block.number, content
    from request_group cross join request_block
    where request_block.number between request_group.number and request_group.last
      and first_made <= ${made} and last_at >= ${Math.max(made, since)} and first_at <= ${until}
      and instr(content, ${bytes}) > 0`.execute(usage.database);
  for (const { number, content } of own) newest.add(blockName(number), content);
  const { bucket, rest } = hashOfId(id);
  const { rows: texts } = await sql<{ group: number; entries: Uint8Array }>`
    select group_number as "group", entries from request_text_id where bucket = ${bucket}`.execute(
    usage.database,
  );
  for (const { group, entries } of texts)
    for (const place of blocksWith(rest, entries)) {
      const { rows: blocks } = await sql<BlockRow>`
        select number, content from request_block where number = ${group + place}`.execute(
        usage.database,
      );
      for (const { number, content } of blocks) newest.add(blockName(number), content);
    }
}

/** The position after a page: time and number of its last request. */
function readPlace(text: string): Place | undefined {
  const [, at, number] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  return at === undefined ? undefined : { at: Number(at), number: Number(number) };
}

/** Each member is named, because to copy all but one takes several times as long. */
function requestOf({ columns, i }: Found): LoggedRequest {
  const request = requestAt(columns, i);
  return {
    at: new Date(request.at).toISOString(),
    account: request.account,
    key: request.key,
    operation: request.operation,
    status: request.status,
    milliseconds: request.milliseconds,
    bytes: request.bytes,
    dataset: request.dataset,
    problem: request.problem,
    requestId: request.requestId,
    query: request.query,
  };
}

/** What the pages of usage and of the request log cost to read, with two million requests in the log. */
import { openUsage } from "#store/stores.ts";
import { connectUsage } from "#usage/connection.ts";
import { openChunkDraft } from "#usage/request-chunk.ts";
import { readRequests, requestsInPages } from "#usage/request-log.ts";
import { openRetention } from "#usage/retention.ts";
import { readBars, readTotalsByKey } from "#usage/totals.ts";
import { openWrites } from "#usage/writes.ts";
import { makeRequestId } from "#http/request-id.ts";
import type { Fixtures } from "../fixtures.ts";
import { asText } from "../report.ts";
import { median } from "../statistics.ts";

const [batches, batchSize, batchMilliseconds] = [400, 5000, 200_000];
const begin = Date.UTC(2026, 10, 10);
const end = begin + batches * batchMilliseconds;
const day = 86_400_000;
/** One has some 70 of 1,000 requests, the other one of them. */
const accounts = { "most requests": 1, "fewest requests": 999 };
const [pageSize, csvLines] = [40, 10_000];
const [times, csvTimes, warmUps] = [50, 5, 5];

export async function profileUsagePages(fixtures: Fixtures): Promise<string> {
  const dataDir = fixtures.emptyFolder();
  await fill(dataDir);
  const usage = await openUsage(dataDir);
  const middle = (begin + end) / 2;
  const reads: Record<string, (account: number) => Promise<unknown>> = {
    "a page of requests": (account) => readRequests(usage, { account, limit: pageSize }),
    "a page of refused ones": (account) =>
      readRequests(usage, { account, limit: pageSize, filter: { statusClass: "4xx" } }),
    "a page of some days ago": (account) =>
      readRequests(usage, { account, limit: pageSize, filter: { until: middle } }),
    "days and keys of a usage page": async (account) => {
      await readBars(usage, { account, unit: "day", count: 30, now: end });
      await readTotalsByKey(usage, { account, since: end - 30 * day, until: end });
    },
  };
  const lines = [];
  for (const [name, read] of Object.entries(reads))
    lines.push([name, ...(await medians(read, times))]);
  const csv = async (account: number) => {
    let count = 0;
    for await (const page of requestsInPages(usage, { account, countMax: csvLines }))
      count += page.length;
    return count;
  };
  lines.push([`CSV of ${csvLines} requests at most`, ...(await medians(csv, csvTimes))]);
  await usage.close();
  return [
    `Median times in milliseconds, with ${batches * batchSize} requests of 201 accounts.`,
    asText([["the account with", ...Object.keys(accounts)], ...lines]),
  ].join("\n\n");
}

/** Of each account. */
async function medians(
  read: (account: number) => Promise<unknown>,
  count: number,
): Promise<string[]> {
  const found = [];
  for (const account of Object.values(accounts)) {
    const took: number[] = [];
    for (let i = -warmUps; i < count; i++) {
      const begun = performance.now();
      await read(account);
      if (i >= 0) took.push(performance.now() - begun);
    }
    found.push(median(took).toFixed(2));
  }
  return found;
}

/** As the writer thread does it, a batch at a time. */
async function fill(dataDir: string): Promise<void> {
  const connection = await connectUsage(dataDir, 1000);
  const write = openWrites(connection, true);
  const tidy = openRetention(connection, { logDays: 14, logRowsMax: 2 * batches * batchSize });
  const draft = openChunkDraft();
  for (let batch = 0; batch < batches; batch++) {
    const now = begin + (batch + 1) * batchMilliseconds;
    for (let i = 0; i < batchSize; i++) {
      const at = now - batchMilliseconds + Math.floor((i * batchMilliseconds) / batchSize);
      const place = (i * 7919) % 1000;
      const account = place === 0 ? accounts["fewest requests"] : 1 + Math.floor(place ** 2 / 5000);
      draft.add(at, {
        account,
        key: `key_${String(account).padStart(16, "k")}`,
        operation: ["fetch-gp", "fetch-signals"][i % 2]!,
        status: i % 50 === 0 ? 429 : 200,
        milliseconds: (i % 400) / 10,
        bytes: (i * 37) % 30_000,
        dataset: "20261121T090000Z-1",
        problem: null,
        requestId: makeRequestId(at),
        query: null,
      });
    }
    write({ kind: "requests", rows: draft.take(), now });
    while (tidy(now));
  }
  connection.close();
}

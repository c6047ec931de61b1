/** A whole service on a free port, with records, an account and a key, for the length of one test. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import pino from "pino";
import { createAccount } from "#accounts/accounts.ts";
import { readConfig } from "#config.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { issueKey } from "#keys/keys.ts";
import type { Quotas } from "#limits/policy.ts";
import { openService } from "#service.ts";
import { cast } from "./cast.ts";
import { useControl } from "./control.ts";
import { importRecords } from "./dataset.ts";
import { type ReadAnswer, readAnswer } from "./described.ts";
import { eventually } from "./eventually.ts";
import { type StorePlace, storePlace } from "./for-each-store.ts";
import { longPatience } from "./limits-shared.ts";
import { importShared } from "./shared-datasets.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export type Answer = ReadAnswer;

export type TestService = Awaited<ReturnType<typeof startService>>;

interface KeyOptions {
  isDemo?: boolean;
  expiresAt?: number | null;
  quotas?: Partial<Quotas>;
}

export type TestClock = ReturnType<typeof fixedClock>;

/** A clock that stands still until a test moves it. */
export function fixedClock(startMilliseconds = Date.parse("2026-11-21T09:00:00Z")) {
  let seconds = 0;
  return {
    bootId: "boot-of-the-tests",
    monotonicMicroseconds: () => 5_000_000_000 + seconds * 1e6,
    wallMilliseconds: () => startMilliseconds + seconds * 1000,
    now: () => startMilliseconds + seconds * 1000,
    advance: (by: number) => void (seconds += by),
  };
}

interface Options {
  records?: readonly unknown[] | null;
  settings?: Record<string, string>;
  dataDir?: string;
  /** Another service's; else a fresh one, on the engine of the test. */
  place?: StorePlace;
  clock?: TestClock;
  /** Whether those who count are to be given up as soon as in earnest; else no count depends on how busy the machine of the test is. */
  hasOutages?: boolean;
}

export async function startService(t: TestContext, options: Options = {}) {
  const { records = cast, settings = {}, clock = fixedClock() } = options;
  let stop = async () => {};
  // Before the folder's own, so that the service has stopped when the folder goes.
  t.after(() => stop());
  const place = options.place ?? (await placeOf(t, options));
  const { dataDir, databaseUrl } = place;
  if (records !== null && databaseUrl !== null) await importShared(t, databaseUrl, records);
  else if (records !== null)
    await importRecords(openCatalogue(join(dataDir, "datasets")), records, {
      nowMilliseconds: clock.now(),
    });
  const log: string[] = [];
  const logger = pino(
    { level: settings["LOG_LEVEL"] ?? "info", base: null },
    { write: (lines) => void log.push(...lines.trimEnd().split("\n")) },
  );
  // What a service answers must not depend on how busy the machine of the test is.
  const calm = { EVENT_LOOP_DELAY_MAX_MS: "0" };
  const config = readConfig({
    PORT: "0",
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl ?? "",
    ...calm,
    ...settings,
  });
  const patience = options.hasOutages === true ? undefined : longPatience;
  const service = await openService(config, logger, { clock, now: clock.now, patience });
  stop = async () => {
    stop = async () => {};
    await service.stop();
  };
  let accounts = 0;
  const newKey = ({ isDemo = false, expiresAt = null, quotas = {} }: KeyOptions = {}) =>
    useControl(place, async (control) => {
      const account = await createAccount(control, {
        name: `account ${process.hrtime.bigint()} ${++accounts}`,
        quotas,
        now: clock.now(),
      });
      const { id, key } = await issueKey(control, {
        account,
        name: "test",
        expiresAt,
        isDemo,
        now: clock.now(),
      });
      return { id, key, account: account.id };
    });
  const { key } = await newKey();
  const url = await service.start();
  // The dataset of a database is fetched first.
  if (databaseUrl !== null && records !== null)
    await eventually(async () => assert.ok((await fetch(`${url}/ready`)).ok));
  return {
    url,
    port: Number(new URL(url).port),
    /** Where metrics are served; null without ADMIN_ADDRESS. */
    adminAddress: service.adminAddress(),
    server: service.server,
    dataDir,
    /** Where its accounts and its usage are. */
    place,
    key,
    /** Log lines so far. */
    log,
    clock,
    /** A key of a new account. */
    newKey,
    stop: () => stop(),
    /** A GET with the key, unless `headers` say otherwise; `x-api-key: ""` sends none. */
    async get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
      const sent = new Headers({ "x-api-key": key, ...headers });
      if (sent.get("x-api-key") === "") sent.delete("x-api-key");
      return readAnswer(await fetch(url + path, { method, headers: sent }), path);
    },
  };
}

async function placeOf(t: TestContext, { dataDir, settings }: Options): Promise<StorePlace> {
  const url = settings?.["DATABASE_URL"];
  if (dataDir === undefined && url === undefined) return storePlace(t);
  return { dataDir: dataDir ?? temporaryFolder(t), databaseUrl: url ?? null };
}

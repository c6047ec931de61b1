/** What all rows stand on: records, the mix and published data folders, each made once and only if a row needs it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Checkout, checkOut, ownCheckout } from "./checkouts.ts";
import { temporaryFolder } from "./clean-up.ts";
import { dataFolderOver, importRecords } from "./data-folders.ts";
import { issueKeys } from "./issue-keys.ts";
import { type LoadClient, startLoadClient } from "./load.ts";
import { makeMix, type Mix } from "./mix.ts";
import { sizeTimes, writeRecords, type RecordsFile } from "./records.ts";
import { requestsOf } from "./requests.ts";

/** How many accounts, with a key each, ask the mix. */
export const keyCount = 200;

/** A data folder with records and keys, which no server holds. */
export interface Published {
  dataDir: string;
  keys: string[];
  /** Name under which the load client knows the mix, asked with these keys. */
  requests: string;
}

export interface Ground {
  checkouts: readonly Checkout[];
  load: LoadClient;
  mix(): Promise<Mix>;
  /** Canonical records, 65,000 times `factor`. */
  records(factor: number): Promise<RecordsFile>;
  /** As many others. */
  otherRecords(): Promise<RecordsFile>;
  published(checkout: Checkout, factor: number): Promise<Published>;
  /** A data folder of its own over what is published, for one server. */
  serverFolder(published: Published): string;
  /** An empty folder. */
  emptyFolder(): string;
}

const otherSeed = 7;

export function layGround(compareTo: string | null, tell: (what: string) => void): Ground {
  const folder = temporaryFolder("bench");
  const checkouts = compareTo === null ? [ownCheckout] : [ownCheckout, checkOut(compareTo, folder)];
  const load = startLoadClient();
  let folders = 0;

  const emptyFolder = () => {
    const path = join(folder, String(++folders));
    mkdirSync(path);
    return path;
  };
  const records = once((factor: number) => {
    tell(`inventing ${65 * factor},000 records`);
    return writeRecords(join(folder, `records-${factor}.ndjson`), sizeTimes(factor));
  });
  const otherRecords = once<void, RecordsFile>(() =>
    writeRecords(join(folder, "other-records.ndjson"), sizeTimes(1, otherSeed)),
  );
  const mix = once<void, Mix>(async () => makeMix((await records(1)).gps));
  const published = once(async (name: string): Promise<Published> => {
    const [place, factor] = JSON.parse(name) as [number, number];
    const { name: checkout, root } = checkouts[place]!;
    const dataDir = emptyFolder();
    const { path } = await records(factor);
    tell(`importing ${65 * factor},000 records with ${checkout}`);
    await importRecords(root, dataDir, path);
    const keys = await issueKeys(root, dataDir, keyCount);
    load.prepare(name, requestsOf(await mix(), keys));
    return { dataDir, keys, requests: name };
  });

  return {
    checkouts,
    load,
    emptyFolder,
    records,
    otherRecords,
    mix,
    published: (checkout, factor) =>
      published(JSON.stringify([checkouts.indexOf(checkout), factor])),
    serverFolder: ({ dataDir }) => dataFolderOver(dataDir, emptyFolder()),
  };
}

/** Makes a thing at the first call for it, and gives the same one from then on. */
function once<K, T>(make: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const made = new Map<K, Promise<T>>();
  return (key) => {
    let thing = made.get(key);
    if (thing === undefined) made.set(key, (thing = make(key)));
    return thing;
  };
}

/** An import into the folder of a server that is asked meanwhile, and so is a bare server that no import concerns. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { stolenTicks } from "./calm-seconds.ts";
import type { Checkout } from "./checkouts.ts";
import { importRecords } from "./data-folders.ts";
import { fetchOnce } from "./fetch-once.ts";
import type { Ground, Published } from "./ground.ts";
import { allServed, type LoadClient, startLoadClient } from "./load.ts";
import type { RequestWaits } from "./request-waits.ts";
import { requestsOf, sizesOf } from "./requests.ts";
import { type RunningServer, startBare, startProgram } from "./servers.ts";

const perSecond = 200;
const connections = 16;
const takeoverSecondsMax = 60;

/** A server and who asks it. */
export interface AskedServer {
  server: RunningServer;
  client: LoadClient;
}

/** Requests of the seconds in which the machine was not away; of all, where it always was. */
export interface Asked {
  microseconds: number[];
  /** Of requests that were watched; empty where none was. */
  waits: RequestWaits;
}

export interface Scene {
  program: AskedServer;
  bare: AskedServer;
  /** Asks 200 times a second, second by second, as long as it is to go on; the mix from its beginning. */
  askOn(
    whom: AskedServer,
    goesOn: (second: number) => boolean,
    isWatched?: boolean,
  ): Promise<Asked>;
  /** Settles when the records of the file are served. */
  importAndServe(path: string): Promise<void>;
  end(): Promise<void>;
}

export async function laySceneOfImport(ground: Ground, checkout: Checkout): Promise<Scene> {
  const published = await ground.published(checkout, 1);
  const { keys, requests } = published;
  const dataDir = ownCopy(ground, published);
  const server = await startProgram({ root: checkout.root, dataDir, isWatched: true });
  const bare = await startBare(await sizesOf(await ground.mix(), server.port, keys[0]!));
  const bareClient = startLoadClient();
  bareClient.prepare(requests, requestsOf(await ground.mix(), keys));
  return {
    program: { server, client: ground.load },
    bare: { server: bare, client: bareClient },
    askOn: (whom, goesOn, isWatched = false) => askOn(whom, requests, goesOn, isWatched),
    importAndServe: (path) => importAndServe(checkout, server.port, keys[0]!, dataDir, path),
    async end() {
      await Promise.all([server.stop(), bare.stop()]);
    },
  };
}

/** An import adds to the folder, so it must not be the one others share. */
function ownCopy(ground: Ground, { dataDir }: Published): string {
  const copy = ground.emptyFolder();
  for (const name of ["datasets", "control.sqlite"])
    cpSync(join(dataDir, name), join(copy, name), { recursive: true });
  return copy;
}

async function askOn(
  { server, client }: AskedServer,
  requests: string,
  goesOn: (second: number) => boolean,
  isWatched: boolean,
): Promise<Asked> {
  const [all, calm] = [noneAsked(), noneAsked()];
  for (let second = 0; goesOn(second); second++) {
    const stolen = stolenTicks();
    const { microseconds, waits } = allServed(
      await client.run({
        port: server.port,
        requests,
        connections,
        count: perSecond,
        firstRequest: second * perSecond,
        secondsMax: 2,
        perSecond,
        ...(isWatched && { watchedPid: server.pid }),
      }),
    );
    for (const kept of stolenTicks() === stolen ? [all, calm] : [all]) {
      kept.microseconds.push(...microseconds);
      for (const of of waitKinds) kept.waits[of].push(...(waits?.[of] ?? []));
    }
  }
  return calm.microseconds.length > 0 ? calm : all;
}

const waitKinds = ["askedAt", "server", "client"] as const;

const noneAsked = (): Asked => ({
  microseconds: [],
  waits: { askedAt: [], server: [], client: [] },
});

async function importAndServe(
  { root }: Checkout,
  port: number,
  key: string,
  dataDir: string,
  path: string,
): Promise<void> {
  const versionServed = async () => {
    const { headers } = await fetchOnce(port, "/fetch-signals?limit=1", { "x-api-key": key });
    return headers["dataset-version"];
  };
  const before = await versionServed();
  await importRecords(root, dataDir, path);
  const deadline = performance.now() + takeoverSecondsMax * 1000;
  while ((await versionServed()) === before)
    if (performance.now() > deadline) throw new Error("The new dataset is not served.");
    else await setTimeout(100);
}

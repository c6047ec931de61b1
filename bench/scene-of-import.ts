/** An import into the folder of a server that is asked meanwhile, and so is a bare server that no import concerns. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Checkout } from "./checkouts.ts";
import { importRecords } from "./data-folders.ts";
import type { Effort } from "./effort.ts";
import { fetchOnce } from "./fetch-once.ts";
import type { Ground, Published } from "./ground.ts";
import { startLoadClient } from "./load.ts";
import { type Asked, type AskedServer, askOn } from "./paced-load.ts";
import { requestsOf, sizesOf } from "./requests.ts";
import { type RunningServer, startBare, startProgram } from "./servers.ts";

/** How long is asked without an import, for each round of waiting times. */
const calmSeconds = 2;
const secondsMax = 8;
const takeoverSecondsMax = 60;

export interface Scene {
  server: RunningServer;
  /** Asks the program 200 times a second while nothing is imported, until enough seconds were calm. */
  askAlone(isWatched?: boolean): Promise<Asked>;
  /** Asks both 200 times a second while this many datasets are imported and taken over, one after the other. */
  askBesideImports(
    imports: number,
    isWatched?: boolean,
  ): Promise<{ ofProgram: Asked; ofBare: Asked }>;
  end(): Promise<void>;
}

export async function laySceneOfImport(
  ground: Ground,
  checkout: Checkout,
  { waitRounds }: Effort,
): Promise<Scene> {
  const published = await ground.published(checkout, 1);
  const files = [await ground.otherRecords(), await ground.records(1)];
  const { keys, requests } = published;
  const dataDir = ownCopy(ground, published);
  const server = await startProgram({ root: checkout.root, dataDir, isWatched: true });
  const bareServer = await startBare(await sizesOf(await ground.mix(), server.port, keys[0]!));
  const bareClient = startLoadClient();
  bareClient.prepare(requests, requestsOf(await ground.mix(), keys));
  const program: AskedServer = { server, client: ground.load, requests };
  const bare: AskedServer = { server: bareServer, client: bareClient, requests };
  return {
    server,
    askAlone: (isWatched = false) =>
      askOn(
        program,
        (seconds, calm) => calm < calmSeconds * waitRounds && seconds < secondsMax * waitRounds,
        isWatched,
      ),
    async askBesideImports(imports, isWatched = false) {
      let isOver = false;
      const importAll = async () => {
        for (let i = 0; i < imports; i++)
          await importAndServe(checkout, server.port, keys[0]!, dataDir, files[i % 2]!.path);
      };
      const [ofProgram, ofBare] = await Promise.all([
        askOn(program, () => !isOver, isWatched),
        askOn(bare, () => !isOver, isWatched),
        importAll().finally(() => (isOver = true)),
      ]);
      return { ofProgram, ofBare };
    },
    async end() {
      await Promise.all([server.stop(), bareServer.stop()]);
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

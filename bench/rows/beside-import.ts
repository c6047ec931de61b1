/** What readers notice of an import on the same machine: 200 requests a second before it and beside it (C58, F12). */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Checkout, type Fixtures, importRecords, type Published } from "../fixtures.ts";
import { type AskedServer, askAtPace, startLoadClient } from "../load.ts";
import { watchOwnDelay } from "../machine.ts";
import { fetchOnce, requestsOf } from "../requests.ts";
import { openSession, type Session } from "../rounds.ts";
import { askInside, type RunningServer, startBare } from "../servers.ts";
import { median, quantile } from "../statistics.ts";

export const openBesideImport = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const servers = await openImportedServer(fixtures, checkout);
    const { server } = servers;
    // What is asked is remembered then, both before an import and until its dataset is taken over.
    await servers.askAlone();
    const rounds: { before: Watched<number[]>; beside: Watched<BothResults> }[] = [];
    const middle = (figure: (round: (typeof rounds)[number]) => number) =>
      median(rounds.map(figure)).toFixed(1);
    return {
      async sample() {
        const before = await watched(server, () => servers.askAlone());
        const beside = await watched(server, () => servers.askBesideImport());
        rounds.push({ before, beside });
        return {
          "import-gap": beside.delay,
          "import-p99": p99Of(beside.result.ofProgram) / p99Of(before.result),
        };
      },
      note: (row) =>
        row === "import-gap"
          ? `${middle(({ before }) => before.delay)} ms before; ${middle(({ beside }) => beside.idleDelay)} ms in an idle process`
          : `${middle(({ beside }) => p99Of(beside.result.ofProgram))} ms against ${middle(({ before }) => p99Of(before.result))}; ${middle(({ beside }) => p99Of(beside.result.ofBare))} ms at a bare server meanwhile`,
      close: () => servers.close(),
    };
  });

/** In ms. */
const p99Of = (microseconds: readonly number[]) => quantile(microseconds, 0.99) / 1000;

interface Watched<T> {
  result: T;
  /** Longest event-loop delay of the server, and of this process, which has next to nothing to do; ms. */
  delay: number;
  idleDelay: number;
}

async function watched<T>(server: RunningServer, run: () => Promise<T>): Promise<Watched<T>> {
  const own = watchOwnDelay();
  await askInside(server, "beginDelay");
  const result = await run();
  return { result, delay: await askInside<number>(server, "endDelay"), idleDelay: own.end() };
}

const undisturbedSeconds = 4;
const secondsMax = 12;
const takeoverSecondsMax = 60;

/** µs of each request. */
interface BothResults {
  ofProgram: number[];
  ofBare: number[];
}

/** A server into whose folder records are imported, and a bare one that no import concerns. */
export interface ImportedServer {
  server: RunningServer;
  /** Asks the program 200 times a second while nothing is imported, until enough seconds had no steal time. */
  askAlone(): Promise<number[]>;
  /**
   * Asks both 200 times a second while a dataset is imported and taken over.
   * @param settleMilliseconds goes on for so long after the take-over.
   */
  askBesideImport(settleMilliseconds?: number): Promise<BothResults>;
  close(): Promise<void>;
}

export async function openImportedServer(
  fixtures: Fixtures,
  checkout: Checkout,
): Promise<ImportedServer> {
  const published = await fixtures.published(checkout, 1);
  const files = [await fixtures.otherRecords(), await fixtures.records(1)];
  const { keys, requests } = published;
  const dataDir = ownCopy(fixtures, published);
  const server = await fixtures.start(checkout, { dataDir, isWatched: true });
  const bareServer = await startBare(await fixtures.answers());
  const bareClient = startLoadClient();
  bareClient.prepare(requests, requestsOf(await fixtures.mix(), keys));
  const program: AskedServer = { server, client: fixtures.load, requests };
  const bare: AskedServer = { server: bareServer, client: bareClient, requests };
  let imported = 0;
  return {
    server,
    askAlone: () =>
      askAtPace(
        program,
        (seconds, undisturbed) => undisturbed < undisturbedSeconds && seconds < secondsMax,
      ),
    async askBesideImport(settleMilliseconds = 0) {
      let isOver = false;
      const importOne = async () => {
        await importAndServe(checkout, server, keys[0]!, dataDir, files[imported++ % 2]!.path);
        await wait(settleMilliseconds);
      };
      const [ofProgram, ofBare] = await Promise.all([
        askAtPace(program, () => !isOver),
        askAtPace(bare, () => !isOver),
        importOne().finally(() => (isOver = true)),
      ]);
      return { ofProgram, ofBare };
    },
    async close() {
      await Promise.all([server.stop(), bareServer.stop()]);
      bareClient.close();
    },
  };
}

/** An import adds to the folder, so it must not be the one others share. */
function ownCopy(fixtures: Fixtures, { dataDir }: Published): string {
  const copy = fixtures.emptyFolder();
  for (const name of ["datasets", "control.sqlite"])
    cpSync(join(dataDir, name), join(copy, name), { recursive: true });
  return copy;
}

async function importAndServe(
  checkout: Checkout,
  { port }: RunningServer,
  key: string,
  dataDir: string,
  path: string,
): Promise<void> {
  const versionServed = async () => {
    const { headers } = await fetchOnce(port, "/fetch-signals?limit=1", { "x-api-key": key });
    return headers["dataset-version"];
  };
  const before = await versionServed();
  await importRecords(checkout, dataDir, path);
  const deadline = performance.now() + takeoverSecondsMax * 1000;
  while ((await versionServed()) === before)
    if (performance.now() > deadline) throw new Error("The new dataset is not served.");
    else await wait(100);
}

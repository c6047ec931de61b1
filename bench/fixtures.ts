/** What the rows are measured on: checkouts, records, the mix and data folders, each made once and only if a row needs it. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { temporaryFolder, whenDone } from "./clean-up.ts";
import { startLoadClient } from "./load.ts";
import { benchSource, makeMix, type Mix } from "./mix.ts";
import { OptionFault } from "./options.ts";
import { ownRoot, type ProgramOrder, serve, startProgram } from "./program.ts";
import { type RecordsFile, writeRecords } from "./records.ts";
import { answersTo, requestsOf } from "./requests.ts";
import { residentBytes, type SentAnswer } from "./servers.ts";

/** A work tree of this repository, whose program is measured. */
export interface Checkout {
  name: string;
  root: string;
  /**
   * Where Node keeps what it has compiled. Each has its own, used by this run alone: else one checkout would find the code of
   * earlier starts, which the other has to compile.
   */
  compileCache: string;
}

/** A data folder with records and keys, which no server holds. */
export interface Published {
  dataDir: string;
  keys: string[];
  /** Name under which the load client knows the mix, asked with these keys. */
  requests: string;
}

/** How many accounts, with a key each, ask the mix. */
const keyCount = 200;
const usualCount = 65_000;
const otherSeed = 7;

export type Fixtures = ReturnType<typeof openFixtures>;

/** @param tell what is under way. */
export function openFixtures(compareTo: string | null, tell: (what: string) => void) {
  const folder = temporaryFolder("bench");
  const cacheOf = (name: string) => ({ compileCache: join(folder, `compiled-${name}`) });
  const own: Checkout = { name: "this checkout", root: ownRoot, ...cacheOf("own") };
  /** This one and, if asked, another commit. */
  const checkouts: readonly Checkout[] =
    compareTo === null
      ? [own]
      : [own, { ...checkOut(compareTo, folder, tell), ...cacheOf("other") }];
  const load = startLoadClient();
  let folders = 0;

  const emptyFolder = () => {
    const path = join(folder, String(++folders));
    mkdirSync(path);
    return path;
  };
  /** Canonical records, 65,000 times `factor`. */
  const records = remember((factor: number) => {
    tell(`inventing ${65 * factor},000 records`);
    return writeRecords(join(folder, `records-${factor}.ndjson`), usualCount * factor);
  });
  /** As many others. */
  const otherRecords = remember<void, RecordsFile>(() =>
    writeRecords(join(folder, "other-records.ndjson"), usualCount, otherSeed),
  );
  const mix = remember<void, Mix>(async () => makeMix((await records(1)).gps));
  const published = remember(async (name: string): Promise<Published> => {
    const [place, factor] = JSON.parse(name) as [number, number];
    const checkout = checkouts[place]!;
    const dataDir = emptyFolder();
    const { path } = await records(factor);
    tell(`importing ${65 * factor},000 records with ${checkout.name}`);
    await importRecords(checkout, { dataDir }, path);
    const { issueKeys } = await keysOf(checkout);
    const keys = await issueKeys(checkout.root, dataDir, keyCount);
    load.prepare(name, requestsOf(await mix(), keys));
    return { dataDir, keys, requests: name };
  });

  /** A data folder of its own over what is published, for one server: one at a time holds a data folder. */
  const serverFolder = ({ dataDir }: Published) => {
    const folderOfServer = emptyFolder();
    symlinkSync(join(dataDir, "datasets"), join(folderOfServer, "datasets"));
    cpSync(join(dataDir, "control.sqlite"), join(folderOfServer, "control.sqlite"));
    return folderOfServer;
  };
  /** Starts the program of a checkout. */
  const start = async (checkout: Checkout, order: ProgramOrder) => {
    let lines = 0;
    const hear = (text: string) => {
      for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
    };
    const server = await serve({ ...orderOf(checkout, order), hear });
    return { ...server, lineCount: () => lines };
  };
  const publishedBy = (checkout: Checkout, factor: number) =>
    published(JSON.stringify([checkouts.indexOf(checkout), factor]));
  /** Name under which the load client knows the mix, asked with further headers. */
  const requests = async (
    { requests: plain, keys }: Published,
    headers?: Readonly<Record<string, string>>,
  ): Promise<string> => {
    if (headers === undefined) return plain;
    const name = `${plain} ${JSON.stringify(headers)}`;
    load.prepare(name, requestsOf(await mix(), keys, headers));
    return name;
  };
  /** The answers of this checkout to the questions of the mix. */
  const answers = remember<void, SentAnswer[]>(async () => {
    const ofOwn = await publishedBy(own, 1);
    const server = await start(own, { dataDir: serverFolder(ofOwn) });
    const all = await answersTo(await mix(), server.port, ofOwn.keys[0]!);
    await server.stop();
    return all;
  });

  return {
    checkouts,
    load,
    tell,
    emptyFolder,
    records,
    otherRecords,
    mix,
    keysOf,
    requests,
    answers,
    start,
    serverFolder,
    published: publishedBy,
  };
}

/** Makes a thing at the first call for it, and gives the same one from then on. */
export function remember<K, T>(make: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const made = new Map<K, Promise<T>>();
  return (key) => made.getOrInsertComputed(key, make);
}

const git = (...args: readonly string[]) =>
  execFileSync("git", ["-C", ownRoot, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();

/**
 * Another commit as a work tree inside `folder`, on the packages installed here where it asks for the same ones.
 * @throws OptionFault where git does not know the commit.
 */
function checkOut(
  ref: string,
  folder: string,
  tell: (what: string) => void,
): Omit<Checkout, "compileCache"> {
  let commit;
  try {
    commit = git("rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`);
  } catch {
    throw new OptionFault(`--compare needs a commit, but git knows no '${ref}' in ${ownRoot}.`);
  }
  const root = join(folder, "compared");
  git("worktree", "add", "--detach", "--quiet", root, commit);
  whenDone(() => void git("worktree", "remove", "--force", root));
  if (isDeepStrictEqual(packagesOf(root), packagesOf(ownRoot)))
    symlinkSync(join(ownRoot, "node_modules"), join(root, "node_modules"));
  else {
    tell(`installing the packages of ${ref}, which are others than here`);
    execFileSync("npm", ["ci", "--omit=dev", "--no-audit", "--no-fund"], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return { name: ref, root };
}

/** What is installed, by the lockfile; what it says of the project itself, such as its version, changes nothing. */
function packagesOf(root: string): Record<string, unknown> {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, unknown>;
  };
  const { "": _, ...installed } = lock.packages;
  return installed;
}

/** Short id of the commit that is checked out, marked where files differ from it. */
export function ownCommit(): string {
  try {
    return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain") === "" ? "" : " and changes"}`;
  } catch {
    return "no commit";
  }
}

/**
 * The code of a checkout that issues keys, since its store may have another schema than ours.
 * @throws Error where the commit is older than the file, or its store has other functions.
 */
const keysOf = ({ root }: Checkout) =>
  import(pathToFileURL(join(root, "bench/issue-keys.ts")).href) as Promise<
    typeof import("./issue-keys.ts")
  >;

/** The peak of the memory of a command is read so often; most of it is reached long before the end. */
const peakEveryMilliseconds = 50;

const orderOf = ({ root, compileCache }: Checkout, order: ProgramOrder): ProgramOrder => ({
  ...order,
  root,
  settings: { NODE_COMPILE_CACHE: compileCache, ...order.settings },
});

/** As `runCommand`, for an import. */
export const importRecords = (
  checkout: Checkout,
  order: ProgramOrder,
  file: string,
): Promise<number> =>
  runCommand(checkout, order, ["import", "ndjson", file, "--source", benchSource]);

/** Runs a command of a checkout, and returns the most memory it had at a time, in bytes. */
export async function runCommand(
  checkout: Checkout,
  order: ProgramOrder,
  args: readonly string[],
): Promise<number> {
  const { pid, ended } = startProgram(args, orderOf(checkout, order));
  let peak = Number.NaN;
  const read = () => (peak = residentBytes(pid, "VmHWM") || peak);
  const timer = setInterval(read, peakEveryMilliseconds);
  const { exitCode, err } = await ended;
  clearInterval(timer);
  if (exitCode !== 0) throw new Error(`${args.join(" ")} ended with ${exitCode}: ${err}`);
  return peak;
}

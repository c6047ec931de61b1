/** What every attempt works with: folders and servers, and chances that can be repeated. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startRandom } from "#demo/random.ts";
import type { Quotas } from "#limits/policy.ts";
import { ask } from "../bench/ask.ts";
import { temporaryFolder } from "../bench/clean-up.ts";
import { done, type ProgramOrder, serve, type Server } from "../bench/program.ts";
import { writeRecords } from "../bench/records.ts";

export interface Work {
  /** A new empty folder. */
  folder(): string;
  /** From 0 up to 1, the same row of numbers for the same seed. */
  chance(): number;
  /** One line on how far it is. */
  tell(text: string): void;
  end(): void;
}

export function openWork(seed: number, tell: (text: string) => void): Work {
  const root = temporaryFolder("faults");
  return {
    folder: () => mkdtempSync(join(root, "data-")),
    chance: startRandom(seed, "faults").next,
    tell,
    end: () => rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
  };
}

/** So much that no attempt meets its end. */
export const roomy: Quotas = { minute: 1e6, hour: 1e6, day: 1e6 };

export const importOf = (file: string) => ["import", "ndjson", file, "--source", "own"];

/** Returns a data folder in which records have been published, as an operator does it. */
export async function publishedFolder(work: Work, recordCount: number): Promise<string> {
  const dataDir = work.folder();
  const { path } = await writeRecords(join(dataDir, "records.ndjson"), recordCount, 1);
  await done(dataDir, ...importOf(path));
  return dataDir;
}

/** Starts a server whose log has only what is amiss. */
export const serveQuietly = (order: ProgramOrder): Promise<Server> =>
  serve({ ...order, settings: { LOG_LEVEL: "warn", ...order.settings } });

/** Returns how many requests of an account with the quotas `roomy` are not counted. One that is counted twice hides one. */
export async function countsLost(
  { port }: Pick<Server, "port">,
  key: string,
  requests: number,
): Promise<number> {
  const { headers } = await ask({ port, path: "/fetch-projects?limit=5", key });
  const [, remaining] = /"day";r=(\d+)/.exec(String(headers["ratelimit"])) ?? [];
  return Math.max(0, requests + 1 - (roomy.day - Number(remaining)));
}

/** Returns the lines of its log of level error or worse. */
export const errorsOf = (server: Server): string[] =>
  server
    .out()
    .split("\n")
    .filter((line) => /"level":(50|60)/.test(line));

/** Reads a folder of filings into typed rows with the program of a checkout, in a process of its own, and tells how long it took. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface ReadingOrder {
  /** The checkout whose program reads. */
  root: string;
  folder: string;
  /** Of rows; in an empty folder. */
  scratchFile: string;
}

export interface Reading {
  filings: number;
  seconds: number;
  /** Of processor time. */
  cpuSeconds: number;
}

async function read({ root, folder, scratchFile }: ReadingOrder): Promise<Reading> {
  const path = pathToFileURL(join(root, "src/filings/folder.ts")).href;
  const { readFilings } = (await import(path)) as typeof import("#filings/folder.ts");
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const { filings, report } = await readFilings([folder], { scratchFile, salt: "bench" });
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  filings.close();
  return { filings: report.formD, seconds, cpuSeconds: (user + system) / 1e6 };
}

process.once("message", async (order: ReadingOrder) => {
  process.send!(await read(order));
});

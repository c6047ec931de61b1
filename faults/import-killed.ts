/** F1: `kill -9` of an import at random moments leaves the dataset before or after it, whole. */
import { readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openCatalogue, type Catalogue } from "#datasets/catalogue.ts";
import { hashFile } from "#datasets/dataset-hash.ts";
import { isStaged } from "#datasets/generation.ts";
import { openPublications } from "#datasets/publications.ts";
import { done, startProgram } from "../bench/program.ts";
import { writeRecords } from "../bench/records.ts";
import type { Fault } from "./fault.ts";
import { importOf } from "./work.ts";

const recordCount = 10_000;
/** Every third try aims at the end, where files are renamed and the pointer moves. */
const lastShare = 0.15;
/** And every fourth at the milliseconds between the dataset's getting its name and the pointer's moving to it. */
const namedEvery = 4;
/** So often datasets that tries have published are removed, or they would fill the disk, and an import is timed anew. */
const refreshEvery = 25;

export const importKilled: Fault = {
  name: "F1 · import killed",
  promise: "the dataset is the old or the new one, whole; the next import needs no cleaning",
  tries: { quick: 50, full: 1000 },
  async attempt(work, tries) {
    const dataDir = work.folder();
    const files = [1, 2].map((seed) => join(dataDir, `records-${seed}.ndjson`));
    for (const [i, file] of files.entries()) await writeRecords(file, recordCount, i + 1);
    const catalogue = openCatalogue(join(dataDir, "datasets"));
    const { hashes, ...timed } = await importEach(dataDir, files, catalogue);
    let { milliseconds } = timed;
    const broken: string[] = [];
    const ends = { old: 0, new: 0, mixed: 0 };
    for (let i = 0; i < tries; i++) {
      const before = catalogue.current()!;
      const next = hashes.indexOf(before.hash) === 0 ? 1 : 0;
      const moment = i % 3 === 0 ? 1 - lastShare * work.chance() : work.chance() * 1.05;
      const { child, ended } = startProgram(importOf(files[next]!), { dataDir });
      const isNamed = i % namedEvery === 0 ? oneIsNamed(catalogue) : null;
      await Promise.race([isNamed?.promise ?? wait(moment * milliseconds), ended]);
      isNamed?.close();
      child.kill("SIGKILL");
      await ended;
      const faults = faultsOf(catalogue, hashes);
      broken.push(...faults.map((fault) => `try ${i + 1}: ${fault}`));
      const isOld = catalogue.current()?.hash === before.hash;
      ends[faults.length > 0 ? "mixed" : isOld ? "old" : "new"]++;
      if (i % refreshEvery === refreshEvery - 1) {
        ({ milliseconds } = await importEach(dataDir, files, catalogue));
        await done(dataDir, "datasets", "prune", "--keep", "1");
      }
      work.tell(`${i + 1} of ${tries} imports killed`);
    }
    for (const file of files) await done(dataDir, ...importOf(file));
    const left = [...litter(catalogue), ...litterOfSteps(catalogue)];
    broken.push(...left.map((name) => `left behind after the next import: ${name}`));
    return {
      done: `${tries} imports of ${recordCount.toLocaleString("en-US")} records killed, over the ${Math.round(milliseconds)} ms or so one takes`,
      seen: `${ends.old} old, ${ends.new} new, ${ends.mixed} mixed`,
      broken,
    };
  },
};

/** Resolves once a dataset gets its name. */
function oneIsNamed({ folder }: Catalogue): { promise: Promise<void>; close(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const known = new Set(readdirSync(folder));
  const watcher = watch(folder, (_, name) => {
    if (name?.endsWith(".sqlite") === true && !name.startsWith(".") && !known.has(name)) resolve();
  });
  return { promise, close: () => watcher.close() };
}

/** Publishes each file once, undisturbed: what a dataset may be, and how long an import takes. */
async function importEach(
  dataDir: string,
  files: readonly string[],
  catalogue: Catalogue,
): Promise<{ hashes: string[]; milliseconds: number }> {
  const hashes: string[] = [];
  let milliseconds = 0;
  for (const file of files) {
    const startedAt = performance.now();
    await done(dataDir, ...importOf(file));
    milliseconds = performance.now() - startedAt;
    hashes.push(catalogue.current()!.hash);
  }
  return { hashes, milliseconds };
}

/** The two files of a dataset that has its name, what is known of it as a draft, and a small file written aside. */
const leftMax = 4;

function faultsOf(catalogue: Catalogue, hashes: readonly string[]): string[] {
  const current = catalogue.current();
  if (current === null) return ["there is no dataset"];
  const faults: string[] = [];
  if (!hashes.includes(current.hash)) faults.push(`${current.version} is neither old nor new`);
  if (hashFile(catalogue.pathOf(current.version)).sha256 !== current.sha256)
    faults.push(`${current.version} is not the file that was published`);
  for (const { version } of catalogue.list().filter(isStaged))
    faults.push(`${version} is listed as staged, and nobody staged it`);
  const left = litter(catalogue);
  if (left.length > leftMax)
    faults.push(`more is left behind than one import leaves: ${left.join(", ")}`);
  return faults;
}

/** Files in the folder that belong to no dataset. */
function litter(catalogue: Catalogue): string[] {
  const known = new Set(["current", "changes"]);
  for (const { version } of catalogue.list()) known.add(`${version}.sqlite`).add(`${version}.json`);
  return readdirSync(catalogue.folder).filter((name) => !known.has(name));
}

/** Files beside the steps between datasets that belong to no publication. */
function litterOfSteps(catalogue: Catalogue): string[] {
  const publications = openPublications(catalogue.folder).list(catalogue.currentVersion());
  const steps = publications.flatMap(({ from, version, step }) =>
    step === null ? [] : [`changes-${from}..${version}`],
  );
  const known = new Set(steps.flatMap((name) => [`${name}.ndjson`, `${name}.index`]));
  return readdirSync(join(catalogue.folder, "changes")).filter(
    (name) => name !== "publications.json" && !known.has(name),
  );
}

/** F13: a dataset with a flipped byte is refused, or answers as if nothing had happened; never wrongly. */
import { closeSync, copyFileSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { openCatalogue } from "#datasets/catalogue.ts";
import { loadGeneration } from "#datasets/served.ts";
import { operations } from "#operations/index.ts";
import { answer } from "#operations/page.ts";
import { readQuery } from "#operations/parameters.ts";
import type { DatasetParts } from "#search/dataset-parts.ts";
import { openReadModel } from "#search/read-model.ts";
import { startProgram } from "../bench/program.ts";
import type { Fault } from "./fault.ts";
import { publishedFolder } from "./work.ts";

const recordCount = 2000;
const pageSize = 100;
const names = ["capital", "part", "re", "stone", "holdings group"];

export const flippedBytes: Fault = {
  name: "F13 · byte flipped in a dataset",
  promise: "no wrong record is served: the dataset is refused, or the flip touches nothing served",
  tries: { quick: 100, full: 1000 },
  async attempt(work, tries) {
    const dataDir = await publishedFolder(work, recordCount);
    const generation = openCatalogue(join(dataDir, "datasets")).current()!;
    const sound = join(dataDir, "datasets", `${generation.version}.sqlite`);
    const flipped = join(dataDir, "flipped.sqlite");
    const right = everyAnswer(loadGeneration(sound, generation));
    const { size } = statSync(sound);
    const broken: string[] = [];
    let refused = 0;
    for (let i = 0; i < tries; i++) {
      const at = Math.floor(work.chance() * size);
      copyFileSync(sound, flipped);
      flipBit(flipped, at, Math.floor(work.chance() * 8));
      try {
        const served = everyAnswer(loadGeneration(flipped, generation));
        if (served.some((body, page) => body !== right[page]))
          broken.push(`byte ${at}: a wrong answer was given`);
      } catch {
        refused++;
      }
    }
    const wrong = broken.length;
    const isNamed = await isNoticed(dataDir, sound, flipped);
    if (!isNamed) broken.push("`datasets verify` did not name the damaged dataset");
    return {
      done: `${tries} single bits flipped in a dataset of ${size.toLocaleString("en-US")} bytes, ${right.length} pages compared`,
      seen: `${refused} refused, ${tries - refused} where nothing served was touched, ${wrong} wrong; \`datasets verify\` ${isNamed ? "names" : "does not name"} the damaged file`,
      broken,
    };
  },
};

/** Every page of every operation, and some searches. */
function everyAnswer(parts: DatasetParts): string[] {
  const model = openReadModel(parts);
  const bodies: string[] = [];
  for (const operation of operations) {
    const filters = operation.filters.gp_name?.isRequired ? [] : [""];
    for (const filter of [
      ...filters,
      ...names.map((name) => `gp_name=${encodeURIComponent(name)}&`),
    ])
      for (let offset = 0, total = 1; offset < total; offset += pageSize) {
        const text = `${filter}limit=${pageSize}&offset=${offset}`;
        const page = answer(operation, model, readQuery(operation, text, pageSize, operations));
        bodies.push(page.body.toString("latin1"));
        total = page.total;
      }
  }
  return bodies;
}

function flipBit(path: string, at: number, bit: number): void {
  const file = openSync(path, "r+");
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, at);
  byte[0]! ^= 1 << bit;
  writeSync(file, byte, 0, 1, at);
  closeSync(file);
}

/** Does the operator's own check find the flipped file in the place of the sound one, and name it? */
async function isNoticed(dataDir: string, sound: string, flipped: string) {
  copyFileSync(flipped, sound);
  const { exitCode, out, err } = await startProgram(["datasets", "verify"], { dataDir }).ended;
  return exitCode !== 0 && (out + err).includes(basename(sound, ".sqlite"));
}

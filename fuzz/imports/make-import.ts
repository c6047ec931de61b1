/** An import to try, made from a seed and a number alone. */
import { chance, startRandom, whole } from "#demo/random.ts";
import { mutateFile } from "./mutate-file.ts";
import { sampleFor } from "./samples.ts";

export interface FuzzImport {
  number: number;
  /** Of the file with the records; says what it is a damaged form of. */
  name: string;
  table: Buffer;
  mapping: Buffer | null;
  /** Nothing was damaged, so all of it has to be taken. */
  isControl: boolean;
  /** Goes all the way to a published dataset, on disk. */
  isWhole: boolean;
}

const controlShare = 0.03;
const wholeShare = 0.05;
/** Of damaged CSV imports those with a damaged mapping. */
const mappingShare = 0.35;

export function makeImport(seed: number, number: number): FuzzImport {
  const random = startRandom(seed, `import ${number}`);
  const { name, table, mapping } = sampleFor(random);
  const isControl = chance(random, controlShare);
  const isWhole = chance(random, wholeShare);
  const made = { number, name, table, mapping, isControl, isWhole };
  if (isControl) return made;
  const times = whole(random, 1, 4);
  if (mapping !== null && chance(random, mappingShare))
    return { ...made, mapping: mutateFile(random, mapping, times) };
  return { ...made, table: mutateFile(random, table, times) };
}

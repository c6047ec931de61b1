/** The files of the two stores in a data folder, and how durable each is. */
import { join } from "node:path";
import { fileSteps } from "./schema-steps.ts";
import type { FileShape } from "./sqlite-file.ts";

export const controlFile = (dataDir: string) => join(dataDir, "control.sqlite");
export const usageFile = (dataDir: string) => join(dataDir, "usage.sqlite");

const busyDefault = 5000;

/** Returns the shape of accounts, people and keys. A committed revocation survives a power failure. */
export const controlShape = (dataDir: string, busyMilliseconds = busyDefault): FileShape => ({
  file: controlFile(dataDir),
  steps: fileSteps["control.sqlite"],
  synchronous: "full",
  busyMilliseconds,
  erasesDeleted: true,
});

/** Returns the shape of usage of keys and requests. A power failure may lose its last seconds. */
export const usageShape = (dataDir: string, busyMilliseconds = busyDefault): FileShape => ({
  file: usageFile(dataDir),
  steps: fileSteps["usage.sqlite"],
  synchronous: "normal",
  busyMilliseconds,
  returnsFreePages: true,
});

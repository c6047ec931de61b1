/** Where the two stores of a data folder are. */
import { join } from "node:path";

export const controlFile = (dataDir: string) => join(dataDir, "control.sqlite");
export const usageFile = (dataDir: string) => join(dataDir, "usage.sqlite");

/** The version of this program, as its package states it. */
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

export const programVersion = (): string =>
  (JSON.parse(readFileSync(findPackageJSON(import.meta.url)!, "utf8")) as { version: string })
    .version;

/** Every file of a folder with what is in it, to look for what must not be. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const filesUnder = (folder: string): [string, Buffer][] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => [path, readFileSync(path)]);

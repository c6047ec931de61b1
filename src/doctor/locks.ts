/** Does a server run on the data folder, does an import? */
import { join } from "node:path";
import { type Check, ok } from "./check.ts";
import { heldLock } from "./held-lock.ts";

export const serverLock = (dataDir: string) => heldLock(join(dataDir, "server.lock"));
export const importLock = (dataDir: string) => heldLock(join(dataDir, "import.lock"));

/** Nothing here can be wrong: the system releases a lock with its process, so none is ever stale. */
export const locks: Check = {
  name: "locks",
  look: ({ dataDir }) => [
    ok(
      [
        sentence("server", serverLock(dataDir)?.text),
        sentence("import", importLock(dataDir)?.text),
      ].join("; "),
    ),
  ],
};

const sentence = (what: string, holder: string | undefined) =>
  holder === undefined ? `no ${what} runs` : `the ${what} is ${holder}`;

/** Does a server run on the data folder, does an import, and can the next one take its lock? */
import { join } from "node:path";
import { type Check, fail, faultsOr, type Finding } from "./check.ts";
import { heldLock, lockFault } from "./held-lock.ts";

const serverPath = (dataDir: string) => join(dataDir, "server.lock");
const importPath = (dataDir: string) => join(dataDir, "import.lock");

export const serverLock = (dataDir: string) => heldLock(serverPath(dataDir));
export const importLock = (dataDir: string) => heldLock(importPath(dataDir));

/** That one is held is no fault: the system releases it with its process, so none is ever stale. */
export const locks: Check = {
  name: "locks",
  look: ({ dataDir }) =>
    faultsOr(
      [
        ...findingOf(serverPath(dataDir), "no server can start and no restore can be made"),
        ...findingOf(importPath(dataDir), "nothing can be imported, published or restored"),
      ],
      [
        sentence("server", serverLock(dataDir)?.text),
        sentence("import", importLock(dataDir)?.text),
      ].join("; "),
    ),
};

function findingOf(path: string, consequence: string): Finding[] {
  switch (lockFault(path)) {
    case null:
      return [];
    case "foreign":
      return [
        fail(
          `${path} is not a lock that gp-records made, so ${consequence}`,
          `Stop every gp-records that uses the folder, then: rm ${path}; it means nothing by itself.`,
        ),
      ];
    default:
      return [
        fail(
          `${path} cannot be opened, so ${consequence}`,
          "Run gp-records as the owner of DATA_DIR; if that is so, see that this is a file that it may write.",
        ),
      ];
  }
}

const sentence = (what: string, holder: string | undefined) =>
  holder === undefined ? `no ${what} runs` : `the ${what} is ${holder}`;

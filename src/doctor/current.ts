/** Does `current` name a dataset that is there and that this program can read? */
import { join } from "node:path";
import { openGeneration, remedy } from "#datasets/open-generation.ts";
import { asCache, type Check, fail, type Finding, ok, unreadFile } from "./check.ts";
import {
  catalogueIn,
  currentVersion,
  datasetsFolder,
  nextToServe,
  wholeVersions,
} from "./dataset-files.ts";
import { namesIn } from "./kept-files.ts";

export const current: Check = {
  name: "current",
  look({ dataDir, config }) {
    const findings = [findingOf(dataDir)];
    return config === null || config.databaseUrl === null ? findings : asCache(findings);
  },
};

function findingOf(dataDir: string): Finding {
  const folder = datasetsFolder(dataDir);
  const pointer = join(folder, "current");
  const catalogue = catalogueIn(dataDir);
  const next = nextToServe(catalogue);
  const mend =
    next === undefined
      ? `gp-records restore FILE --replace, or: rm ${pointer}, and import every source again.`
      : `gp-records datasets publish ${next}`;
  if (!namesIn(folder).includes("current"))
    return next === undefined
      ? ok("no dataset is published yet")
      : fail(`${pointer} is missing, so no dataset is served though there are some`, mend);
  const [unread] = unreadFile([pointer]);
  if (unread !== undefined) return unread;
  const version = currentVersion(catalogue);
  if (version === null) return fail(`${pointer} does not name a dataset`, mend);
  if (!wholeVersions(catalogue).includes(version))
    return fail(`${pointer} names ${version}, which is not there`, mend);
  return readability(catalogue!.pathOf(version), version);
}

/** A dataset can be intact and still have another format. */
function readability(path: string, version: string): Finding {
  const [unread] = unreadFile([path]);
  if (unread !== undefined) return unread;
  try {
    openGeneration(path).db.close();
    return ok(`${version} is the dataset to be served`);
  } catch (error) {
    const { message } = error as Error;
    return fail(message.replace(remedy, "").trimEnd(), remedy);
  }
}

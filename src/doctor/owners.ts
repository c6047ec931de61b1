/** Do all files belong to the owner of the folder? The server cannot open what was made with `sudo`. */
import { type Check, fail, type Finding, ok } from "./check.ts";
import { type KeptFile, keptFiles, topPaths } from "./kept-files.ts";

export const owners: Check = {
  name: "owners",
  look({ dataDir }) {
    const [folder, ...files] = keptFiles(dataDir);
    if (folder === undefined) return [ok("nothing of gp-records' is there yet")];
    const { uid } = folder.stats;
    const strangers = files.filter(({ stats }) => stats.uid !== uid);
    return [
      strangers.length === 0
        ? ok(`all belongs to user ${uid}, as the folder does`)
        : strangeOwner(folder, strangers),
    ];
  },
};

function strangeOwner(folder: KeptFile, strangers: readonly KeptFile[]): Finding {
  const [first, ...others] = strangers;
  const more = others.length === 0 ? "" : `, and ${others.length} more like it`;
  const { uid, gid } = folder.stats;
  return fail(
    `${first!.path} belongs to user ${first!.stats.uid}, its folder to user ${uid}${more}`,
    `chown -R ${uid}:${gid} ${topPaths(folder.path, strangers).join(" ")}`,
  );
}

/** Are Node and SQLite new enough? */
import { formatVersion } from "#datasets/format.ts";
import { refuseOldSqlite } from "#store/sqlite-version.ts";
import { type Check, fail, type Finding, ok } from "./check.ts";

/** The oldest Node that runs TypeScript as it is and has a node:sqlite that is no longer experimental. */
const oldestNode = [24, 15] as const;

export const versions: Check = {
  name: "versions",
  look: ({ program }) => [judgeVersions(program, process.versions)],
};

/** @param versions as `process.versions` has them. */
export function judgeVersions(
  program: string,
  { node = "0", sqlite = "none" }: Readonly<Record<string, string | undefined>>,
): Finding {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor))
    return fail(
      `this is Node ${node}; gp-records needs ${oldestNode.join(".")} or newer`,
      "Start bin/gp-records, which takes the Node that came with the packages, or install a newer Node.",
    );
  try {
    refuseOldSqlite(sqlite);
  } catch (error) {
    return fail(
      (error as Error).message,
      "Start bin/gp-records, which takes the Node that came with the packages.",
    );
  }
  return ok(
    `gp-records ${program}, Node ${node}, SQLite ${sqlite}, dataset format ${formatVersion}`,
  );
}

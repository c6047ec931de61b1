/** Refuses an SQLite that can lose committed data. */
import { StoreFault } from "./domain-error.ts";

// Up to 3.51.2 two connections that wrote and checkpointed at the same moment could lose a commit
// (the "WAL-reset bug", https://www.sqlite.org/releaselog/3_51_3.html).
const oldestVersion = "3.51.3";

/**
 * @param version the SQLite this Node was built with, such as `3.53.4`.
 * @throws StoreFault `unusable` below 3.51.3.
 */
export function refuseOldSqlite(version = process.versions["sqlite"] ?? "none"): void {
  if (asNumber(version) >= asNumber(oldestVersion)) return;
  throw new StoreFault(
    "unusable",
    `This Node brings SQLite ${version}, which can lose committed data; gp-records needs ${oldestVersion} or newer. Run it with the Node it brings along, or with Node 24.15 or newer.`,
  );
}

function asNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number(part) || 0);
  return (major * 1000 + minor) * 1000 + patch;
}

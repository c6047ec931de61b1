/** Makes one check of `doctor` on a data folder. */
import assert from "node:assert/strict";
import { type Check, examine, type Examined, type Finding, type Status } from "#doctor/check.ts";

interface Given extends Partial<Pick<Examined, "environmentFile">> {
  settings?: Record<string, string>;
}

export const look = (check: Check, dataDir: string, given: Given = {}): Promise<Finding[]> =>
  examine([check], {
    environment: { DATA_DIR: dataDir, ...given.settings },
    environmentFile: given.environmentFile ?? null,
  });

/** The one finding of a check, which must have this status; then its words can be held against a pattern. */
export async function finding(
  status: Status,
  check: Check,
  dataDir: string,
  given: Given = {},
): Promise<{ found: string; mend: string }> {
  const [one, ...others] = await look(check, dataDir, given);
  assert.deepEqual(others, []);
  assert.equal(one!.status, status, one!.found);
  return { found: one!.found, mend: one!.mend ?? "" };
}

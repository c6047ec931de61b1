/** Waits until a running service has taken over what was published beside it. */
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import type { Catalogue } from "#datasets/catalogue.ts";
import { ask } from "../../support/raw-client.ts";

/** It looks twice a second. */
export async function servedNow(
  { port, key }: { port: number; key: string },
  catalogue: Catalogue,
): Promise<void> {
  const current = catalogue.currentVersion();
  let served: unknown;
  for (let looks = 0; looks < 500 && served !== current; looks++) {
    await setTimeout(20);
    served = (await ask(port, "/fetch-projects?limit=1", { key })).json.meta?.dataset_version;
  }
  assert.equal(served, current);
}

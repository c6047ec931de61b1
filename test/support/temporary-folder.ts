/** A folder for one test, gone when the test is over. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

export function temporaryFolder(t: Pick<TestContext, "after">, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "gp-records-"));
  // A service that the test has started is stopped after this, and may write a file while the folder is emptied.
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 }));
  return folder;
}

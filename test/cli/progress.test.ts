import assert from "node:assert/strict";
import { test } from "node:test";
import { showProgress } from "#cli/output.ts";

/** Counts a record each 10 milliseconds for as long as is said. */
function run(isTTY: boolean, isPipedToo: boolean, milliseconds: number): string[] {
  const written: string[] = [];
  const stream = { isTTY, write: (text: string) => written.push(text) > 0 };
  let now = 0;
  const progress = showProgress({ isPipedToo, stream, now: () => now });
  for (let count = 1; now < milliseconds; count++, now += 10)
    progress.show(count * 1000, "lines read");
  progress.clear();
  return written;
}

test("where there is no terminal nothing is shown, or a line a second where that is asked for", () => {
  assert.deepEqual(run(false, false, 3000), []);
  assert.deepEqual(run(false, true, 2500), ["101,000 lines read\n", "201,000 lines read\n"]);
});

test("on a terminal one line is written anew ten times a second, and gone at the end", () => {
  const written = run(true, false, 1000);
  assert.equal(written.length, 10);
  assert.equal(written[0], "\r\u001b[K11,000 lines read");
  assert.equal(written.at(-1), "\r\u001b[K");
});

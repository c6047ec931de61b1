import assert from "node:assert/strict";
import { test } from "node:test";
import { showProgress } from "#cli/output.ts";
import { gatherLines } from "#cli/serve.ts";

test("lines of requests are written some milliseconds later, together and before any other line, which is written at once; at the end none is kept back", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const written: string[] = [];
  const { gather, write, flush } = gatherLines((lines) => void written.push(lines));
  gather("1\n");
  gather("2\n");
  assert.deepEqual(written, []);
  t.mock.timers.tick(20);
  gather("3\n");
  assert.deepEqual(written, ["1\n2\n"]);
  write("warning\n");
  assert.deepEqual(written, ["1\n2\n", "3\n", "warning\n"]);
  gather("4\n");
  t.mock.timers.tick(20);
  assert.deepEqual(written.slice(3), ["4\n"]);
  gather("last\n");
  flush();
  flush();
  assert.deepEqual(written.slice(4), ["last\n"]);
});

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

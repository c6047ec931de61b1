import assert from "node:assert/strict";
import { test } from "node:test";
import { gatherLines } from "#cli/log.ts";

test("lines of requests are written some milliseconds later, together", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const written: string[] = [];
  const { gather } = gatherLines((lines) => void written.push(lines));
  gather("1\n");
  gather("2\n");
  assert.deepEqual(written, []);
  t.mock.timers.tick(20);
  gather("3\n");
  assert.deepEqual(written, ["1\n2\n"]);
  t.mock.timers.tick(20);
  assert.deepEqual(written, ["1\n2\n", "3\n"]);
});

test("every other line is written at once, after the requests before it", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const written: string[] = [];
  const { gather, write } = gatherLines((lines) => void written.push(lines));
  gather("request\n");
  write("warning\n");
  assert.deepEqual(written, ["request\n", "warning\n"]);
  t.mock.timers.tick(20);
  assert.deepEqual(written, ["request\n", "warning\n"]);
});

test("at the end no line is kept back", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const written: string[] = [];
  const { gather, flush } = gatherLines((lines) => void written.push(lines));
  gather("last\n");
  flush();
  flush();
  assert.deepEqual(written, ["last\n"]);
});

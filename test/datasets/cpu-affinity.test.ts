import assert from "node:assert/strict";
import { test } from "node:test";
import { coresOf } from "#datasets/priority.ts";

test("the cores that a process may use are read from the ranges in /proc", () => {
  const coresIn = (list: string) => coresOf(`Name:\tnode\nCpus_allowed_list:\t${list}\nMems:\t1\n`);
  assert.deepEqual(coresIn("0"), [0]);
  assert.deepEqual(coresIn("2-4"), [2, 3, 4]);
  assert.deepEqual(coresIn("0-1,5,9-10"), [0, 1, 5, 9, 10]);
});

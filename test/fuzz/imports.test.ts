import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeRefusal, judgeTaken, judgeTraces } from "../../fuzz/imports/judge-import.ts";
import { makeImport } from "../../fuzz/imports/make-import.ts";
import { tryImport } from "../../fuzz/imports/try-import.ts";
import { openWorkshop } from "../../fuzz/imports/workshop.ts";

test("damaged files are taken with their sums right or refused in words, and sound ones taken whole", async () => {
  const shop = await openWorkshop();
  const made = Array.from({ length: 300 }, (_, at) => makeImport(3, at + 1));
  const tried = [
    ...made.slice(0, 30),
    made.find(({ isControl }) => isControl)!,
    made.find(({ isWhole }) => isWhole)!,
  ];
  for (const one of tried) {
    const { violations, words } = await tryImport(shop, one);
    assert.deepEqual(violations, [], `import ${one.number}: ${words}`);
  }
});

test("the judge of imports finds what it is there to find", async () => {
  const shop = await openWorkshop();
  const table = Buffer.from("{}\n{}\n");
  const one = { ...makeImport(3, 1), table, mapping: null, isControl: false };
  const rejections = { count: 1, listed: [], add() {} };
  const taken = { collected: { read: 3, accepted: 1, rejections }, documents: ["\ufffd"] };
  const rulesOf = (violations: readonly { rule: string }[]) => violations.map(({ rule }) => rule);
  assert.deepEqual(rulesOf(judgeTaken(one, shop, taken as never, [7])), [
    "read is not accepted plus rejected",
    "a rejection says nothing",
    "not all lines were read",
    "a value that is none was taken",
    "a document is no JSON",
  ]);
  assert.deepEqual(rulesOf(judgeRefusal(one, shop, new TypeError("x"))), ["an exception"]);
  assert.deepEqual(rulesOf(judgeTraces({ ...shop, litter: () => ["draft"] }, 9)), [
    "the folder is not as it was",
    "slow",
  ]);
});

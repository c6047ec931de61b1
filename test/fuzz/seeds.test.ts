import assert from "node:assert/strict";
import { test } from "node:test";
import { makeImport } from "../../fuzz/imports/make-import.ts";
import { makeConversation } from "../../fuzz/requests/make-conversation.ts";
import { knownAnswers } from "../../fuzz/requests/known-answers.ts";

test("a seed and a number give the same conversation and the same import again, in any order", () => {
  const { questions } = knownAnswers(1, "own");
  const conversation = (number: number) => JSON.stringify(makeConversation(7, number, questions));
  const damaged = (number: number) => JSON.stringify(makeImport(7, number));
  for (const make of [conversation, damaged]) {
    const forwards = [1, 2, 3, 4, 5].map(make);
    const backwards = [5, 4, 3, 2, 1].map(make).toReversed();
    assert.deepEqual(forwards, backwards);
    assert.equal(new Set(forwards).size, 5);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanName } from "#accounts/accounts.ts";
import { foldAddress, readAddress } from "#accounts/people.ts";
import { readNameList } from "#importers/name-list.ts";
import { nearest } from "#records/edit-distance.ts";
import { fetches } from "#operations/fetches.ts";
import { operations } from "#operations/index.ts";
import { declared } from "#operations/operation.ts";
import { readQuery } from "#operations/parameters.ts";
import { type ParameterFault } from "#problems/kinds.ts";
import { Problem } from "#problems.ts";

const read = (text: string) => readQuery(fetches.gp, text, 100, operations);

function codesOf(text: string): string[] {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof Problem);
    assert.equal(error.code, "invalid-parameters");
    const faults = error.members["errors"] as ParameterFault[];
    return faults.map(({ parameter, code }) => `${parameter} ${code}`);
  }
  return [];
}

test("all faults are told at once, missing ones last, word for word as promised", () => {
  assert.deepEqual(codesOf("limit=0&gp_nme=x&offset=-1&tag="), [
    "limit out_of_range",
    "gp_nme unknown_parameter",
    "offset not_an_integer",
    "tag empty_value",
    "gp_name missing",
  ]);
  assert.throws(() => read("gp_nme=x&limit=101"), {
    message:
      "3 problems: 'gp_nme' is not a parameter of /fetch-gp (did you mean 'gp_name'?); 'limit' must be 1 to 100; 'gp_name' is required.",
    members: {
      errors: [
        {
          parameter: "gp_nme",
          code: "unknown_parameter",
          detail: "Not a parameter of /fetch-gp.",
          suggestion: "gp_name",
          allowed: ["gp_name", "tag", "theme", "market", "limit", "offset"],
        },
        {
          parameter: "limit",
          code: "out_of_range",
          detail: "Must be a whole number from 1 to 100.",
          minimum: 1,
          maximum: 100,
        },
        { parameter: "gp_name", code: "missing", detail: "Required, at least 2 characters." },
      ],
    },
  });
});

test("a number may have a sign where its range has one", () => {
  const numbers = { minimum: -180, maximum: 180, isWhole: false };
  const filters = { longitude: declared("longitude", "Longitude.", { form: "number", numbers }) };
  const operation = { ...fetches.signal, filters };
  const valuesOf = (text: string) => readQuery(operation, text, 100, operations).values;
  assert.deepEqual(valuesOf("longitude=-97.5"), { longitude: ["-97.5"] });
  for (const wrong of ["-180.5", "--1", "-", "1e2"])
    assert.throws(() => valuesOf(`longitude=${wrong}`), /must be -180 to 180/);
});

const words: readonly (readonly [
  word: string,
  among: readonly string[],
  found: string | undefined,
])[] = [
  ["limit", ["limit"], "limit"],
  ["limt", ["offset", "limit"], "limit"],
  ["xyc", ["abc"], "abc"],
  ["axy", ["abc"], "abc"],
  ["xyz", ["abc"], undefined],
  ["li", ["limit"], undefined],
  ["axbyc", ["abz"], undefined],
  ["abz", ["axbyc"], undefined],
  ["tags", ["tax", "tag"], "tag"],
  ["bag", ["tag", "bad"], "tag"],
  ["", ["a"], "a"],
];
test("the nearest word is the first within the fewest of at most two edits", () => {
  for (const [word, among, found] of words) assert.equal(nearest(word, among), found, word);
});

test("no stranger's text is normalised, in quadratic time, before its length is limited", () => {
  // Seconds each, if it were.
  const marks = "\u0301\u0323".repeat(40_000);
  const names = [readAddress, foldAddress, (text: string) => cleanName("key", text)];
  const lists = (text: string) => readNameList(Buffer.from(text), "list", 1);
  const begun = performance.now();
  for (const reader of [...names, lists, (text: string) => codesOf(`gp_name=${text}`)])
    assert.throws(() => assert.deepEqual(reader(`a@a${marks}`), []));
  assert.ok(performance.now() - begun < 1000);
});

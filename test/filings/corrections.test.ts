import assert from "node:assert/strict";
import { test } from "node:test";
import { looksLikeCorrections, readCorrections } from "#filings/corrections.ts";

const file = "corrections.ndjson";
const read = (text: string) => readCorrections(Buffer.from(text), file);

test("each kind of correction is read with its reason and its line", () => {
  const lines = [
    '{"gp":"crd:1","is":"Acme Capital","why":"spelling"}',
    "",
    '{"cik":1900013,"gp":"crd:1","why":"w"}',
    '{"same":["crd:1","gp_abc"],"why":"w"}',
    '{"why":"w","apart":["crd:1","0001900013","cik:1900014"]}',
    '{"person":"crd:1/SMITH","apart":["000190001326000001"],"why":"w"}',
    '{"person":"crd:1/SMITH","field":"title","value":null,"why":"w"}\r',
  ];
  assert.ok(looksLikeCorrections(lines.join("\n")));
  const person = "crd:1/SMITH";
  assert.deepEqual(read(lines.join("\n")), [
    { kind: "is", gp: "crd:1", name: "Acme Capital", why: "spelling", file, line: 1 },
    { kind: "sponsor", cik: "0001900013", gp: "crd:1", why: "w", file, line: 3 },
    { kind: "same", gps: ["crd:1", "gp_abc"], why: "w", file, line: 4 },
    { kind: "apart", gp: "crd:1", ciks: ["0001900013", "0001900014"], why: "w", file, line: 5 },
    { kind: "personApart", person, accessions: ["0001900013-26-000001"], why: "w", file, line: 6 },
    { kind: "personField", person, field: "title", value: null, why: "w", file, line: 7 },
  ]);
});

test("a line that is not a correction is refused with its number and what to write", () => {
  const field = (name: string, value: string) =>
    `{"person":"p","field":"${name}","value":${value},"why":"w"}`;
  const faults: [line: string, words: RegExp][] = [
    ['{"gp":"a","is":"B"}', /corrections\.ndjson:2: needs "why"/],
    [
      '{"gp":"a","was":"B","why":"w"}',
      /:2: is not a correction; write \{"gp": ID, "is": NAME\}, or/,
    ],
    ['{"gp":"a","why":"w"}', /:2: is not a correction; write/],
    ['{"constructor":"a","why":"w"}', /:2: is not a correction; write/],
    ['{"same":["a"],"why":"w"}', /:2: is not a correction; write/],
    ['{"apart":["a","b"],"why":"w"}', /:2: needs CIKs after the id in "apart"/],
    ['{"cik":"x","gp":"a","why":"w"}', /:2: needs a CIK in "cik"/],
    ['{"person":"p","apart":["x"],"why":"w"}', /:2: needs accession numbers in "apart"/],
    ['{"gp":"a","is":"\\u0007","why":"w"}', /:2: has an invalid value: name contains the/],
    [
      '{"gp":"a","is":"Acme \u202eLLC","why":"w"}',
      /:2: has a value with the invisible character U\+202E/,
    ],
    [
      field("name", '"Ann\\u0085Smith"'),
      /:2: has a value with the invisible character U\+0085; remove/,
    ],
    [
      '{"gp":"a","is":"A","why":"w\\nx"}',
      /:2: has a "why" with the invisible character U\+000A; remove/,
    ],
    [field("title", '["x"]'), /:2: has an invalid value: title must be/],
    [field("__proto__", "{}"), /:2: has an invalid value: __proto__ is not a member of a/],
    [field("start_date", '"2026-02-31"'), /:2: has an invalid value: start_date/],
    [field("id", '"x"'), /:2: cannot change id; correct another member/],
    ['{"gp":"a","gp":"b","why":"w"}', /:2: gives the key "gp" twice/],
    ["[1]", /:2: must be a JSON object/],
    ['{"gp"', /:2: is not JSON/],
  ];
  for (const [line, words] of faults) assert.throws(() => read(`\n${line}`), words, line);
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { test, type TestContext } from "node:test";
import type { Encoding } from "#importers/encoding.ts";
import { readNdjson } from "#importers/ndjson.ts";
import type { ReadOptions } from "#importers/source-file.ts";
import { faultOf, writtenFile } from "./written-file.ts";

const read = (t: TestContext, content: string | Uint8Array, options: ReadOptions = {}) =>
  Array.fromAsync(readNdjson([writtenFile(t, "records.ndjson", content)], options));

const gp = (id: string) => ({ record: "gp", id, name: `GP ${id}` });
const line = (id: string) => JSON.stringify(gp(id));

test("each line gives its record with its line number, whatever the line ends, blank lines and mark at the start", async (t) => {
  const entries = await read(t, `\uFEFF${line("a")}\r\n\r\n   \n${line("b")}\n\n${line("c")}`);
  assert.deepEqual(
    entries.map((entry) => [entry.line, entry.records, entry.faults]),
    [
      [1, [gp("a")], []],
      [4, [gp("b")], []],
      [6, [gp("c")], []],
    ],
  );
});

test("several files are read in the order given, each with its own line numbers", async (t) => {
  const files = [
    writtenFile(t, "1.ndjson", `${line("a")}\n`),
    writtenFile(t, "2.ndjson", line("b")),
  ];
  const entries = await Array.fromAsync(readNdjson(files));
  assert.deepEqual(
    entries.map((entry) => [entry.file, entry.line]),
    [
      [files[0], 1],
      [files[1], 1],
    ],
  );
});

const refused: [what: string, text: string, reason: RegExp][] = [
  ["no JSON", "{'record':'gp'}", /^is not JSON: /],
  ["NaN", '{"id":NaN}', /^is not JSON: /],
  ["a trailing comma", '{"id":"a",}', /^is not JSON: /],
  ["a list", "[1]", /^must be a JSON object$/],
  ["a number", "17", /^must be a JSON object$/],
  ["a repeated key", '{"id":"a","name":"A","id":"b"}', /^gives the key "id" twice in one object$/],
  [
    "a key repeated inside",
    '{"id":"a","provenance":{"url":"x","url":"y"}}',
    /^gives the key "url" twice/,
  ],
  [
    "a repeated key with spaces before the colon",
    '{"id" :"a","id":"b"}',
    /^gives the key "id" twice/,
  ],
  ["a repeated key, once escaped", '{"id":"a","\\u0069d":"b"}', /^gives the key "id" twice/],
  [
    "a repeated key beside a text that looks like keys",
    '{"a":"\\":\\":","b":1,"b":2}',
    /^gives the key "b" twice/,
  ],
  ["the key __proto__", '{"__proto__":{"id":"a"}}', /^holds the key "__proto__"$/],
  ["33 levels", `${"[".repeat(33)}${"]".repeat(33)}`, /^is nested deeper than 32 levels$/],
  [
    "10,000 levels",
    `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
    /^is nested deeper than 32 levels$/,
  ],
];
for (const [what, text, reason] of refused)
  test(`a line with ${what} is rejected alone, the lines around it are read`, async (t) => {
    const entries = await read(t, `${line("a")}\n${text}\n${line("b")}\n`);
    assert.deepEqual(
      entries.map((entry) => [entry.line, entry.records.length, entry.namedGps.length]),
      [
        [1, 1, 0],
        [2, 0, 0],
        [3, 1, 0],
      ],
    );
    const [fault] = entries[1]?.faults ?? [];
    assert.equal(fault?.field, "line");
    assert.match(fault?.reason ?? "", reason);
    assert.equal(Object.getPrototypeOf({}), Object.prototype);
  });

test("text that only looks like repeated keys is accepted", async (t) => {
  const odd = {
    record: "gp",
    id: 'a":1,"id":"b',
    name: '"":"":',
    tags: ['":', "\\"],
    external_ids: { cik: ["1"] },
  };
  const texts = [
    JSON.stringify(odd),
    JSON.stringify(odd, null, 1).replaceAll("\n", ""),
    '{"a":{"id":1},"b":{"id":2},"id":3}',
  ];
  const entries = await read(t, texts.join("\n"));
  assert.deepEqual(
    entries.map((entry) => entry.faults),
    [[], [], []],
  );
  assert.deepEqual(entries[0]?.records, [odd]);
});

test("a last line that is cut off is rejected with its number and what may have happened", async (t) => {
  const entries = await read(t, `${line("a")}\n${line("b").slice(0, -5)}`);
  assert.equal(entries[1]?.line, 2);
  assert.match(entries[1]?.faults[0]?.reason ?? "", /is not JSON.*may be cut off$/);
});

test("bytes that are not UTF-8 are rejected with line and byte and never read as another character", async (t) => {
  const cafe = Buffer.from('{"record":"gp","id":"a","name":"Caf\xe9"}', "latin1");
  const entries = await read(
    t,
    Buffer.concat([Buffer.from(`${line("a")}\n`), cafe, Buffer.from(`\n${line("é")}`)]),
  );
  assert.deepEqual(entries[1], {
    ...entries[1],
    line: 2,
    records: [],
    faults: [
      {
        field: "line",
        reason:
          "is not UTF-8 at byte 36 (0xE9); say --encoding windows-1252 if the file is in that",
      },
    ],
  });
  assert.deepEqual(entries[2]?.records, [gp("é")]);
});

const named = (name: string) => `{"record":"gp","id":"a","name":"${name}"}`;
const encoded: [encoding: Encoding, content: Uint8Array, name: string][] = [
  ["utf-8", Buffer.from(named("Café “Roy” €")), "Café “Roy” €"],
  ["windows-1252", Buffer.from(named("Caf\xe9 \x93Roy\x94 \x80"), "latin1"), "Café “Roy” €"],
  ["iso-8859-1", Buffer.from(named("Caf\xe9"), "latin1"), "Café"],
  ["utf-16le", Buffer.from(`\uFEFF${named("Café “Roy” 𝔖")}`, "utf16le"), "Café “Roy” 𝔖"],
];
for (const [encoding, content, name] of encoded)
  test(`a file in ${encoding} gives its text when that is said`, async (t) => {
    const [entry] = await read(t, content, { encoding });
    assert.deepEqual([entry?.records, entry?.faults], [[{ record: "gp", id: "a", name }], []]);
  });

test("a byte that is no character of the encoding that was said rejects its line, and names it", async (t) => {
  for (const [encoding, bytes] of [
    ["windows-1252", "\x81"],
    ["iso-8859-1", "\x93"],
  ] as const) {
    const content = Buffer.from(`${named("A")}\n${named(`B${bytes}`)}\n`, "latin1");
    const [, entry] = await read(t, content, { encoding });
    const byte = bytes.charCodeAt(0).toString(16);
    assert.deepEqual(
      [entry?.line, entry?.records, entry?.faults[0]?.reason],
      [2, [], `holds no character of ${encoding} at byte 34 (0x${byte})`],
    );
  }
});

test("a line may say that a record is to be removed, and only its name counts then", async (t) => {
  const lines = [
    '{"record":"gp","id":"a","deleted":true,"stauts":1}',
    '{"deleted":false,"record":"gp","id":"b","name":"B"}',
    '{"record":"gp","id":"c","name":"C","deleted":"yes"}',
    '{"record":"gps","id":"d","deleted":true}',
    '{"record":"gp","id":7,"deleted":true}',
  ];
  const entries = await read(t, lines.join("\n"));
  assert.deepEqual(entries[0]?.deleted, [{ record: "gp", id: "a", stauts: 1 }]);
  assert.deepEqual(entries[1]?.records, [{ record: "gp", id: "b", name: "B" }]);
  assert.deepEqual(
    entries.slice(2).map(({ records, deleted, faults }) => [records, deleted, faults]),
    [
      [[], undefined, [{ field: "deleted", reason: "must be true or false" }]],
      [[], undefined, [{ field: "deleted", reason: "needs `record` and `id` of a record" }]],
      [[], undefined, [{ field: "deleted", reason: "needs `record` and `id` of a record" }]],
    ],
  );
});

test("a file that holds no record is refused by name unless it may be empty", async (t) => {
  const empty = writtenFile(t, "empty.ndjson", "\uFEFF\n \n");
  const full = writtenFile(t, "full.ndjson", line("a"));
  const fault = await faultOf(Array.fromAsync(readNdjson([full, empty])));
  assert.equal(fault.message, `${empty}: holds no record; if that is meant, say --allow-empty`);
  const entries = await Array.fromAsync(readNdjson([empty, full], { allowsEmpty: true }));
  assert.equal(entries.length, 1);
});

test("a line of 1 MiB is read and a longer one is rejected", async (t) => {
  const ofBytes = (bytes: number) => {
    const empty = JSON.stringify({ ...gp("a"), description: "" });
    return JSON.stringify({ ...gp("a"), description: "x".repeat(bytes - empty.length) });
  };
  const entries = await read(t, `${ofBytes(1_048_576)}\r\n${ofBytes(1_048_577)}\n${line("b")}`);
  assert.deepEqual(
    entries.map((entry) => [entry.line, entry.faults]),
    [
      [1, []],
      [2, [{ field: "line", reason: "is longer than 1048576 bytes" }]],
      [3, []],
    ],
  );
});

test("a line far larger than memory should hold is passed over without being kept", async (t) => {
  const file = writtenFile(t, "large.ndjson", "");
  const stream = createWriteStream(file);
  const piece = Buffer.alloc(4 * 1024 * 1024, "x");
  for (let pieces = 0; pieces < 40; pieces++) if (!stream.write(piece)) await once(stream, "drain");
  stream.end(`\n${line("a")}\n`);
  await once(stream, "finish");
  const before = process.memoryUsage().rss;
  const entries = await Array.fromAsync(readNdjson([file]));
  const grown = process.memoryUsage().rss - before;
  assert.deepEqual(
    entries.map((entry) => [entry.line, entry.records.length]),
    [
      [1, 0],
      [2, 1],
    ],
  );
  assert.ok(grown < 80 * 1024 * 1024, `${grown} bytes more`);
});

test("lines that begin and end anywhere in what is read at once come out whole", async (t) => {
  const records = Array.from({ length: 4000 }, (_, at) => ({
    ...gp(`${at}`),
    description: "é".repeat(at % 300),
  }));
  const entries = await read(t, records.map((record) => JSON.stringify(record)).join("\r\n"));
  assert.deepEqual(
    entries.flatMap((entry) => entry.records),
    records,
  );
  assert.deepEqual(
    entries.map((entry) => entry.line),
    records.map((_, at) => at + 1),
  );
});

test("a file that is not there refuses the import with its name", async () => {
  const fault = await faultOf(Array.fromAsync(readNdjson(["no/such.ndjson"])));
  assert.equal(fault.message, "no/such.ndjson: there is no such file");
});

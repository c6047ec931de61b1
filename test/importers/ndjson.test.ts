import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { parseStrictJson, readNdjson } from "#importers/json.ts";
import type { ReadOptions } from "#importers/source-file.ts";
import { Unreadable } from "#importers/import-fault.ts";
import { documents, importEntries } from "../datasets/published.ts";
import { temporaryCatalogue } from "../support/dataset.ts";
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

test("a line may say that a record is to be removed, and only its name counts then", async (t) => {
  const lines = [
    '{"record":"gp","id":"a","deleted":true,"stauts":1}',
    '{"deleted":false,"record":"gp","id":"b","name":"B"}',
    '{"record":"gp","id":"c","name":"C","deleted":"yes"}',
    '{"record":"gps","id":"d","deleted":true}',
    '{"record":"gp","id":7,"deleted":true}',
  ];
  const needsName = "needs the `record` and the `id` of the record to remove";
  const entries = await read(t, lines.join("\n"));
  assert.deepEqual(entries[0]?.deleted, [{ record: "gp", id: "a", stauts: 1 }]);
  assert.deepEqual(entries[1]?.records, [{ record: "gp", id: "b", name: "B" }]);
  assert.deepEqual(
    entries.slice(2).map(({ records, deleted, faults }) => [records, deleted, faults]),
    [
      [[], undefined, [{ field: "deleted", reason: "must be true or false" }]],
      [[], undefined, [{ field: "deleted", reason: needsName }]],
      [[], undefined, [{ field: "deleted", reason: needsName }]],
    ],
  );
});

test("a file that holds no record is refused by name unless it may be empty", async (t) => {
  const empty = writtenFile(t, "empty.ndjson", "\uFEFF\n \n");
  const full = writtenFile(t, "full.ndjson", line("a"));
  const fault = await faultOf(Array.fromAsync(readNdjson([full, empty])));
  assert.equal(
    fault.message,
    `${empty}: contains no records; if that is intended, add --allow-empty`,
  );
  const entries = await Array.fromAsync(readNdjson([empty, full], { allowsEmpty: true }));
  assert.equal(entries.length, 1);
});

const tooLong =
  "is longer than 1048576 bytes; put each record on a line of its own, and shorten a record that is still too long";

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
      [2, [{ field: "line", reason: tooLong }]],
      [3, []],
    ],
  );
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

test("of lines read at once, only one that is not UTF-8 is rejected, at its place", async (t) => {
  const content = Buffer.from(`${line("a")}\r\n\n${line("~")}\r\n${line("é")}`);
  content[content.indexOf("~")] = 0xff;
  const entries = await read(t, content);
  assert.deepEqual(
    entries.map((entry) => [entry.line, entry.records.map(({ id }) => id)]),
    [
      [1, ["a"]],
      [3, []],
      [4, ["é"]],
    ],
  );
  assert.match(entries[1]!.faults[0]!.reason, /^is not utf-8 at byte 22 \(0xFF\)/);
});

test("a line with an escape or DEL is not called plain", async (t) => {
  const entries = await read(t, ["a", "é", "\u0007", "\ud800", '"', "\x7f"].map(line).join("\n"));
  assert.deepEqual(
    entries.map(({ isPlain }) => isPlain),
    [true, true, undefined, undefined, undefined, undefined],
  );
});

type Written = { text: string; repeats: boolean };

/** JSON text with odd keys and odd spaces, and whether an object in it gives a key twice. */
const { value: json } = fc.letrec<{ value: Written }>((tie) => {
  const space = fc.constantFrom("", " ", "\t", "  ");
  // One key alone is escaped: V8 14 takes one escaped key for another now and then, which no reader can mend.
  const key = fc.constantFrom("a", "b", '":', ":", "");
  const text = fc.constantFrom("a", '"', '":', "\\", '\\":"', "");
  const leaf = fc
    .oneof(fc.integer(), fc.constantFrom(null, true), text)
    .map((value): Written => ({ text: JSON.stringify(value), repeats: false }));
  const member = fc.tuple(key, space, space, tie("value"));
  const object = fc.array(member, { maxLength: 4 }).map((members): Written => ({
    text: `{${members.map(([name, before, after, { text }]) => `${JSON.stringify(name)}${before}:${after}${text}`).join(", ")}}`,
    repeats:
      new Set(members.map(([name]) => name)).size < members.length ||
      members.some(([, , , value]) => value.repeats),
  }));
  const list = fc.array(tie("value"), { maxLength: 3 }).map((values): Written => ({
    text: `[${values.map(({ text }) => text).join(" , ")}]`,
    repeats: values.some(({ repeats }) => repeats),
  }));
  return { value: fc.oneof({ depthSize: "small" }, leaf, object, list) };
});

test("a repeated key is found wherever it stands, and nothing else is taken for one", () => {
  fc.assert(
    fc.property(json, ({ text, repeats }) => {
      const value = parseStrictJson(text);
      if (repeats) assert.ok(value instanceof Unreadable);
      else assert.deepEqual(value, JSON.parse(text));
    }),
    { numRuns: 3000 },
  );
});

test("32 levels are read and 33 are not", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  assert.ok(Array.isArray(parseStrictJson(nested(32))));
  assert.ok(parseStrictJson(nested(33)) instanceof Unreadable);
});

test("a GP may bring its funds, of which it need name no more than the names", async (t) => {
  const lines = [
    { ...gp("a"), funds: [{ name: "Small" }, { name: "Large", gross_assets_usd: 7 }] },
    { ...gp("b"), funds: [], funds_total: 3 },
    { ...gp("c"), funds: [{ sold_usd: 1 }] },
  ];
  const file = writtenFile(t, "records.ndjson", lines.map((one) => JSON.stringify(one)).join("\n"));
  const catalogue = temporaryCatalogue(t);
  const { collected } = await importEntries(catalogue, readNdjson([file]), { lines: 1 });
  assert.deepEqual(
    collected.rejections.listed.map(({ line: at, field, reason }) => [at, field, reason]),
    [[3, "funds.0.name", "is required"]],
  );
  const told = documents(catalogue, "gp").map(({ funds, funds_total }) => [
    ...funds.map((fund: { name: string; sold_usd: null }) => `${fund.name} ${fund.sold_usd}`),
    funds_total,
  ]);
  assert.deepEqual(told, [["Large null", "Small null", 2], [3]]);
});

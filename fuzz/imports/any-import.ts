/** Draws imports: files that are right, and damaged the way spreadsheets, downloads, editors and people do it. */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import fc, { type Arbitrary } from "fast-check";
import { awkwardRecords } from "../../test/support/awkward.ts";
import { mintId } from "#datasets/draft-record.ts";
import { cast } from "../../test/support/cast.ts";
import { anyText, damaged, damageOf, sometimes, weighted, type Damage } from "../arbitraries.ts";

interface Sample {
  /** The file with the records. */
  table: Buffer;
  /** The mapping of a CSV file; null for NDJSON. */
  mapping: Buffer | null;
}

const linesOf = (records: readonly unknown[]) =>
  Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));

const csvOf = (name: string, mappings = "examples/mappings"): Sample => ({
  table: readFileSync(`test/fixtures/importers/${name}.csv`),
  mapping: readFileSync(`${mappings}/${name}.json`),
});

/** Awards to firms of which the workshop's dataset, of source "own", knows one. */
function awards(): Sample {
  const { table, mapping } = csvOf("lihtc-awards");
  const firms = "Northwind Residential Partners, Inc. & Fir Corp., d/b/a Oak (50% (fee)) / None";
  const row = `Nevada,NHA,Gull Court,"${firms}",1,9%,"Elko, NV",New Construction,6,2031,2031-07,Final\n`;
  const known = mapping!.toString().replace('"known": "sec"', '"known": "own"');
  return { table: Buffer.concat([table, Buffer.from(row)]), mapping: Buffer.from(known) };
}

/** Links to GPs of source "own" by public ids, one of which no GP has. */
const linked = ["northwind", "nobody"].map((id, at) => ({
  record: "project",
  id: `p${at}`,
  name: id,
  gps: [mintId("gp", "own", id)],
}));

/** Small files that are right: each format once, with everything its reader knows. */
const samples: Readonly<Record<string, Sample>> = {
  cast: { table: linesOf(cast), mapping: null },
  // As spreadsheets abroad have it: an encoding of its own, semicolons, dates and amounts as they are spoken.
  plain: csvOf("abroad", "test/fixtures/importers"),
  "san-francisco": csvOf("san-francisco"),
  "adviser-report": csvOf("adviser-report"),
  awards: awards(),
  linked: { table: linesOf(linked), mapping: null },
};

/** What a file must not be able to say, or says where it means nothing. */
export const pieces = [
  '"',
  '""',
  "'",
  " / ",
  ", LLC & ",
  " dba ",
  "(",
  "\xe2\x80\x9c",
  ",",
  ";",
  "\t",
  "|",
  "\n",
  "\r",
  "\r\n",
  "\0",
  "\x1a",
  "\x0b",
  "\x85",
  "\xe9",
  "\xff",
  "\xc0\xaf",
  "\xed\xa0\x80",
  "\xef\xbf\xbd",
  "\xef\xbb\xbf",
  "\xe2\x80\xa8",
  "\\",
  "\\u0000",
  "\\ud800",
  "\\ufffd",
  "{",
  "}",
  "[",
  "]",
  ":",
  "null",
  "true",
  "NaN",
  "Infinity",
  "-0",
  "1e999",
  "9007199254740993",
  "9".repeat(400),
  `0.${"1".repeat(400)}`,
  "__proto__",
  '"__proto__":{"polluted":1},',
  '"constructor":{"prototype":{"polluted":1}},',
  "=HYPERLINK(1)",
  "2024-02-30",
  "0000-00-00",
  " ".repeat(300),
  "x".repeat(5000),
  "[".repeat(20_000),
  '{"a":'.repeat(5000),
];

/** JSON values that have no business where they are put. */
export const values = [
  "null", "true", "0", "-1", "1.5", "1e400", "-1e400", "9007199254740993", '""', '" "', '"\\ud83d"',
  '"\\u0000"', '"x"', '"gp_0123456789abcdef"', "[]", "{}", "[[]]", '["x","x"]', '{"__proto__":1}',
  '["\\udc00"]', '"2024-02-30"', '"9999-12"', "[null]", '"%"',
]; // oxfmt-ignore

const cells = /^([^,;\n]*)([,;])([^,;\n]*)/;
const value = /:\s*("(?:[^"\\]|\\.)*"|-?[0-9.]+|true|null|\[[^\]]*\])/;

const damage = damageOf(
  ...anyText,
  [7, /^/, pieces],
  [5, /^[^\n]*\n/m, ["$&$&", "", "\n$&  \n"]],
  [1, /^([^\n]*\n)([^\n]*\n)/m, ["$2$1"]],
  [1, /\n/, [""]],
  [3, /\r\n|\n/g, ["\r\n", "\r", "\n", "\n\r", "\n\n", " "]],
  ...[new RegExp(cells, "m"), new RegExp(cells, "gm")].map(
    (find) => [2, find, ["$3$2$1", "$3", "$1$2$1$2$3", "x$1$2$3"]] as const,
  ),
  [1, /[,;][^,;\n]*$/gm, ["", "$&$&"]],
  [1, /"/, ["'", "", '""', "\xe2\x80\x9d", '\\"']],
  [1, /"/g, ["'", "", '""', "\xe2\x80\x9d", '\\"']],
  [6, value, values.map((one) => `:${one}`)],
  [3, /"([a-z_]+)"\s*:/, ['"$1":1,$&', '"$1x":', '"__proto__":', '"$1 ":']],
  [1, /"i(d)"\s*:/, ['"\\u0069$1":null,$&', '"I$1":']],
  [
    1,
    /:\s*("[^"]*"|null|\[\])/,
    [10, 33, 200, 20_000].map((depth) => `:${"[".repeat(depth)}$1${"]".repeat(depth)}`),
  ],
);

const encodings = {
  "as it is": (bytes) => bytes,
  "UTF-16 with a mark": (bytes) => Buffer.from(`\ufeff${bytes.toString()}`, "utf16le"),
  "UTF-16, high byte first": (bytes) =>
    Buffer.from(`\ufeff${bytes.toString()}`, "utf16le").swap16(),
  "UTF-16": (bytes) => Buffer.from(bytes.toString(), "utf16le"),
  "one byte a character": (bytes) => Buffer.from(bytes.toString(), "latin1"),
  "UTF-8 twice": (bytes) => Buffer.from(bytes.toString("latin1")),
  "UTF-8 with a mark": (bytes) => Buffer.concat([Buffer.from("\ufeff"), bytes]),
  compressed: (bytes) => gzipSync(bytes),
  "as a page": (bytes) => Buffer.concat([Buffer.from("<!doctype html><html>"), bytes]),
  empty: () => Buffer.alloc(0),
} satisfies Record<string, (bytes: Buffer) => Buffer>;

type Encoding = keyof typeof encodings;

export interface Draft {
  /** One of the files above by its name, or lines nobody has seen before by their seed. */
  sample: string | number;
  /** What is damaged: the mapping, where there is one, or the file with the records. */
  part: "table" | "mapping";
  damages: readonly Damage[];
  encoding: Encoding;
  /** Goes all the way to a published dataset, on disk. */
  isWhole: boolean;
}

export interface FuzzImport {
  table: Buffer;
  /** Null for NDJSON. */
  mapping: Buffer | null;
  /** Nothing was damaged, so all of it has to be taken. */
  isControl: boolean;
  isWhole: boolean;
}

export const anyDraft: Arbitrary<Draft> = fc.record({
  sample: weighted<string | number>(
    [4, fc.constantFrom(...Object.keys(samples))],
    [2, fc.nat(1e6)],
  ),
  part: sometimes<Draft["part"]>(35, fc.constant("mapping"), "table"),
  damages: weighted(
    [97, fc.array(damage, { minLength: 1, maxLength: 4 })],
    [3, fc.constant<Damage[]>([])],
  ),
  encoding: sometimes<Encoding>(
    5,
    fc.constantFrom(...(Object.keys(encodings) as Encoding[])),
    "as it is",
  ),
  isWhole: sometimes(5, fc.constant(true), false),
});

export function makeImport({ sample, part, damages, encoding, isWhole }: Draft): FuzzImport {
  const { table, mapping } = typeof sample === "string" ? samples[sample]! : awkwardSample(sample);
  const isControl = damages.length === 0 && encoding === "as it is";
  const spoilt = (bytes: Buffer) =>
    encodings[encoding](Buffer.from(damaged(bytes.toString("latin1"), damages), "latin1"));
  return mapping !== null && part === "mapping"
    ? { table, mapping: spoilt(mapping), isControl, isWhole }
    : { table: spoilt(table), mapping, isControl, isWhole };
}

const awkwardSample = (seed: number): Sample => ({
  table: linesOf(awkwardRecords(seed, { gps: 5, principals: 4, signals: 4, projects: 3 })),
  mapping: null,
});

/** Damages lines, columns, quotes, values and encodings: what takes a text to be understood a little. */
import { gzipSync } from "node:zlib";
import { pick, whole, type Random } from "#demo/random.ts";
import { put } from "../mutation.ts";
import { values } from "./pieces.ts";

export const latin = (text: string) => Buffer.from(text, "latin1");

const none = Buffer.alloc(0);

/** Twice, lost, moved, joined to the next, or cut in two. */
export function linesChanged(random: Random, bytes: Buffer): Buffer {
  const lines = bytes.toString("latin1").split("\n");
  const at = whole(random, 0, lines.length - 1);
  const line = lines[at]!;
  const other = whole(random, 0, lines.length - 1);
  const replacements = [
    [line, line],
    [],
    ["", line, "  "],
    [line + (lines[at + 1] ?? "")],
    [line.slice(0, line.length / 2), line.slice(line.length / 2)],
    [lines[other]!],
  ];
  return latin(lines.toSpliced(at, 1, ...pick(random, replacements)).join("\n"));
}

export function lineEndsChanged(random: Random, bytes: Buffer): Buffer {
  const ends = pick(random, [
    ["\r\n"],
    ["\r"],
    ["\n"],
    ["\r\n", "\n", "\r"],
    ["\n\r"],
    ["\n\n"],
    [" "],
  ]);
  return latin(bytes.toString("latin1").replaceAll(/\r\n|\n/g, () => pick(random, ends)));
}

/** Cells by their commas alone: good enough for swapping, and wrong in ways that are interesting too. */
export function columnsChanged(random: Random, bytes: Buffer): Buffer {
  const text = bytes.toString("latin1");
  const delimiter = pick(random, [",", ";"]);
  const lines = text.split("\n");
  const isHeaderOnly = random() < 0.5;
  const width = lines[0]!.split(delimiter).length;
  const [from, to] = [whole(random, 0, width - 1), whole(random, 0, width - 1)];
  const kind = pick(random, ["swap", "drop", "double", "rename"] as const);
  const change = (line: string) => {
    const cells = line.split(delimiter);
    const cell = cells[from] ?? "";
    if (kind === "swap") [cells[from], cells[to]] = [cells[to] ?? "", cell];
    else if (kind === "drop") cells.splice(from, 1);
    else if (kind === "double") cells.splice(to, 0, cell);
    else cells[from] = cell.toUpperCase().slice(1);
    return cells.join(delimiter);
  };
  return latin(lines.map((line, at) => (isHeaderOnly && at > 0 ? line : change(line))).join("\n"));
}

export function quotesChanged(random: Random, bytes: Buffer): Buffer {
  const quote = pick(random, ["'", "", '""', "\xe2\x80\x9d", '\\"']);
  const share = pick(random, [1, 0.1]);
  const text = bytes.toString("latin1");
  return latin(text.replaceAll('"', (one) => (random() < share ? quote : one)));
}

/** Another JSON value in the place of one. */
export function valueChanged(random: Random, bytes: Buffer): Buffer {
  return replacedOne(
    random,
    bytes,
    /:\s*("(?:[^"\\]|\\.)*"|-?[0-9.]+|true|null|\[[^\]]*\])/g,
    () => `:${pick(random, values)}`,
  );
}

export function keyRepeated(random: Random, bytes: Buffer): Buffer {
  return replacedOne(random, bytes, /"([a-z_]+)"\s*:/g, (found, key) =>
    pick(random, [
      `"${key}":1,${found}`,
      `"${key}x":`,
      `"\\u0${key!.charCodeAt(0).toString(16).padStart(3, "0")}${key!.slice(1)}":null,${found}`,
      `"__proto__":`,
      `"${key!.toUpperCase()}":`,
    ]),
  );
}

function replacedOne(
  random: Random,
  bytes: Buffer,
  shape: RegExp,
  replacement: (found: string, group: string | undefined) => string,
): Buffer {
  const text = bytes.toString("latin1");
  const found = [...text.matchAll(shape)];
  if (found.length === 0) return bytes;
  const { 0: all, 1: group, index } = pick(random, found);
  return put(bytes, index, all.length, latin(replacement(all, group)));
}

export function encodingChanged(random: Random, bytes: Buffer): Buffer {
  const text = bytes.toString("utf8");
  return pick(random, [
    () => Buffer.concat([latin("\xff\xfe"), Buffer.from(text, "utf16le")]),
    () => Buffer.concat([latin("\xfe\xff"), Buffer.from(text, "utf16le").swap16()]),
    () => Buffer.from(text, "utf16le"),
    () => latin(text),
    () => Buffer.from(bytes.toString("latin1"), "utf8"),
    () => Buffer.concat([latin("\xef\xbb\xbf"), bytes]),
    () => gzipSync(bytes),
    () => latin(`<!doctype html><html>${text}`),
    () => none,
  ])();
}

export function nested(random: Random, bytes: Buffer): Buffer {
  const depth = pick(random, [10, 33, 200, 20_000]);
  return replacedOne(
    random,
    bytes,
    /:\s*("[^"]*"|null|\[\])/g,
    (found) => `:${"[".repeat(depth)}${found.slice(1)}${"]".repeat(depth)}`,
  );
}

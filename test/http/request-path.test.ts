/** Measures with V8's coverage through how many files and functions of `src` a request passes; `npm run path` lists them. */
import assert from "node:assert/strict";
import { Session } from "node:inspector/promises";
import { relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startService } from "../support/service.ts";

const src = fileURLToPath(new URL("../../src", import.meta.url));
/** A file counts where it is in every sample, which leaves out what a timer called meanwhile. */
const samples = 8;

const fileOf = (name: string) => name.split(" ", 1)[0]!;
const inEach = (sets: readonly Set<string>[]) =>
  sets.reduce((one, other) => one.intersection(other));

/** Only ever lowered: merge or simplify instead. */
const filesMax = { cold: 33, warm: 18 };

test("a reader who follows a request passes through few files", async (t) => {
  const { get } = await startService(t);
  const session = new Session();
  session.connect();
  t.after(() => session.disconnect());
  const take = async () => (await session.post("Profiler.takePreciseCoverage")).result;
  /** Returns the functions that answer a query, as `file offset`. */
  const passedBy = async (query: string): Promise<Set<string>> => {
    // Taking the counts resets them.
    await take();
    const { status } = await get(`/fetch-gp?${query}`);
    const scripts = await take();
    assert.equal(status, 200);
    return new Set(
      scripts
        .filter(({ url }) => url.startsWith("file:"))
        .map(({ url, functions }) => ({
          file: relative(src, fileURLToPath(url)).replaceAll("\\", "/"),
          called: functions.map(({ ranges }) => ranges[0]!).filter(({ count }) => count > 0),
        }))
        .filter(({ file }) => !file.startsWith("../"))
        .flatMap(({ file, called }) => called.map(({ startOffset }) => `${file} ${startOffset}`)),
    );
  };
  /** Returns the files that answer all samples of a query, each with the number of its functions. */
  const passedByAll = async (query: (sample: number) => string): Promise<Map<string, number>> => {
    const passes: Set<string>[] = [];
    for (let sample = 0; sample < samples; sample++) passes.push(await passedBy(query(sample)));
    const functions = [...inEach(passes)].map(fileOf);
    const files = inEach(passes.map((pass) => new Set([...pass].map(fileOf))));
    return new Map(
      [...files]
        .toSorted()
        .map((file) => [file, functions.filter((one) => one === file).length] as const),
    );
  };
  const tell = (what: string, files: Map<string, number>) => {
    const functions = files.values().reduce((sum, count) => sum + count, 0);
    const list = Array.from(files, ([file, count]) => `${file} ${count}`).join(", ");
    t.diagnostic(`${what}, ${files.size} files and ${functions} functions: ${list}`);
  };

  // What only the first request does, such as compiling a table, belongs to neither.
  await get("/fetch-gp?gp_name=northwind");
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const cold = await passedByAll((sample) => `gp_name=northwind&limit=${sample + 1}`);
  const warm = await passedByAll(() => "gp_name=northwind");
  tell("never asked before", cold);
  tell("in the cache", warm);

  for (const file of ["http/send-answer.ts", "gateway/gateway.ts", "limits/memory-counters.ts"])
    assert.ok(warm.has(file), file);
  assert.ok(cold.has("search/gp-search.ts") && !warm.has("search/gp-search.ts"));
  assert.ok(cold.size <= filesMax.cold, `${cold.size} files, at most ${filesMax.cold}`);
  assert.ok(warm.size <= filesMax.warm, `${warm.size} files, at most ${filesMax.warm}`);
});

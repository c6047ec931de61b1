/** Measures with V8's coverage through how many files of `src` a request passes; `npm run path` lists them. */
import assert from "node:assert/strict";
import { Session } from "node:inspector/promises";
import { relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startService } from "../support/service.ts";

const src = fileURLToPath(new URL("../../src", import.meta.url));
/** A file counts where it is in every sample, which leaves out what a timer called meanwhile. */
const samples = 8;

/** Only ever lowered: merge or simplify instead. */
const filesMax = { cold: 40, warm: 25 };

test("a reader who follows a request passes through few files", async (t) => {
  const { get } = await startService(t);
  const session = new Session();
  session.connect();
  t.after(() => session.disconnect());
  const take = async () => (await session.post("Profiler.takePreciseCoverage")).result;
  const passedBy = async (query: string): Promise<Set<string>> => {
    // Taking the counts resets them.
    await take();
    const { status } = await get(`/fetch-gp?${query}`);
    const scripts = await take();
    assert.equal(status, 200);
    return new Set(
      scripts
        .filter(({ url }) => url.startsWith("file:"))
        .filter(({ functions }) => functions.some(({ ranges }) => ranges[0]!.count > 0))
        .map(({ url }) => relative(src, fileURLToPath(url)).replaceAll("\\", "/"))
        .filter((file) => !file.startsWith("../")),
    );
  };
  const passedByAll = async (query: (sample: number) => string): Promise<string[]> => {
    let common = await passedBy(query(0));
    for (let sample = 1; sample < samples; sample++)
      common = common.intersection(await passedBy(query(sample)));
    return [...common].toSorted();
  };

  // What only the first request does, such as compiling a table, belongs to neither.
  await get("/fetch-gp?gp_name=northwind");
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const cold = await passedByAll((sample) => `gp_name=northwind&limit=${sample + 1}`);
  const warm = await passedByAll(() => "gp_name=northwind");
  t.diagnostic(`never asked before, ${cold.length} files: ${cold.join(" ")}`);
  t.diagnostic(`in the cache, ${warm.length} files: ${warm.join(" ")}`);

  for (const file of ["http/send-answer.ts", "gateway/gateway.ts", "limits/memory-counters.ts"])
    assert.ok(warm.includes(file), file);
  assert.ok(cold.includes("search/gp-search.ts") && !warm.includes("search/gp-search.ts"));
  assert.ok(cold.length <= filesMax.cold, `${cold.length} files, at most ${filesMax.cold}`);
  assert.ok(warm.length <= filesMax.warm, `${warm.length} files, at most ${filesMax.warm}`);
});

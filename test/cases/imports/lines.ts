/** Records that are too few, nested, endless or no JSON. */
import assert from "node:assert/strict";
import { appendFileSync, truncateSync } from "node:fs";
import { exitCodes } from "#cli/command-fault.ts";
import type { CaseOf } from "../../support/still-well.ts";
import {
  assertFileRefused,
  assertPublished,
  assertSame,
  gp,
  gpTable,
  type ImportOutcome,
  linesOf,
  rejectedLines,
  type Workplace,
} from "./workplace.ts";

export async function lineCases(caseOf: CaseOf, workplace: Workplace): Promise<void> {
  const { lines, table } = workplace;

  await caseOf(
    "C78 · an empty file and a header alone are refused without --allow-empty",
    async () => {
      assertPublished(await lines("c78", linesOf(gp("1"))));
      const each: ((...options: string[]) => Promise<ImportOutcome>)[] = [
        ...["", "\uFEFF\n\n"].map(
          (content) =>
            (...options: string[]) =>
              lines("c78", content, ...options),
        ),
        ...["", "\uFEFF", "\n\n", "Id,Name", "Id,Name\n"].map(
          (content) =>
            (...options: string[]) =>
              table("c78", content, gpTable(), ...options),
        ),
      ];
      for (const importOf of each)
        assertFileRefused(await importOf(), /^: holds no record; .* --allow-empty\n$/);
      const [first, ...others] = each;
      assert.equal(assertPublished(await first!("--allow-empty")).removed, 1);
      for (const importOf of others) assertSame(await importOf("--allow-empty"));
    },
  );

  await caseOf(
    "C79 · a delivery of less than half of what there was is refused unless --max-shrink allows it (there is no --force)",
    async () => {
      const some = (count: number) =>
        linesOf(...Array.from({ length: count }, (_, i) => gp(`${i}`)));
      const allow = (share: string) => ["--max-shrink", share];
      assertPublished(await lines("c79", some(2000)));
      for (const options of [[], allow("50%")]) {
        const { exitCode, report, err } = await lines("c79", some(999), ...options);
        assert.deepEqual([exitCode, report.refusal], [exitCodes.shrunk, "shrunk"]);
        assert.deepEqual(report.source_records, { before: 2000, now: 999 });
        assert.match(
          err,
          /^error: Source 'c79' would shrink from 2,000 to 999 records, by more than the 50% allowed; nothing was published\. .*--max-shrink 51%\.\n$/,
        );
      }
      assertPublished(await lines("c79", some(999), ...allow("51%")));
      assert.equal((await lines("c79", some(998), ...allow("0%"))).exitCode, exitCodes.shrunk);
      assertPublished(await lines("c79", some(500)));
      assertPublished(await lines("c79", some(5), ...allow("99%")));
    },
  );

  await caseOf(
    "C81 · ten thousand levels, lines of more than 1 MiB, repeated keys, __proto__, NaN and commas at the end are rejected with their line, and nothing grows",
    async () => {
      const start = '{"record":"gp","id":"x","name":';
      const wrong: [text: string, reason: RegExp][] = [
        [`${start}${"[".repeat(10_000)}${"]".repeat(10_000)}}`, /deeper than 32 levels/],
        [`${start}${'{"a":'.repeat(10_000)}`, /deeper than 32 levels|is not JSON/],
        [`${start}"${"x".repeat(2 ** 20)}"}`, /longer than 1048576 bytes/],
        [`${start}"X","name":"Y"}`, /the key "name" twice/],
        [`${start}"X","provenance":{"url":"x","url":"y"}}`, /the key "url" twice/],
        [`${start}"X","\\u0069d":"y"}`, /the key "id" twice/],
        [`${start}"X","__proto__":{"isOurs":true}}`, /the key "__proto__"/],
        [`${start}"X","constructor":{"prototype":{}}}`, /not a member/],
        [`${start}NaN}`, /is not JSON/],
        [`${start}"X","aum_usd":-Infinity}`, /is not JSON/],
        [`${start}"X",}`, /is not JSON/],
        [`${start}"X","tags":["a",]}`, /is not JSON/],
        ["{'record':'gp'}", /is not JSON/],
        [`[${start}"X"}]`, /must be a JSON object/],
        ["17", /must be a JSON object/],
      ];
      const content = wrong.map(([text]) => `${text}\n`).join("") + linesOf(gp("1"));
      const outcome = await lines("c81", content);
      const { rejections } = outcome.report;
      assert.equal(rejectedLines(outcome).length, wrong.length);
      for (const [i, [text, reason]] of wrong.entries()) {
        assert.equal(rejections[i].line, i + 1, text.slice(0, 80));
        assert.match(rejections[i].reason, reason, text.slice(0, 80));
      }
      assert.equal(({} as { isOurs?: boolean }).isOurs, undefined);

      const large = workplace.write("", "ndjson");
      truncateSync(large, 128 * 2 ** 20);
      appendFileSync(large, `\n${linesOf(gp("1"))}`);
      const before = process.memoryUsage.rss();
      const endless = await workplace.importFile("ndjson", large, ["--source", "c81"]);
      const grown = process.memoryUsage.rss() - before;
      assert.deepEqual(rejectedLines(endless), ["1 line"]);
      assert.ok(grown < 80 * 2 ** 20, `${grown} bytes more`);
    },
  );
}

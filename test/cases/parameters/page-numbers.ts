/** `limit` and `offset`. */
import assert from "node:assert/strict";
import { operations } from "#operations/index.ts";
import { faultsIn } from "../../support/problem-answer.ts";
import { ask } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";
import { records } from "./records.ts";

const offsetMax = 2_147_483_647;

export async function pageNumberCases(caseOf: CaseOf, { port, key }: TestService): Promise<void> {
  const get = (target: string) => ask(port, target, { key });

  await caseOf(
    "C17 · limit takes plain decimal digits from 1 to the largest page, and every other value is an error that names it",
    async () => {
      const wrong = {
        out_of_range: ["0", "00", "101", "9".repeat(400)],
        not_an_integer:
          "-1 %2B5 5.5 5.0 5, 1e2 0x10 abc null true NaN %205 5%20 +5 5+ %EF%BC%95 %D9%A5 1_0 10n".split(
            " ",
          ),
        empty_value: [""],
        invalid_encoding: ["5%00", "5%0A", "%FF"],
      };
      for (const { path } of operations) {
        const query = `${path}?gp_name=aa`;
        for (const [code, values] of Object.entries(wrong))
          for (const value of values) {
            const answer = await get(`${query}&limit=${value}`);
            assert.deepEqual(faultsIn(answer), [`limit ${code}`], value);
            const [{ minimum, maximum }] = answer.json.errors;
            if (code !== "invalid_encoding") assert.deepEqual([minimum, maximum], [1, 100]);
          }
        assert.deepEqual(faultsIn(await get(`${query}&limit`)), ["limit empty_value"]);
      }
      for (const [value, limit] of [
        ["1", 1],
        ["100", 100],
        ["007", 7],
        ["%31%30", 10],
      ] as const) {
        const { json } = await get(`/fetch-projects?limit=${value}`);
        assert.deepEqual([json.pagination.limit, json.data.length], [limit, limit]);
      }
      assert.equal((await get("/fetch-projects")).json.pagination.limit, 20);
    },
  );

  await caseOf(
    "C18 · offset takes plain decimal digits up to 2147483647, where a page is empty, and more is an error",
    async () => {
      for (const { path } of operations) {
        const query = `${path}?gp_name=aa`;
        const { status, json } = await get(`${query}&offset=${offsetMax}`);
        assert.deepEqual([status, json.data, json.pagination.offset], [200, [], offsetMax]);
        for (const value of [
          2n ** 31n,
          2n ** 53n,
          2n ** 53n + 1n,
          2n ** 63n,
          2n ** 64n,
          10n ** 300n,
        ]) {
          const answer = await get(`${query}&offset=${value}`);
          assert.deepEqual(faultsIn(answer), ["offset out_of_range"]);
          const [{ minimum, maximum }] = answer.json.errors;
          assert.deepEqual([minimum, maximum], [0, offsetMax]);
        }
        for (const value of ["-1", "-0", "1.0", "0x1", "1e1", "next"])
          assert.deepEqual(faultsIn(await get(`${query}&offset=${value}`)), [
            "offset not_an_integer",
          ]);
      }
      assert.equal((await get("/fetch-projects?offset=0")).json.data.length, 20);
    },
  );

  await caseOf(
    "C19 · pages are right before, at and beyond the end, and sixty deep ones in a row are too",
    async () => {
      const names = records
        .flatMap((record) => (record.record === "project" ? [record.name] : []))
        .toSorted((one, other) => (one < other ? -1 : 1));
      const total = names.length;
      const pageAt = async (offset: number) =>
        (await get(`/fetch-projects?limit=2&offset=${offset}`)).json;
      const namesAt = async (offset: number) =>
        (await pageAt(offset)).data.map(({ name }: { name: string }) => name);
      for (let offset = total - 60; offset < total; offset++)
        assert.deepEqual(await namesAt(offset), names.slice(offset, offset + 2));
      for (const offset of [total, total + 1, offsetMax - 1, offsetMax]) {
        const { data, pagination, meta } = await pageAt(offset);
        assert.deepEqual(data, []);
        assert.deepEqual(pagination, {
          limit: 2,
          offset,
          returned: 0,
          total,
          has_more: false,
          next_offset: null,
        });
        assert.equal(meta.hints[0].code, "past_the_end");
      }
    },
  );
}

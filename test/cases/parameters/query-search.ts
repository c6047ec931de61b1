/** What a text finds, whatever special characters are in it. */
import assert from "node:assert/strict";
import { mintId } from "#datasets/draft-record.ts";
import { operations } from "#operations/index.ts";
import { assertProblem, faultsIn } from "../../support/problem-answer.ts";
import { ask } from "../../support/raw-client.ts";
import { referenceAnswer } from "../../support/reference.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";
import { records } from "./records.ts";

export async function querySearchCases(caseOf: CaseOf, { port, key }: TestService): Promise<void> {
  const get = (target: string) => ask(port, target, { key });
  const faults = async (target: string) => faultsIn(await get(target));
  const encode = encodeURIComponent;

  /** Both operations must find exactly what a linear search finds. */
  async function assertLikeReference(text: string): Promise<void> {
    for (const operation of ["fetch-gp", "fetch-projects"] as const) {
      const query = { operation, gp_name: text, limit: 100, offset: 0 };
      const expected = referenceAnswer(
        records,
        query,
        (kind, id) => mintId(kind, "own", id),
        () => [],
      );
      const { status, json } = await get(`/${operation}?limit=100&gp_name=${encode(text)}`);
      assert.equal(status, 200, text);
      assert.deepEqual(
        json.data.map(({ id }: { id: string }) => id),
        expected.ids,
        `${operation} ${text}`,
      );
    }
  }

  await caseOf(
    "C23 · % _ \\ and ' are no signs: a query finds what a search one record after another finds",
    async () => {
      for (const text of [
        "50%",
        "50% equity",
        "%equity",
        "%%",
        "a_b",
        "a_b capital",
        "_b",
        "back\\slash",
        "slash\\",
        "\\",
        "\\\\",
        "o'hara",
        "' OR 1=1 --",
        "o'hara' OR 'a'='a",
        "x'; drop table gp",
        "capital%",
        "cap_tal",
        "c%l",
        "ohara",
        "near/far",
        "plus+minus-",
        "star*",
        "[a-z]",
      ])
        if (text.length > 1) await assertLikeReference(text);
      const { json } = await get("/fetch-gp?gp_name=a_b");
      assert.deepEqual(
        json.data.map(({ name }: { name: string }) => name),
        ["A_B Capital"],
      );
    },
  );

  await caseOf(
    "C24 · the language of full-text search is text like any other, and never a 5xx",
    async () => {
      for (const text of ['"', "'", "(", "-", "*", ":", "^", ")", '""', "()", "%"]) {
        const { status, json } = await get(`/fetch-projects?gp_name=${encode(text)}`);
        assert.deepEqual([status, json.pagination.total], [200, 0], text);
        assert.equal(json.meta.hints[0].code, "no_searchable_character", text);
        if (text.length === 1)
          assert.deepEqual(await faults(`/fetch-gp?gp_name=${encode(text)}`), [
            "gp_name too_short",
          ]);
      }
      for (const text of [
        "a AND",
        "NOT a",
        "a OR b",
        "NEAR(a b)",
        "name:kkr",
        "kkr*",
        '"kkr',
        "(kkr",
        "^kkr",
        "near AND not",
        "-kkr",
        "{kkr}",
        "kkr + gem",
        "a NOT b",
        "AND",
        "kkr AND NOT kkr",
      ])
        await assertLikeReference(text);
      for (const { path } of operations)
        for (const text of ["", "+", "%20%20", "%E2%80%83"])
          assert.deepEqual(await faults(`${path}?gp_name=${text}`), ["gp_name empty_value"]);
    },
  );

  await caseOf(
    "C30 · an id has one spelling: any other finds nothing or what it says, and no path takes one",
    async () => {
      const [kkr] = (await get("/fetch-gp?gp_name=kkr")).json.data;
      const found = async (text: string) =>
        (await get(`/fetch-projects?gp_name=${text}`)).json.data;
      for (const text of [kkr.id, `%20${kkr.id}%20`, `+${kkr.id}`])
        assert.deepEqual(
          (await found(text)).map(({ name }: { name: string }) => name),
          ["The Alder at Mueller"],
        );
      for (const text of [
        kkr.id.toUpperCase(),
        kkr.id.slice(0, -1),
        `${kkr.id}0`,
        kkr.id.slice(3),
        `x${kkr.id}`,
        "gp_0000000000000000",
        `${kkr.id.slice(0, 6)}%20${kkr.id.slice(6)}`,
        "0",
        "-1",
        "01",
        "1.0",
        "9223372036854775808",
        "pj_0000000000000000",
      ])
        assert.deepEqual(await found(text), [], text);
      for (const { path } of operations)
        for (const id of [kkr.id, "0", "-1", "01", "1.0", "9223372036854775808"])
          assertProblem(await get(`${path}/${id}`), 404, "unknown-path");
    },
  );
}

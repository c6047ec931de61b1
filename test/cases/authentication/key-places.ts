/** Where a key is read, and that it is never echoed from anywhere else. */
import assert from "node:assert/strict";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask, type RequestParts } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";

const path = "/fetch-gp?gp_name=kkr";

export async function keyPlaceCases(caseOf: CaseOf, { port, key }: TestService): Promise<void> {
  const get = (parts: RequestParts, target = path) => ask(port, target, parts);

  await caseOf(
    "C35 · a key in the query, the path, a cookie, Authorization or any other header is not read, and never echoed",
    async () => {
      const elsewhere = [
        "Authorization: Bearer",
        "Authorization: ApiKey",
        "Cookie: x-api-key=",
        "X-Key:",
        "Api-Key:",
        "X-Api-Token:",
        "Proxy-Authorization:",
        "X-Request-Id:",
        "From:",
      ];
      for (const line of elsewhere) {
        const answer = await get({ headers: [`${line} ${key}`] });
        assertProblem(answer, 401, "api-key-missing");
        assert.equal(answer.text.includes(key.slice(8)), false, line);
      }
      for (const encoded of [key, key.replace("_", "%5F"), key.replace("_", "%5f")]) {
        for (const name of ["x-api-key", "api_key", "key", "gp_name", encoded])
          for (const more of ["", "&limit=%zz"]) {
            const answer = await get({}, `${path}&${name}=${encoded}${more}`);
            assertProblem(answer, 401, "api-key-missing");
            assert.equal(answer.text.includes(key.slice(8)), false, name);
            const refused = await get({ key }, `${path}&${encoded}%zz=${name}`);
            assertProblem(refused, 400, "invalid-parameters");
            assert.equal(refused.text.includes(key.slice(8)), false, name);
          }
        for (const target of [
          `/${encoded}`,
          `/fetch-gp/${encoded}`,
          `/${encoded}/fetch-gp`,
          `http://${encoded}/fetch`,
        ]) {
          const answer = await get({}, target);
          assertProblem(answer, 404, "unknown-path");
          assert.equal(answer.text.includes(key.slice(8)), false, target);
        }
        const named = await get({}, `http://${encoded}@x/fetch`);
        assertProblem(named, 400, "malformed-request");
        assert.equal(named.text.includes(key.slice(8)), false);
      }
      for (const [place, parts, target] of [
        ["the query string", {}, `${path}&x=${key}`],
        ["the header Authorization", { headers: [`Authorization: Bearer ${key}`] }, path],
        ["a cookie", { headers: [`Cookie: a=${key}`] }, path],
      ] as const)
        assert.match(
          (await get(parts, target)).json.detail,
          new RegExp(`looks like a key in ${place}`),
        );
    },
  );

  await caseOf(
    "C36 · the name of the header is read in any letter case, and blanks around the key mean nothing",
    async () => {
      for (const line of [
        `X-API-KEY: ${key}`,
        `X-Api-Key: ${key}`,
        `x-api-key:${key}`,
        `x-api-key: \t ${key} \t `,
      ])
        assert.equal((await get({ headers: [line] })).status, 200, line);
      for (const line of [
        `x_api_key: ${key}`,
        `xapikey: ${key}`,
        `x-api-key-: ${key}`,
        `x-api-keys: ${key}`,
      ])
        assertProblem(await get({ headers: [line] }), 401, "api-key-missing");
    },
  );
}

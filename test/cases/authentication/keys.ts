/** Which key is accepted. */
import assert from "node:assert/strict";
import { makeKey } from "#keys/api-key.ts";
import { command } from "../../support/command-line.ts";
import { assertProblem } from "../../support/problem-answer.ts";
import type { ProblemCode } from "#problems.ts";
import { ask, type RawJsonAnswer, type RequestParts } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";

const path = "/fetch-gp?gp_name=kkr";

export async function keyCases(caseOf: CaseOf, service: TestService): Promise<void> {
  const { port, clock, key } = service;
  /** No more than thirty a minute, so that none is refused by the limit on failed keys. */
  const get = (parts: RequestParts, target = path) => {
    clock.advance(2.1);
    return ask(port, target, parts);
  };
  const assertInvalid = (answer: RawJsonAnswer, reason: string, what = reason) =>
    assert.equal(assertProblem(answer, 401, "api-key-invalid").reason, reason, what);
  const damaged = (good: string) =>
    `${good.slice(0, 20)}${good[20] === "a" ? "b" : "a"}${good.slice(21)}`;

  await caseOf(
    "C32 · every key that cannot be used is a 401 whose code tells the fault, word for word the same for all who commit it; what it was before is told to its holder alone",
    async () => {
      const { key: expired } = await service.newKey({ expiresAt: clock.now() + 1000 });
      const { key: revoked, id } = await service.newKey();
      const etag = (await ask(port, path, { key: revoked })).headers["etag"]!;
      await command(["keys", "revoke", id], { dataDir: service.dataDir, now: clock.now });
      const kinds: { code: ProblemCode; reason?: string; keys: (string | undefined)[] }[] = [
        { code: "api-key-missing", keys: [undefined, "", " ", " \t "] },
        {
          code: "api-key-invalid",
          reason: "malformed",
          keys: ["nope", "gpr_", `gpx_${key.slice(4)}`, `GPR_${key.slice(4)}`],
        },
        {
          code: "api-key-invalid",
          reason: "checksum",
          keys: [key, expired, revoked, makeKey()].map(damaged),
        },
        { code: "api-key-invalid", reason: "unknown", keys: [makeKey(), makeKey()] },
        { code: "api-key-expired", keys: [expired, expired] },
        { code: "api-key-revoked", keys: [revoked, revoked] },
      ];
      for (const { code, reason, keys } of kinds) {
        const seen = new Set<string>();
        for (const wrong of keys)
          for (const target of [path, "/v1/fetch-signals?limit=0", "/fetch-gp"]) {
            const answer = await get(
              { key: wrong, headers: ["If-None-Match: *", `If-None-Match: ${etag}`] },
              target,
            );
            const problem = assertProblem(answer, 401, code);
            assert.equal(problem.reason, reason);
            assert.equal(answer.headers["ratelimit"], undefined);
            if (wrong !== undefined && wrong.length > 8)
              assert.equal(answer.text.includes(wrong.slice(8)), false);
            const { "x-request-id": _id, date: _date, ...headers } = answer.headers;
            seen.add(JSON.stringify([headers, { ...problem, request_id: null }]));
          }
        assert.equal(seen.size, 1, code);
      }
      assert.equal((await get({ key: expired })).json.key_hint, expired.slice(0, 8));
      assert.equal((await get({ key: revoked })).json.key_hint, revoked.slice(0, 8));
    },
  );

  await caseOf("C33 · two lines with a key are refused, whichever of them is valid", async () => {
    for (const twice of [
      [key, key],
      [key, "nope"],
      ["nope", key],
      [key, ""],
      ["", key],
    ])
      for (const name of ["x-api-key", "X-API-KEY"]) {
        const lines = [`x-api-key: ${twice[0]}`, `${name}: ${twice[1]}`];
        assertInvalid(await get({ headers: lines }), "malformed", twice.join());
        const apart = [lines[0]!, ...Array<string>(40).fill("a: b"), lines[1]!];
        assertInvalid(await get({ headers: apart }), "malformed");
      }
    for (const joined of [`${key},${key}`, `${key}, `, `,${key}`, `${key};`])
      assertInvalid(await get({ key: joined }), "malformed");
    assert.equal((await get({ key })).status, 200);
  });

  await caseOf(
    "C34 · a key is taken letter by letter: nothing is trimmed from it, unquoted or made alike",
    async () => {
      const swapped = key
        .slice(4)
        .replace(/[a-z]/gi, (letter) =>
          letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
        );
      for (const almost of [
        key.slice(0, -1),
        key.slice(1),
        `${key}0`,
        `0${key}`,
        `${key}${key}`,
        key.toUpperCase(),
        `"${key}"`,
        `'${key}'`,
        `<${key}>`,
        `Bearer ${key}`,
        `ApiKey ${key}`,
        `x-api-key: ${key}`,
        key.replace("_", "%5F"),
        key.replace("_", "-"),
        key.replace("_", " "),
        `${key}\u00a0`,
        `${key}\u00e9`,
        `\u00ef\u00bb\u00bf${key}`,
        key.replace("p", "\u00d1\u0080"),
        `${key}\u0085`,
      ])
        assertInvalid(await get({ key: almost }), "malformed", almost);
      for (const almost of [`gpr_${key.slice(4).toLowerCase()}`, `gpr_${swapped}`, damaged(key)])
        assertInvalid(await get({ key: almost }), "checksum", almost);
    },
  );

  await caseOf("C37 · a key of fifteen thousand characters is a 401 like any other", async () => {
    for (const long of ["g".repeat(15_000), key.repeat(375), `${key}${" ".repeat(14_000)}x`])
      assertInvalid(await get({ key: long }), "malformed");
    assertProblem(await get({ key: key.repeat(500) }), 431, "headers-too-large");
  });
}

/** The names in a query, and how it is split into pairs. */
import assert from "node:assert/strict";
import { operations } from "#operations/index.ts";
import { assertProblem, faultsIn } from "../../support/problem-answer.ts";
import { ask } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";

export async function queryNameCases(caseOf: CaseOf, { port, key }: TestService): Promise<void> {
  const get = (target: string) => ask(port, target, { key });
  const faults = async (target: string) => faultsIn(await get(target));
  const total = async (query: string) =>
    (await get(`/fetch-gp?${query}`)).json.pagination.total as number;

  await caseOf(
    "C20 · gp_name, limit and offset may be given once, brackets are part of a name, and tag, theme and market may be repeated",
    async () => {
      for (const { path } of operations) {
        const query = `${path}?gp_name=kkr`;
        for (const [more, fault] of [
          ["limit=1&limit=2", "limit repeated_parameter"],
          ["limit=1&limit=1", "limit repeated_parameter"],
          ["offset=0&offset=1", "offset repeated_parameter"],
          ["gp_name=gem", "gp_name repeated_parameter"],
          ["gp_name=", "gp_name repeated_parameter"],
          ["%67p_name=gem", "gp_name repeated_parameter"],
          ["gp_name[]=gem", "gp_name[] unknown_parameter"],
          ["gp_name%5B$ne%5D=gem", "gp_name[$ne] unknown_parameter"],
          ["limit[0]=1", "limit[0] unknown_parameter"],
          ["gp_name.like=gem", "gp_name.like unknown_parameter"],
        ] as const)
          assert.deepEqual(await faults(`${query}&${more}`), [fault], more);
      }
      assert.equal(await total("gp_name=re&tag=core&tag=value_add"), 2);
      for (const name of ["tag", "theme", "market"]) {
        const ten = `/fetch-gp?gp_name=kk${`&${name}=a`.repeat(10)}`;
        assert.equal((await get(ten)).status, 200);
        assert.deepEqual(await faults(`${ten}&${name}=a`), [`${name} too_many_values`]);
      }
    },
  );

  await caseOf(
    "C21 · a misspelt, unknown or upper-case parameter is an error that names it, what is allowed, and what may be meant",
    async () => {
      for (const { path, filters } of operations) {
        const allowed = [...Object.keys(filters), "limit", "offset"];
        for (const [name, suggestion] of [
          ["gp_nme", "gp_name"],
          ["gp_nmae", "gp_name"],
          ["gpname", "gp_name"],
          ["GP_NAME", undefined],
          ["Limit", "limit"],
          ["LIMIT", undefined],
          ["ofset", "offset"],
          ["q", undefined],
          ["name", undefined],
          ["per_page", undefined],
          ["limit ", "limit"],
          ["api_key", undefined],
          ["callback", undefined],
          ["", undefined],
        ] as const) {
          const answer = await get(`${path}?gp_name=kkr&${encodeURIComponent(name)}=1`);
          assert.deepEqual(faultsIn(answer), [`${name} unknown_parameter`]);
          const [fault] = answer.json.errors;
          assert.deepEqual([fault.suggestion, fault.allowed], [suggestion, allowed], name);
        }
      }
      for (const name of ["tag", "theme", "market"]) {
        const answer = await get(`/fetch-signals?${name}=x`);
        assert.deepEqual(faultsIn(answer), [`${name} unknown_parameter`]);
        assert.deepEqual(answer.json.errors[0].allowed_on, ["/fetch-gp", "/fetch-principals"]);
      }
    },
  );

  await caseOf(
    "C22 · names that mean something to JavaScript are unknown like any other, and change no later answer",
    async () => {
      const asked = "/fetch-gp?gp_name=northwind&tag=multifamily";
      const before = await get(asked);
      const headers = ["__proto__: x", "constructor: x", "hasOwnProperty: x", "toString: x"];
      for (const { path } of operations) {
        for (const name of [
          "__proto__",
          "__proto__[limit]",
          "constructor",
          "constructor[prototype][limit]",
          "prototype",
          "hasOwnProperty",
          "toString",
          "valueOf",
        ])
          assert.deepEqual(await faults(`${path}?gp_name=kkr&${name}=1`), [
            `${name} unknown_parameter`,
          ]);
        for (const name of ["__proto__", "constructor"]) {
          const { status, json } = await ask(port, `${path}?gp_name=${name}`, { key, headers });
          assert.deepEqual([status, json.pagination.total], [200, 0]);
          assertProblem(await get(`${path}/${name}`), 404, "unknown-path");
          assertProblem(await get(`/${name}`), 404, "unknown-path");
        }
      }
      for (const name of ["__proto__", "constructor", "toString"]) {
        assertProblem(await get(`/errors/${name}`), 404, "unknown-path");
        assertProblem(await get(`/assets/${name}`), 404, "unknown-path");
      }
      const after = await get(asked);
      assert.equal(after.body, before.body);
      assert.equal(after.headers["etag"], before.headers["etag"]);
    },
  );

  await caseOf(
    "C29 · thousands of parameters are one 400 that lists the first 20 faults and says how many there are, and empty pairs are nothing",
    async () => {
      assert.deepEqual(await faults(`/fetch-gp?gp_name=kkr&${"a=&".repeat(2000)}`), [
        "a unknown_parameter",
      ]);
      const names = Array.from({ length: 1500 }, (_, i) => i.toString(36));
      const answer = await get(`/fetch-gp?gp_name=kkr&${names.join("&")}`);
      assert.deepEqual(
        faultsIn(answer),
        names.slice(0, 20).map((name) => `${name} unknown_parameter`),
      );
      assert.equal(answer.json.errors_total, 1500);
      assert.match(answer.json.detail, /^1500 problems: .* 1495 more, 15 of them in errors\.$/);
      assert.ok(answer.body.length < 8192, `${answer.body.length} characters`);
      assert.deepEqual(
        await faults(`/fetch-gp?${"gp_name=kk&".repeat(700)}`),
        Array.from({ length: 20 }, () => "gp_name repeated_parameter"),
      );
      assert.deepEqual(await faults("/fetch-gp?gp_name=kkr&&&=&="), [" unknown_parameter"]);
      assert.equal(await total("&&&gp_name=kkr&&&"), 1);
      assert.deepEqual(await faults(`/fetch-gp?${"&".repeat(8000)}`), ["gp_name missing"]);
    },
  );

  await caseOf(
    "C31 · + and %20 are a space, %2B a plus, only & parts pairs, a second ? is data, and # is refused",
    async () => {
      for (const space of ["+", "%20", "++", "%20+"])
        assert.equal(await total(`gp_name=capital${space}sequoia`), 1, space);
      for (const data of ["%2B", "?", ";", "%3B", "%26", "%3D", "=", "%23", ",", "/", ":@"])
        assert.equal(await total(`gp_name=capital${data}sequoia`), 1, data);
      const { json } = await get("/fetch-gp?gp_name=zzzz;limit=1?offset=2");
      assert.deepEqual([json.pagination.limit, json.pagination.offset], [20, 0]);
      assert.match(json.meta.hints[0].message, /'zzzz;limit=1\?offset=2'/);
      assert.deepEqual(await faults("/fetch-gp??gp_name=kkr"), [
        "?gp_name unknown_parameter",
        "gp_name missing",
      ]);
      assert.equal((await get("/fetch-principals?tag=qof,serial_filer")).json.pagination.total, 0);
      for (const target of ["/fetch-gp?gp_name=kkr#x", "/fetch-gp#?gp_name=kkr"])
        assertProblem(await get(target), 400, "malformed-request");
      const [first, second] = [
        await get("/fetch-gp?gp_name=a%2Bb+c"),
        await get("/fetch-gp?gp_name=a%2bb%20c"),
      ];
      assert.equal(first.headers["etag"], second.headers["etag"]);
      assert.match(first.headers["link"]!, /<\/fetch-gp\?gp_name=a%2Bb\+c&limit=20&offset=0>/);
    },
  );
}

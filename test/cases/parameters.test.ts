import assert from "node:assert/strict";
import { test } from "node:test";
import { mintId } from "#datasets/draft-record.ts";
import { operations } from "#operations/index.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import { listed } from "../support/awkward/words.ts";
import { cast } from "../support/cast.ts";
import { assertProblem, faultsIn } from "../support/problem-answer.ts";
import { ask, askBytes } from "../support/raw-client.ts";
import { referenceAnswer } from "../support/reference.ts";
import { startService, type TestService } from "../support/service.ts";
import { type CaseOf, casesOf, inThisProcess } from "../support/still-well.ts";

/** Names with characters that are special in other search engines. */
const signed = [
  "50% Equity",
  "50 Equity",
  "A_B Capital",
  "AxB Capital",
  "Back\\slash Fund",
  "O'Hara Group",
  '"Quoted" Partners',
  "(Bracketed) Partners",
  "Star* Realty",
  "Near/Far AND Not",
  "Plus+Minus-",
].map((name, i) => ({ record: "gp", id: `signed-${i}`, name }));
const linked = signed.map(({ id }, i) => ({
  record: "project",
  id: `p${i}`,
  name: `Project ${i}`,
  gps: [id],
}));
/** Enough for the largest page. */
const pages = Array.from({ length: 120 }, (_, i) => ({
  record: "project",
  id: `page-${i}`,
  name: `P ${String(i).padStart(3, "0")}`,
}));

const records: readonly CanonicalRecord[] = [
  ...cast,
  ...signed,
  ...linked,
  ...pages,
] as readonly unknown[] as CanonicalRecord[];

const offsetMax = 2_147_483_647;

/** `limit` and `offset`. */
async function pageNumberCases(it: CaseOf, { port, key }: TestService): Promise<void> {
  const get = (target: string) => ask(port, target, { key });

  await it("C17 · limit takes plain decimal digits from 1 to the largest page, and every other value is an error that names it", async () => {
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
    for (const [value, limit] of Object.entries({ 1: 1, 100: 100, "007": 7, "%31%30": 10 })) {
      const { json } = await get(`/fetch-projects?limit=${value}`);
      assert.deepEqual([json.pagination.limit, json.data.length], [limit, limit]);
    }
    assert.equal((await get("/fetch-projects")).json.pagination.limit, 20);
  });

  await it("C18 · offset takes plain decimal digits up to 2147483647, where a page is empty, and more is an error", async () => {
    const tooLarge = [2n ** 31n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n, 10n ** 300n];
    for (const { path } of operations) {
      const query = `${path}?gp_name=aa`;
      const { status, json } = await get(`${query}&offset=${offsetMax}`);
      assert.deepEqual([status, json.data, json.pagination.offset], [200, [], offsetMax]);
      for (const value of tooLarge) {
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
  });

  await it("C19 · pages are right before, at and beyond the end, and sixty deep ones in a row are too", async () => {
    const names = records
      .flatMap((record) => (record.record === "project" ? [record.name] : []))
      .toSorted((one, other) => (one < other ? -1 : 1));
    const total = names.length;
    const pageAt = async (offset: number) =>
      (await get(`/fetch-projects?limit=2&offset=${offset}`)).json;
    for (let offset = total - 60; offset < total; offset++) {
      const { data, pagination } = await pageAt(offset);
      const expected = names.slice(offset, offset + 2);
      assert.deepEqual(
        data.map(({ name }: { name: string }) => name),
        expected,
      );
      const has_more = offset + 2 < total;
      const next_offset = has_more ? offset + 2 : null;
      const returned = expected.length;
      assert.deepEqual(pagination, { limit: 2, offset, returned, total, has_more, next_offset });
    }
    for (const offset of [total, total + 1, offsetMax - 1, offsetMax]) {
      const { data, pagination, meta } = await pageAt(offset);
      assert.deepEqual(data, []);
      const end = { returned: 0, total, has_more: false, next_offset: null };
      assert.deepEqual(pagination, { limit: 2, offset, ...end });
      assert.equal(meta.hints[0].code, "past_the_end");
    }
  });
}

/** The names in a query, and how it is split into pairs. */
async function queryNameCases(it: CaseOf, { port, key }: TestService): Promise<void> {
  const get = (target: string) => ask(port, target, { key });
  const faults = async (target: string) => faultsIn(await get(target));
  const total = async (query: string) =>
    (await get(`/fetch-gp?${query}`)).json.pagination.total as number;

  await it("C20 · gp_name, limit and offset may be given once, brackets are part of a name, and tag, theme and market may be repeated", async () => {
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
  });

  await it("C21 · a misspelt, unknown or upper-case parameter is an error that names it, what is allowed, and what may be meant", async () => {
    for (const { path, filters, sorts } of operations) {
      const sort = sorts === null ? [] : ["sort"];
      const allowed = [...Object.keys(filters), ...sort, "limit", "offset"];
      const near = Object.hasOwn(filters, "id") ? "id" : undefined;
      for (const [name, suggestion] of [
        ["gp_nme", "gp_name"],
        ["gp_nmae", "gp_name"],
        ["gpname", "gp_name"],
        ["GP_NAME", undefined],
        ["Limit", "limit"],
        ["LIMIT", undefined],
        ["ofset", "offset"],
        ["q", near],
        ["name", undefined],
        ["per_page", undefined],
        ["limit ", "limit"],
        ["api_key", undefined],
        ["callback", undefined],
        ["", near],
      ] as const) {
        if (allowed.includes(name)) continue;
        const answer = await get(`${path}?gp_name=kkr&${encodeURIComponent(name)}=1`);
        assert.deepEqual(faultsIn(answer), [`${name} unknown_parameter`]);
        const [fault] = answer.json.errors;
        assert.deepEqual([fault.suggestion, fault.allowed], [suggestion, allowed], name);
      }
    }
  });

  await it("C22 · names that mean something to JavaScript are unknown like any other, and change no later answer", async () => {
    const asked = "/fetch-gp?gp_name=northwind&tag=multifamily";
    const before = await get(asked);
    const headers = ["__proto__: x", "constructor: x", "hasOwnProperty: x", "toString: x"];
    for (const { path } of operations) {
      for (const name of listed(`
        __proto__ __proto__[limit] constructor constructor[prototype][limit] prototype
        hasOwnProperty toString valueOf
      `))
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
  });

  await it("C29 · thousands of parameters are one 400 that lists the first 20 faults and says how many there are, and empty pairs are nothing", async () => {
    assert.deepEqual(await faults(`/fetch-gp?gp_name=kkr&${"a=&".repeat(2000)}`), [
      "a unknown_parameter",
    ]);
    const long = "n".repeat(80);
    assert.deepEqual(await faults(`/fetch-gp?gp_name=kkr&${long}=`), [
      `${long.slice(0, 50)}… unknown_parameter`,
    ]);
    const names = Array.from({ length: 1500 }, (_, i) => i.toString(36));
    const answer = await get(`/fetch-gp?gp_name=kkr&${names.join("&")}`);
    const listedFaults = names.slice(0, 20).map((name) => `${name} unknown_parameter`);
    assert.deepEqual(faultsIn(answer), listedFaults);
    assert.equal(answer.json.errors_total, 1500);
    assert.match(answer.json.detail, /^1500 problems: .* 1495 more, 15 of them in errors\.$/);
    const { json } = await get(`/fetch-gp?gp_name=kkr&${names.slice(0, 20).join("&")}`);
    assert.deepEqual([json.errors.length, json.errors_total], [20, undefined]);
    assert.match(json.detail, /^20 problems: .* 15 more in errors\.$/);
    assert.ok(answer.body.length < 8192, `${answer.body.length} characters`);
    const repeated = await faults(`/fetch-gp?${"gp_name=kk&".repeat(700)}`);
    assert.deepEqual(repeated, Array<string>(20).fill("gp_name repeated_parameter"));
    assert.deepEqual(await faults("/fetch-gp?gp_name=kkr&&&=&="), [" unknown_parameter"]);
    assert.equal(await total("&&&gp_name=kkr&&&"), 1);
    assert.deepEqual(await faults(`/fetch-gp?${"&".repeat(8000)}`), ["gp_name missing"]);
  });

  await it("C31 · + and %20 are a space, %2B a plus, only & parts pairs, a second ? is data, and # is refused", async () => {
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
    const first = await get("/fetch-gp?gp_name=a%2Bb+%C3%A9");
    const second = await get("/fetch-gp?gp_name=a%2bb%20e%CC%81");
    assert.equal(first.headers["etag"], second.headers["etag"]);
    assert.match(first.headers["link"]!, /<\/fetch-gp\?gp_name=a%2Bb\+%C3%A9&limit=20&offset=0>/);
  });
}

/** What a text finds, whatever special characters are in it. */
async function querySearchCases(it: CaseOf, { port, key }: TestService): Promise<void> {
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
      const ids = json.data.map(({ id }: { id: string }) => id);
      assert.deepEqual(ids, expected.ids, `${operation} ${text}`);
    }
  }

  await it("C23 · % _ \\ and ' are no signs: a query finds what a search one record after another finds", async () => {
    for (const text of [
      ...listed(`
        50% %equity %% a_b _b back\\slash slash\\ \\ \\\\ o'hara capital% cap_tal c%l ohara near/far
        plus+minus- star* [a-z]
      `),
      "50% equity",
      "a_b capital",
      "' OR 1=1 --",
      "o'hara' OR 'a'='a",
      "x'; drop table gp",
    ])
      if (text.length > 1) await assertLikeReference(text);
    const { json } = await get("/fetch-gp?gp_name=a_b");
    const names = json.data.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ["A_B Capital"]);
  });

  await it("C24 · the language of full-text search is text like any other, and never a 5xx", async () => {
    for (const text of ['"', "'", "(", "-", "*", ":", "^", ")", '""', "()", "%"]) {
      const { status, json } = await get(`/fetch-projects?gp_name=${encode(text)}`);
      assert.deepEqual([status, json.pagination.total], [200, 0], text);
      assert.equal(json.meta.hints[0].code, "no_searchable_character", text);
      if (text.length === 1)
        assert.deepEqual(await faults(`/fetch-gp?gp_name=${encode(text)}`), ["gp_name too_short"]);
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
  });

  await it("C30 · an id has one spelling: any other finds nothing or what it says, and no path takes one", async () => {
    const [kkr] = (await get("/fetch-gp?gp_name=kkr")).json.data;
    const found = async (text: string) => (await get(`/fetch-projects?gp_name=${text}`)).json.data;
    const numbers = ["0", "-1", "01", "1.0", "9223372036854775808"];
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
      "pj_0000000000000000",
      ...numbers,
    ])
      assert.deepEqual(await found(text), [], text);
    for (const { path } of operations)
      for (const id of [kkr.id, ...numbers])
        assertProblem(await get(`${path}/${id}`), 404, "unknown-path");
  });
}

/** Which texts a query may contain, how long they may be, and which bytes are no text. */
async function queryTextCases(it: CaseOf, { port, key }: TestService): Promise<void> {
  const get = (target: string) => ask(port, target, { key });
  const faults = async (target: string) => faultsIn(await get(target));
  const encode = encodeURIComponent;

  await it("C25 · lengths are counted in code points of the trimmed NFC text, and hold exactly at their bounds", async () => {
    const status = async (path: string, name: string, text: string) =>
      (await get(`${path}${name}=${encode(text)}`)).status;
    for (const text of ["a", " a ", "😀", "e\u0301"])
      assert.deepEqual(await faults(`/fetch-gp?gp_name=${encode(text)}`), ["gp_name too_short"]);
    assert.equal(await status("/fetch-gp?", "gp_name", "kk"), 200);
    assert.equal(await status("/fetch-gp?", "gp_name", "😀😀"), 200);
    assert.equal(await status("/fetch-signals?", "gp_name", "a"), 200);
    for (const letter of ["a", "é", "e\u0301", "😀", "三", "\u0301", "ﬀ", "%", " a".slice(1)])
      for (const [path, name, lengthMax] of [
        ["/fetch-gp?", "gp_name", 200],
        ["/fetch-gp?gp_name=kkr&", "tag", 100],
        ["/fetch-gp?gp_name=kkr&", "theme", 100],
        ["/fetch-principals?", "market", 100],
      ] as const) {
        const text = letter.repeat(lengthMax);
        assert.equal(await status(path, name, text), 200, `${name} ${letter}`);
        assert.deepEqual(await faults(`${path}${name}=${encode(`${text}b`)}`), [
          `${name} too_long`,
        ]);
      }
    assert.equal(await status("/fetch-gp?", "gp_name", `  ${"a".repeat(200)}\u3000 `), 200);
    assert.deepEqual(await faults(`/fetch-gp?gp_name=${"a".repeat(8000)}`), ["gp_name too_long"]);
    // One character that becomes three when it is composed.
    assert.deepEqual(await faults(`/fetch-gp?gp_name=${encode("\u{1D160}".repeat(67))}`), [
      "gp_name too_long",
    ]);
  });

  await it("C26 · control characters are an error in the name and the value of any parameter", async () => {
    const controls = [...Array(32).keys(), 0x7f].map(
      (code) => `%${code.toString(16).padStart(2, "0")}`,
    );
    for (const control of [...controls, "%C2%80", "%C2%9F"])
      for (const name of ["gp_name", "tag", "theme", "market", "limit", "offset", "other"]) {
        const query = name === "gp_name" ? "" : "gp_name=kkr&";
        for (const pair of [`${name}=1${control}1`, `${name}=${control}`])
          assert.deepEqual(await faults(`/fetch-gp?${query}${pair}`), [`${name} invalid_encoding`]);
      }
    assert.deepEqual(await faults("/fetch-gp?gp_name=kkr&gp_name%00=1"), [
      "gp_name%00 invalid_encoding",
    ]);
    const { json } = await get("/fetch-gp?gp_name=k%E2%80%8Bk%EF%BB%BFr");
    assert.equal(json.pagination.total, 0, "invisible characters part words");
  });

  await it("C27 · a byte beyond ASCII that is not percent-encoded is a 400", async () => {
    for (const bytes of ["\u00e9", "\u00c3\u00a9", "\u00ff", "\u0080"])
      for (const target of [`/fetch-gp?gp_name=soci${bytes}t`, `/fetch-gp?${bytes}=1`, `/${bytes}`])
        assertProblem(
          await askBytes(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n\r\n`),
          400,
          "malformed-request",
        );
    assert.equal((await get("/fetch-gp?gp_name=soci%C3%A9t")).json.pagination.total, 1);
  });

  await it("C28 · eight thousand characters that could be costly are refused or answered", async () => {
    for (const text of [
      "a".repeat(8000),
      "(".repeat(8000),
      "+".repeat(8000),
      "%20".repeat(2600),
      "%25".repeat(2600),
      "%CC%81".repeat(1300),
      "a+".repeat(4000),
      "%EF%B7%BA".repeat(890),
      "'".repeat(8000),
    ]) {
      for (const tail of ["", "!"])
        assert.match(
          (await faults(`/fetch-gp?gp_name=${text}${tail}`)).join(),
          /^gp_name (too_long|too_short|empty_value)$/,
        );
      assertProblem(await get(`/${text}`), 404, "unknown-path");
    }
    assertProblem(await get(`/${"/".repeat(8000)}a`), 404, "unknown-path");
    for (const text of [
      "a+".repeat(100),
      "aaaa+".repeat(40),
      "ab+".repeat(66),
      "%EF%B7%BA".repeat(200),
    ])
      assert.equal((await get(`/fetch-gp?gp_name=${text}`)).status, 200);
    for (const accept of [
      `"${",".repeat(15_000)}`,
      `a/b;x="${";".repeat(15_000)}`,
      "*/*,".repeat(3000),
    ]) {
      const headers = [`Accept: ${accept}`];
      const { status } = await ask(port, "/fetch-gp?gp_name=kkr", { key, headers });
      assert.equal(status, accept.startsWith("*") ? 200 : 406);
    }
  });
}

test("what is asked for in a query", async (t) => {
  const started = await startService(t, { records });
  const { key } = await started.newKey({ quotas: { minute: 10_000, hour: 10_000 } });
  const service = { ...started, key };
  const it = casesOf(t, inThisProcess(service));
  await pageNumberCases(it, service);
  await queryNameCases(it, service);
  await querySearchCases(it, service);
  await queryTextCases(it, service);
});

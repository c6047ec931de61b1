/** Which texts a query may contain, how long they may be, and which bytes are no text. */
import assert from "node:assert/strict";
import { assertProblem, faultsIn } from "../../support/problem-answer.ts";
import { ask, askBytes } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";

export async function queryTextCases(caseOf: CaseOf, { port, key }: TestService): Promise<void> {
  const get = (target: string) => ask(port, target, { key });
  const faults = async (target: string) => faultsIn(await get(target));
  const encode = encodeURIComponent;

  await caseOf(
    "C25 · lengths are counted in code points of the trimmed NFC text, and hold exactly at their bounds",
    async () => {
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
    },
  );

  await caseOf(
    "C26 · control characters are an error in the name and the value of any parameter",
    async () => {
      const controls = [...Array(32).keys(), 0x7f].map(
        (code) => `%${code.toString(16).padStart(2, "0")}`,
      );
      for (const control of [...controls, "%C2%80", "%C2%9F"])
        for (const name of ["gp_name", "tag", "theme", "market", "limit", "offset", "other"]) {
          const query = name === "gp_name" ? "" : "gp_name=kkr&";
          for (const pair of [`${name}=1${control}1`, `${name}=${control}`])
            assert.deepEqual(await faults(`/fetch-gp?${query}${pair}`), [
              `${name} invalid_encoding`,
            ]);
        }
      assert.deepEqual(await faults("/fetch-gp?gp_name=kkr&gp_name%00=1"), [
        "gp_name%00 invalid_encoding",
      ]);
      const { json } = await get("/fetch-gp?gp_name=k%E2%80%8Bk%EF%BB%BFr");
      assert.equal(json.pagination.total, 0, "invisible characters part words");
    },
  );

  await caseOf("C27 · a byte beyond ASCII that is not percent-encoded is a 400", async () => {
    for (const bytes of ["\u00e9", "\u00c3\u00a9", "\u00ff", "\u0080"])
      for (const target of [`/fetch-gp?gp_name=soci${bytes}t`, `/fetch-gp?${bytes}=1`, `/${bytes}`])
        assertProblem(
          await askBytes(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n\r\n`),
          400,
          "malformed-request",
        );
    assert.equal((await get("/fetch-gp?gp_name=soci%C3%A9t")).json.pagination.total, 1);
  });

  await caseOf(
    "C28 · eight thousand characters that could be costly are refused or answered",
    async () => {
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
        const { status } = await ask(port, "/fetch-gp?gp_name=kkr", {
          key,
          headers: [`Accept: ${accept}`],
        });
        assert.equal(status, accept.startsWith("*") ? 200 : 406);
      }
    },
  );
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { openHttpServer } from "../support/http-server.ts";
import { assertProblem } from "../support/problem-answer.ts";
import { askBytes, statusesIn } from "../support/raw-client.ts";

/** By the grammar of RFC 3986 §3.2.2 and §3.2.3. */
const hosts = [
  "x",
  "localhost:8080",
  "127.0.0.1",
  "records.example.",
  "a_b-c~d.example:",
  "a%41%c3%a9",
  "!$&'()*+,;=",
  "[::1]",
  "[::1]:8080",
  "[2001:db8::ffff:1.2.3.4]",
  "[v1.a:b]",
];

const noHosts = [
  "a b",
  "a\tb",
  "a/b",
  "a\\b",
  "a?b",
  "a@b",
  "u:p@b",
  '"x"',
  "<script>",
  "{x}",
  "a|b",
  "a^b",
  "a`b",
  "[::1",
  "::1",
  "[::g]",
  "[]",
  "[1.2.3.4]",
  "[fe80::1%eth0]",
  "[fe80::1%25eth0]",
  "[::1]x",
  "[v1.]",
  "a%zz",
  "a%4",
  "a%",
  "a:b",
  "a:80:80",
  "a:-1",
  "\xe9",
  "\xff\xfe",
  "a, b",
];

test("a Host that is no host is a 400 and ends the connection, one that is a host is taken", async (t) => {
  const { port } = await openHttpServer(t);
  const behind = "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const version of ["1.1", "1.0"])
    for (const host of noHosts) {
      const bytes = `GET /health HTTP/${version}\r\nHost: ${host}\r\n\r\n${behind}`;
      const answer = await askBytes(port, bytes);
      const { detail } = assertProblem(answer, 400, "malformed-request");
      assert.match(detail, /Host/, host);
      assert.deepEqual(statusesIn(answer.text), [400], host);
    }
  // Empty where the target has no authority (RFC 9110 §7.2).
  for (const host of [...hosts, "", ":80"]) {
    const answer = await askBytes(port, `GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    assert.equal(answer.status, 200, host);
  }
});

test("the same holds for the host in a whole URL, which may not be empty", async (t) => {
  const { port } = await openHttpServer(t);
  const ask = (target: string) => askBytes(port, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const noTarget = /[ \t?/\\]/;
  for (const host of [...noHosts.filter((one) => !noTarget.test(one)), "", ":80"])
    for (const scheme of ["http", "HTTPS"]) {
      const answer = await ask(`${scheme}://${host}/health`);
      assertProblem(answer, 400, "malformed-request");
    }
  for (const host of hosts) {
    const { status } = await ask(`http://${host}/health`);
    assert.equal(status, 200, host);
  }
});

test("what a host was judged once does not stick to the next one", async (t) => {
  const { port } = await openHttpServer(t);
  const statusOf = async (host: string) =>
    (await askBytes(port, `GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status;
  for (const [host, status] of [
    ["a", 200],
    ["a b", 400],
    ["a", 200],
    ["a b", 400],
    ["b", 200],
  ] as const)
    assert.equal(await statusOf(host), status, host);
});

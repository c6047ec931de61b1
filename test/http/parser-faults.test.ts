import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { listed } from "../support/awkward/words.ts";
import { openHttpServer } from "../support/http-server.ts";
import { assertProblem } from "../support/problem-answer.ts";
import { askBytes, requestText, sendRaw, statusesIn } from "../support/raw-client.ts";
import { startService } from "../support/service.ts";

test("a client that closes its side is told of what cannot be read behind its requests", async (t) => {
  const { port, key } = await startService(t);
  const whole = requestText("/fetch-gp?gp_name=northwind", { key }).repeat(2);
  // Node reads again at once where it got as many bytes as it asked for, so it sees the end before the responses are sent.
  const readAtOnce = 65_536;
  const { text } = await sendRaw(
    port,
    `${whole}GET /health HTTP/1.1\r\nX: `.padEnd(readAtOnce, "x"),
  );
  assert.deepEqual(statusesIn(text), [200, 200, 431]);
});

test("a form that never comes whole is refused behind what was asked before, and the connection ends", async (t) => {
  const { port, log } = await startService(t);
  const form = { method: "POST", headers: ["Transfer-Encoding: chunked"] };
  const broken = requestText("/account/sign-in", { ...form, body: "5\r\nhello\r\nZZ\r\n" });
  const cutOff = requestText("/account/sign-in", { ...form, body: "5\r\nhel" });
  for (const bytes of [broken, cutOff]) {
    const { text } = await sendRaw(port, requestText("/health") + bytes);
    assert.deepEqual(statusesIn(text), [200, 400]);
  }
  assert.deepEqual(
    log.filter((line) => /"level":50/.test(line)),
    [],
  );
});

test("one client network sends one body in chunks at a time, and the next once that one is there", async (t) => {
  const { port } = await startService(t);
  const chunks = (body: string) =>
    requestText("/mcp", { method: "POST", headers: ["Transfer-Encoding: chunked"], body });
  const first = connect({ port, host: "127.0.0.1" });
  t.after(() => first.destroy());
  first.write(chunks("1\r\n{\r\n"));
  const status = async () => statusesIn((await sendRaw(port, chunks("0\r\n\r\n"))).text);
  while ((await status())[0] !== 503);
  // A body that nobody reads changes no answer, and the connection says that it ends.
  const get = requestText("/health", {
    headers: ["Transfer-Encoding: chunked"],
    body: "0\r\n\r\n",
  });
  const unread = await askBytes(port, get + requestText("/health"));
  assert.deepEqual(statusesIn(unread.text), [200]);
  assert.equal(unread.headers["connection"], "close");
  // Nor does one sent ahead: the answer before it may already have promised to go on.
  for (const before of ["/health", "/nowhere", "/fetch-gp"]) {
    const { text } = await askBytes(port, requestText(before) + get + requestText("/health"));
    assert.equal(statusesIn(text).length, 2, text);
    assert.match(text.slice(text.lastIndexOf("HTTP/1.1 200")), /^connection: close\r$/im);
  }
  first.write("0\r\n\r\n");
  await once(first, "data");
  assert.deepEqual(await status(), [401]);
});

test("what follows a request to upgrade is never lost in silence: its answer is the last one, and says so", async (t) => {
  const { port, key } = await startService(t);
  const asking = requestText("/health", { headers: ["Connection: Upgrade", "Upgrade: h2c"] });
  const { headers, text } = await sendRaw(port, asking + requestText("/fetch-projects", { key }));
  assert.deepEqual(statusesIn(text), [200]);
  assert.equal(headers["connection"], "close");
});

test("nothing is answered behind an answer to HTTP/1.0 that has no length, not even what cannot be read", async (t) => {
  const { port } = await startService(t);
  const preflight = "OPTIONS /fetch-gp HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  // The request before delays the preflight until what follows is read.
  for (const before of ["", requestText("/health")]) {
    const { text } = await sendRaw(port, `${before}${preflight}GET / HTTP/1.1\r\na b: c\r\n\r\n`);
    assert.deepEqual(statusesIn(text), before === "" ? [204] : [200, 204]);
    assert.match(text, /connection: close\r\n/i);
  }
});

test("an interim answer never stands within the answer to an earlier request", async (t) => {
  const { port, key } = await startService(t);
  const ask = (more = "") =>
    `GET /fetch-projects HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n${more}\r\n`;
  const { text } = await sendRaw(port, ask() + ask("Expect: 100-continue\r\n").repeat(2));
  assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 3);
  assert.equal(text.match(/HTTP\/1\.1 100 Continue\r\n\r\nHTTP/g)?.length, 2);
});

test("a fault in a body that waits for its turn brings no second answer to a request answered meanwhile", async (t) => {
  const settings = { CONNECTIONS_PER_CLIENT_MAX: "1000" };
  const { port, get } = await startService(t, { settings });
  const opened = async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    let text = "";
    socket.on("data", (part) => (text += String(part)));
    return { socket, answers: once(socket, "close").then(() => statusesIn(text)) };
  };
  const faulty = await Promise.all(Array.from({ length: 300 }, opened));
  const forms = await Promise.all(Array.from({ length: 60 }, opened));
  // By now the service has accepted all connections, and reads what they send in one turn.
  await get("/health");
  const form = { method: "POST", headers: ["Transfer-Encoding: chunked"], body: "ZZ\r\n" };
  for (const { socket } of faulty) socket.write("no request\r\n\r\n");
  for (const { socket } of forms) socket.write(requestText("/fetch-gp", form));
  for (const { answers } of forms) assert.deepEqual(await answers, [405]);
});

/** By the grammar of RFC 3986 §3.2.2 and §3.2.3, but for addresses of versions that do not exist. */
const hosts = listed(`
  x localhost:8080 127.0.0.1 records.example. a_b-c~d.example: a%41%c3%a9 !$&'()*+,;= [::1]
  [::1]:8080 [2001:db8::ffff:1.2.3.4]
`);

const noHosts = [
  ...listed(`
    a/b a\\b a?b a@b u:p@b "x" <script> {x} a|b a^b a\`b [::1 ::1 [::g] [] [1.2.3.4] [fe80::1%eth0]
    [fe80::1%25eth0] [::1]x [v1.] a%zz a%4 a% a:b a:80:80 a:-1 \xe9 \xff\xfe
  `),
  "a b",
  "a\tb",
  "a, b",
];

test("a Host that is no host is a 400 and ends the connection, one that is a host is taken", async (t) => {
  const { port } = await openHttpServer(t);
  const behind = "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n";
  // In turn, as what one host was judged must not stick to the next.
  for (const version of ["1.1", "1.0"])
    for (const [i, host] of noHosts.entries()) {
      const bytes = `GET /health HTTP/${version}\r\nHost: ${host}\r\n\r\n${behind}`;
      const answer = await askBytes(port, bytes);
      const { detail } = assertProblem(answer, 400, "malformed-request");
      assert.match(detail, /Host/, host);
      assert.deepEqual(statusesIn(answer.text), [400], host);
      // Empty where the target has no authority (RFC 9110 §7.2).
      const sound = [...hosts, "", ":80"][i % (hosts.length + 2)]!;
      const taken = await askBytes(port, `GET /health HTTP/1.1\r\nHost: ${sound}\r\n\r\n`);
      assert.equal(taken.status, 200, sound);
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

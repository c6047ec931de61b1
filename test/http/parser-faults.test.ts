import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { requestText, statusesIn } from "../support/raw-client.ts";
import { sendRaw } from "../support/raw-request.ts";
import { startService } from "../support/service.ts";

const bad: Record<string, string> = {
  "no Host": "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n",
  "two Hosts": "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
  "length and chunks":
    "GET /fetch-gp HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "two lengths":
    "GET /fetch-gp HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
  "unknown coding": "GET /fetch-gp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n",
  "bare LF": "GET /fetch-gp HTTP/1.1\nHost: x\n\n",
  "space before colon": "GET /fetch-gp HTTP/1.1\r\nHost : x\r\n\r\n",
  "NUL in a value": "GET /fetch-gp HTTP/1.1\r\nHost: x\u0000y\r\n\r\n",
  "no version": "GET /fetch-gp\r\nHost: x\r\n\r\n",
  "lower-case method": "get /fetch-gp HTTP/1.1\r\nHost: x\r\n\r\n",
  "TLS hello": "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
  "HTTP/2 preface": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
};

test("what is not a request is a 400 problem, exactly one, and the connection ends", async (t) => {
  const { port } = await startService(t);
  for (const [name, bytes] of Object.entries(bad)) {
    const { status, headers, body, text } = await sendRaw(port, Buffer.from(bytes, "latin1"));
    assert.equal(status, 400, name);
    assert.equal(JSON.parse(body).code, "malformed-request", name);
    assert.equal(headers["connection"], "close", name);
    assert.equal(text.match(/^HTTP\/1\.1 \d/gm)?.length, 1, name);
  }
});

test("too many header bytes are a 431 and too long an address a 414", async (t) => {
  const { port } = await startService(t);
  const headers = await sendRaw(
    port,
    `GET /health HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(17_000)}\r\n\r\n`,
  );
  assert.equal(headers.status, 431);
  assert.equal(JSON.parse(headers.body).maximum, 16384);
  const long = await sendRaw(
    port,
    `GET /health?${"x".repeat(8192)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );
  assert.equal(long.status, 414);
  assert.equal(JSON.parse(long.body).maximum, 8192);
});

test("a path that is not valid percent-encoded UTF-8 is a 400", async (t) => {
  const service = await startService(t);
  for (const path of ["/%", "/%zz", "/%ff", "/fetch-gp%c0%ae"]) {
    const { status, body } = await sendRaw(
      service.port,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    assert.equal(status, 400, path);
    assert.equal(JSON.parse(body).code, "malformed-request", path);
  }
});

test("a path that cannot be read is the last of its connection, and says so", async (t) => {
  const { port } = await startService(t);
  const { status, headers, text } = await sendRaw(
    port,
    "GET /%ff HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n",
  );
  assert.equal(status, 400);
  assert.equal(headers["connection"], "close");
  assert.equal(text.match(/^HTTP\/1\.1 \d/gm)?.length, 1);
});

test("spellings that climb or double slashes lead nowhere", async (t) => {
  const { port } = await startService(t);
  for (const path of [
    "/v1/../fetch-gp",
    "/%2e%2e/fetch-gp",
    "//v1/fetch-gp",
    "/fetch-gp;x=1",
    "/FETCH-GP",
    "/v1%2Ffetch-gp",
  ]) {
    const { status } = await sendRaw(
      port,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    assert.equal(status, 404, path);
  }
});

test("an address with a host in it is an ordinary request, and the host appears nowhere", async (t) => {
  const { port, key } = await startService(t);
  const { status, text } = await sendRaw(
    port,
    `GET http://evil.example/fetch-gp?gp_name=kkr HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nx-api-key: ${key}\r\n\r\n`,
  );
  assert.equal(status, 200);
  assert.doesNotMatch(text, /evil/);
});

test("a client that closes its side after asking gets the whole answer", async (t) => {
  const { port, key } = await startService(t);
  const { status, headers, body } = await sendRaw(
    port,
    `GET /fetch-gp?gp_name=northwind HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n\r\n`,
  );
  assert.equal(status, 200);
  assert.equal(Buffer.byteLength(body, "latin1"), Number(headers["content-length"]));
});

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

test("a GET with a body, also one that looks like a request, is one request", async (t) => {
  const { port, key } = await startService(t);
  const inner = "GET /fetch-gp HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const framed of [
    `Content-Length: ${inner.length}\r\n\r\n${inner}`,
    `Transfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
  ]) {
    const { status, text } = await sendRaw(
      port,
      `GET /fetch-gp?gp_name=kkr HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: ${key}\r\n${framed}`,
    );
    assert.equal(status, 200);
    assert.equal(text.match(/^HTTP\/1\.1 \d/gm)?.length, 1);
  }
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

test("HTTP/1.0 is answered and the connection closed; Upgrade is ignored; 100-continue is honoured", async (t) => {
  const { port, key } = await startService(t);
  assert.equal(
    (await sendRaw(port, `GET /fetch-gp?gp_name=kkr HTTP/1.0\r\nx-api-key: ${key}\r\n\r\n`)).status,
    200,
  );
  for (const upgrade of ["websocket", "h2c"]) {
    const { status, text } = await sendRaw(
      port,
      `GET /health HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`,
    );
    assert.equal(status, 200);
    assert.match(text, /^HTTP\/1\.1 200/);
  }
  const { text } = await sendRaw(
    port,
    "GET /health HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
  );
  assert.match(text, /^HTTP\/1\.1 (100 Continue\r\n\r\nHTTP\/1\.1 )?200/);
});

test("every wait for a client has an end", async (t) => {
  const service = await startService(t);
  const { timeouts } = await import("#http/build-app.ts");
  assert.deepEqual(timeouts, {
    headers: 10_000,
    request: 15_000,
    keepAlive: 10_000,
    checkEvery: 2000,
    linger: 2000,
  });
  const socket = connect(service.port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  const answer = await new Promise<string>((resolve) =>
    socket.once("data", (bytes) => resolve(String(bytes))),
  );
  assert.match(answer, /Keep-Alive: timeout=10\r\n/);
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

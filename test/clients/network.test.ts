import assert from "node:assert/strict";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { test as testOnce, type TestContext } from "node:test";
import { createClient } from "../../clients/typescript/src/client.ts";
import { freePort, listenFor } from "../support/ports.ts";
import { forEachClient as test, type GivenError, type Result } from "./each-client.ts";

const page = JSON.stringify({
  data: [],
  pagination: { limit: 20, offset: 0, returned: 0, total: 0, has_more: false, next_offset: null },
  meta: { api_version: "1.3", dataset_version: "v", dataset_updated_at: "t", hints: [] },
});

const answers = {
  page: (response: ServerResponse) => answers.json(page)(response),
  json: (body: string) => (response: ServerResponse) =>
    void response.writeHead(200, { "content-type": "application/json" }).end(body),
  cut: (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 9999 });
    response.write(page, () => void response.destroy());
  },
  hangUp: (response: ServerResponse) => void response.destroy(),
  silence() {},
  html:
    (status: number, headers: Record<string, string> = {}) =>
    (response: ServerResponse) =>
      void response
        .writeHead(status, { "content-type": "text/html", ...headers })
        .end("<h1>Hm</h1>"),
};

/** A server that answers each request with the next of the script. @returns its address and the headers it got. */
async function scripted(t: TestContext, script: ((response: ServerResponse) => void)[]) {
  const headers: Record<string, unknown>[] = [];
  const listener: RequestListener = (request, response) => {
    headers.push(request.headers);
    script.shift()?.(response);
  };
  return { baseUrl: `http://127.0.0.1:${await listenFor(t, createServer(listener))}`, headers };
}

const fetchSignals = { what: "page", operation: "signals" } as const;
const key = `gpr_${"k".repeat(36)}`;

const namesOf = ({ waits }: Result) => waits.map(({ error }) => error.name);

test("a lost connection is tried again, a little later each time", async (t, client) => {
  const script = [answers.hangUp, answers.cut, answers.hangUp, answers.page];
  const { baseUrl, headers } = await scripted(t, script);
  const result = await client.do({ ...fetchSignals, options: { baseUrl, key } });
  assert.equal(result.value?.pagination.total, 0, result.trace);
  assert.deepEqual(namesOf(result), ["NetworkError", "NetworkError", "NetworkError"]);
  for (const [i, { seconds }] of result.waits.entries()) {
    assert.ok(seconds >= 0.25 * 2 ** i, `${seconds}`);
    assert.ok(seconds <= 0.5 * 2 ** i, `${seconds}`);
  }
  // One question, whose tries can be told apart.
  const ids = headers.map((one) => String(one["x-request-id"]));
  const [id] = ids[0]!.split(".");
  assert.deepEqual(ids, [`${id}.1`, `${id}.2`, `${id}.3`, `${id}.4`]);
});

test("in the end a network error says where, why and under which id", async (t, client) => {
  const { baseUrl } = await scripted(t, [answers.hangUp, answers.hangUp]);
  const options = { baseUrl, key, retriesMax: 1 };
  const lost = (await client.do({ ...fetchSignals, options })).error!;
  const nobody = { ...options, baseUrl: `http://127.0.0.1:${await freePort()}` };
  const refused = (await client.do({ ...fetchSignals, options: nobody })).error!;
  for (const { name, message, requestId } of [lost, refused]) {
    assert.equal(name, "NetworkError");
    assert.match(requestId!, /^client_[0-9a-f]{20}\.2$/);
    assert.match(
      message,
      /^http:\/\/127\.0\.0\.1:\d+\/fetch-signals gave no answer: .+\. \(request /,
    );
  }
  assert.match(refused.message, /refused/i);
});

test("a try that takes too long is given up, also where its body trickles", async (t, client) => {
  const trickle = (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(timer));
  };
  for (const [answer, timeoutSeconds, words] of [
    [answers.silence, 0.05, /it took longer than 0\.05 s|timed out/],
    [trickle, 0.3, /./],
  ] as const) {
    const { baseUrl } = await scripted(t, [answer]);
    const options = { baseUrl, key, timeoutSeconds, retriesMax: 0 };
    const { error } = await client.do({ ...fetchSignals, options });
    assert.equal(error?.name, "NetworkError");
    assert.match(error.message, words);
  }
});

test("a proxy that cannot reach the service is waited for, as it says", async (t, client) => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  // The form of C's asctime, which has no zone (RFC 9110 §5.6.7).
  const asWritten = inAMinute.replace(/^(...), (..) (...) (....) (.{8}) GMT$/, "$1 $3 $2 $5 $4");
  const { baseUrl } = await scripted(t, [
    answers.html(503, { "retry-after": "7" }),
    answers.html(503, { "retry-after": inAMinute }),
    answers.html(502, { "retry-after": "0.5" }),
    answers.html(429, { "retry-after": "4" }),
    answers.html(503, { "retry-after": asWritten }),
    answers.page,
  ]);
  const result = await client.do({ ...fetchSignals, options: { baseUrl, key } });
  assert.equal(result.value?.pagination.total, 0, result.trace);
  const [first, second, third, fourth, fifth] = result.waits.map(({ seconds }) => seconds);
  assert.deepEqual([first, fourth], [7, 4]);
  for (const dated of [second!, fifth!]) assert.ok(dated > 0 && dated <= 60, `${dated}`);
  assert.ok(third! >= 1 && third! <= 2, `${third}`);
});

testOnce(
  "a signal aborted by the cache or by onWait ends the request before it is sent",
  async (t) => {
    for (const sent of [0, 1]) {
      const aborter = new AbortController();
      const { baseUrl, headers } = await scripted(t, [answers.hangUp, answers.page]);
      const cache = { get: () => void (sent === 0 && aborter.abort()), set() {} };
      const client = createClient({ baseUrl, key, cache, onWait: () => aborter.abort() });
      const asked = client.fetchSignals({}, { signal: aborter.signal });
      await assert.rejects(asked, { name: "AbortError" });
      assert.equal(headers.length, sent);
    }
  },
);

test("what is no answer of the service is said to be none, once", async (t, client) => {
  const ask = async (answer: (response: ServerResponse) => void): Promise<GivenError> => {
    const { baseUrl } = await scripted(t, [answer, answers.page]);
    const result = await client.do({ ...fetchSignals, options: { baseUrl, key } });
    assert.deepEqual(result.waits, []);
    assert.equal(result.error!.name, "UnexpectedAnswerError", result.trace);
    assert.ok(result.error!.requestId);
    return result.error!;
  };
  const page = await ask(answers.html(404));
  assert.equal(page.status, 404);
  assert.match(
    page.message,
    /answered 404 with text\/html, .+ is (?:baseUrl|base_url) the address of the service/,
  );
  assert.equal((await ask(answers.html(200))).status, 200);
  const problem = { "content-type": "application/problem+json" };
  const ofProxy = (to: ServerResponse) => void to.writeHead(403, problem).end('{"code":"blocked"}');
  assert.equal((await ask(ofProxy)).status, 403);
  const bodies = ['{"status":"ok"}', "[]", '{"data":[]}', '{"data":{},"pagination":{},"meta":{}}'];
  for (const body of bodies) assert.equal((await ask(answers.json(body))).status, 200, body);
});

test("a listing cannot be told to begin elsewhere", async (_t, client) => {
  const order = { what: "list", operation: "signals", query: { offset: 5 } } as const;
  const { error } = await client.do({ ...order, options: { baseUrl: "http://a", key } });
  assert.equal(error!.name, "TypeError", error!.message);
});

test("a cache that gives one page for every offset does not keep a listing going for ever", async (t, client) => {
  const next = { ...JSON.parse(page).pagination, has_more: true, next_offset: 20 };
  const same = answers.json(JSON.stringify({ ...JSON.parse(page), pagination: next }));
  const { baseUrl, headers } = await scripted(t, [same, same, same, same, same]);
  for (const operation of ["signals", "changes"] as const) {
    const { error } = await client.do({ what: "list", operation, options: { baseUrl, key } });
    assert.match(error!.message, /offset=20 with another page/, operation);
  }
  assert.equal(headers.length, 4);
});

test("a listing begins again once each of two servers has taken over a dataset", async (t, client) => {
  let versions = ["old", "new"];
  const serve = (response: ServerResponse) => {
    const offset = Number(/offset=(.)/.exec(response.req.url!)![1]);
    const pagination = { offset, next_offset: offset === 0 ? 1 : null };
    const meta = { dataset_version: versions.reverse()[0] };
    answers.json(JSON.stringify({ data: [offset], pagination, meta }))(response);
  };
  const { baseUrl } = await scripted(t, Array(40).fill(serve));
  const listing = { what: "list", operation: "signals", onVersionChange: "restart" } as const;
  const onSleep = () => void (versions = ["new"]);
  const { value, trace } = await client.do({ ...listing, options: { baseUrl, key }, onSleep });
  assert.deepEqual(value, [0, 1], trace);
});

test("a missing value is left out, and in a list or as an empty list sent empty", async (t, client) => {
  const targets: string[] = [];
  const note = (response: ServerResponse) =>
    answers.page((targets.push(response.req.url!), response));
  const { baseUrl } = await scripted(t, [note, note]);
  const options = { baseUrl, key };
  const query = { gp_name: null, market: ["a", null], tag: [], limit: null, offset: null };
  const { trace } = await client.do({ ...fetchSignals, query, options });
  await client.do({ what: "list", operation: "signals", query: { limit: null }, options });
  assert.equal(targets[0], "/fetch-signals?market=a&market=&tag=", trace);
  assert.equal(targets[1], "/fetch-signals?limit=100&offset=0");
});

test("a late answer, or a 304 with a length, is taken as it is", async (t, client) => {
  const { baseUrl } = await scripted(t, [
    (response) => void setTimeout(answers.page, 50, response),
    (response) => void response.setHeader("etag", '"a"').end(page),
    (response) => void response.writeHead(304, { "content-length": page.length }).end(),
  ]);
  const options = { baseUrl, key, timeoutSeconds: 2 ** 31, retriesMax: 0, usesCache: true };
  for (const what of ["late", "new", "kept"]) {
    const { value, trace } = await client.do({ ...fetchSignals, options });
    assert.equal(value?.pagination.total, 0, `${what} ${trace}`);
  }
});

test("the key does not follow a redirect", async (t, client) => {
  const elsewhere = await scripted(t, [answers.page]);
  const { baseUrl } = await scripted(t, [
    answers.html(302, { location: `${elsewhere.baseUrl}/fetch-signals` }),
  ]);
  const { error, waits } = await client.do({ ...fetchSignals, options: { baseUrl, key } });
  assert.equal(error!.name, "UnexpectedAnswerError");
  assert.match(error!.message, /redirects elsewhere/);
  assert.deepEqual([waits, elsewhere.headers], [[], []]);
});

test("an address that would hide a mistake is refused", async (_t, client) => {
  for (const baseUrl of ["ftp://a", "http://a:b@a", "http://a?x=1", "http://a b", "http://a:b"]) {
    const { error } = await client.do({ ...fetchSignals, options: { baseUrl, key } });
    assert.match(error!.message, /^(?:base(?:Url|_url) must |Invalid URL)/);
    assert.ok(!error!.message.includes("a:b"));
  }
});

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import type { TestContext } from "node:test";
import { createServer } from "node:http";
import { listenFor } from "../support/ports.ts";
import { startService, type TestService } from "../support/service.ts";
import { type DrivenClient, forEachClient as test } from "./each-client.ts";
import { publish, records } from "./publish.ts";

const settings = { EXPORTS: "on" };

/** What a proxy does with an answer of the service; undefined passes it on. */
interface Meddling {
  status?: number;
  headers?: Record<string, string>;
  body?: Buffer;
  /** Bytes of the body after which the connection is lost. */
  cutAfter?: number;
}

interface Asked {
  path: string;
  range: string | undefined;
}

type Meddle = (asked: Asked, body: Buffer) => Meddling | undefined | Promise<Meddling | undefined>;

/** A proxy before the service. @returns its address and what was asked through it. */
async function proxied(t: TestContext, service: TestService, meddle: Meddle = () => undefined) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const one = { path: request.url!, range: request.headers.range };
      asked.push(one);
      const { "x-api-key": key, accept, range } = request.headers;
      const headers = { "x-api-key": String(key), accept: accept!, "accept-encoding": "identity" };
      const answer = await fetch(service.url + request.url!, {
        headers: range === undefined ? headers : { ...headers, range },
      });
      const body = Buffer.from(await answer.arrayBuffer());
      const other = (await meddle(one, body)) ?? {};
      const sent = other.body ?? body;
      response.writeHead(other.status ?? answer.status, {
        ...Object.fromEntries(
          [...answer.headers].filter(([name]) => name !== "connection" && name !== "keep-alive"),
        ),
        "content-length": String(sent.length),
        ...other.headers,
      });
      if (other.cutAfter === undefined) response.end(sent);
      else response.write(sent.subarray(0, other.cutAfter), () => response.destroy());
    })();
  });
  return { url: `http://127.0.0.1:${await listenFor(t, server)}`, asked };
}

/** The signals of the dataset that is served, as the service sends them. */
async function signalFile(service: TestService) {
  const { body } = await service.get("/exports");
  const { version } = body.data[0];
  const of = [version as string, "signal.ndjson"] as const;
  return { of, text: (await service.get(`/exports/${version}/signal.ndjson`)).text as string };
}

test("the publications are listed newest first, and a step is read whole within any quota", async (t, client) => {
  const service = await startService(t, { records: records(20) });
  await publish(service, records(270));
  const versions = [await publish(service, records(20)), await publish(service, records(25))];
  const { key } = await service.newKey({ quotas: { minute: 1 } });
  const onSleep = (seconds: number) => service.clock.advance(seconds);
  const options = { baseUrl: service.url, key };
  const list = { what: "list", operation: "changes", query: { limit: 2 }, options } as const;
  const { value: publications, trace } = await client.do({ ...list, onSleep });
  const { body } = await service.get("/changes");
  assert.deepEqual(publications, body.data, trace);
  const found = publications.slice(0, 2).map(({ version }: { version: string }) => version);
  assert.deepEqual(found, versions.toReversed());
  const [, , { from, version, step }] = publications;
  const result = await client.do({ what: "step", of: [from, version], options, onSleep });
  const { text } = await service.get(step, { "x-api-key": (await service.newKey()).key });
  const [head, ...changes] = text
    .trimEnd()
    .split("\n")
    .map((line: string) => JSON.parse(line));
  assert.ok(changes.length > 200);
  assert.deepEqual(result.value, { head, changes }, result.trace);
  assert.ok(result.waits.length >= 2);
});

test("a path is made of what it is to name, whatever that is", async (t, client) => {
  const service = await startService(t);
  const { url, asked } = await proxied(t, service);
  const options = { baseUrl: url, key: service.key };
  for (const what of ["step", "file"] as const) {
    const { error } = await client.do({ what, of: ["../x?y=", "//z.example/"], options });
    assert.equal(error!.code, "unknown-path");
  }
  assert.deepEqual(
    asked.map(({ path }) => path.replace(/\?limit.*/, "")),
    [
      "/changes/..%2Fx%3Fy%3D..%2F%2Fz.example%2F.ndjson",
      "/exports/..%2Fx%3Fy%3D/%2F%2Fz.example%2F",
    ],
  );
});

test("a step that lacks its head or a change is none", async (t, client) => {
  const service = await startService(t, { records: records(20) });
  await publish(service, records(25));
  const [{ from, version }] = (await service.get("/changes")).body.data;
  for (const missing of [0, 1]) {
    const { url } = await proxied(t, service, ({ path }, body) => ({
      body: Buffer.from(
        path.endsWith("offset=0")
          ? String(body)
              .split("\n")
              .filter((_, i) => i !== missing)
              .join("\n")
          : "",
      ),
    }));
    const options = { baseUrl: url, key: service.key };
    const { error } = await client.do({ what: "step", of: [from, version], options });
    assert.equal(error?.name, "UnexpectedAnswerError");
    assert.match(error.message, /is not the step that was asked for/);
  }
});

test("a record is explained as the service does, and an id that is not there is its problem", async (t, client) => {
  const service = await startService(t, { records: records(3) });
  const options = { baseUrl: service.url, key: service.key };
  const { body } = await service.get("/fetch-signals?limit=1");
  const { id } = body.data[0].gps[0];
  const { value } = await client.do({ what: "explain", of: [id], options });
  assert.deepEqual(value, (await service.get(`/explain/${id}`)).body.data);
  const { error } = await client.do({ what: "explain", of: ["../fetch-gp"], options });
  assert.equal(error!.code, "unknown-path");
});

test("the files of a dataset are listed and come as they are served, where there are any", async (t, client) => {
  const service = await startService(t, { records: records(250), settings });
  const options = { baseUrl: service.url, key: service.key };
  const { of, text } = await signalFile(service);
  const file = await client.do({ what: "file", of, options });
  assert.equal(file.value, text, file.trace);
  const { value } = await client.do({ what: "exports", options });
  assert.deepEqual(value, (await service.get("/exports")).body.data);
  const listed = value[0].files.find(({ path }: { path: string }) => path.endsWith(of[1]));
  assert.equal(listed.sha256, hash("sha256", file.value));

  const without = await startService(t);
  const none = { baseUrl: without.url, key: without.key };
  for (const what of ["exports", "file"] as const) {
    const { error } = await client.do({ what, of, options: none });
    assert.equal(error!.code, "unknown-path");
  }
});

/** Reads the file of signals of a dataset with so many more through a proxy. @returns what came of it, what was asked, and the file. */
async function readThrough(
  t: TestContext,
  client: DrivenClient,
  { count, retriesMax = 3, meddle }: { count: number; retriesMax?: number; meddle: Meddle },
) {
  const service = await startService(t, { records: records(count), settings });
  const { of, text } = await signalFile(service);
  const { url, asked } = await proxied(t, service, meddle);
  const options = { baseUrl: url, key: service.key, retriesMax };
  return { ...(await client.do({ what: "file", of, options })), asked, text };
}

test("a download that breaks off goes on where it was, as often as it takes, and is asked for no byte again", async (t, client) => {
  const cutAfter = 100_000;
  const meddle: Meddle = ({ range }, body) => ({
    ...(body.length > cutAfter && { cutAfter }),
    // A proxy that compresses the whole file weakens its tag.
    headers: { etag: range === undefined ? 'W/"a"' : '"a"' },
  });
  const read = await readThrough(t, client, { count: 1500, retriesMax: 1, meddle });
  const { asked } = read;
  assert.ok(read.value === read.text, read.trace);
  assert.equal(asked[0]!.range, undefined);
  const [, ...ranges] = asked.map(({ range }) => range);
  assert.ok(ranges.length >= 3, ranges.join());
  const starts = ranges.map((range) => Number(/^bytes=(\d+)-$/.exec(range!)![1]));
  // What was on its way when the connection was lost may not have come.
  for (const [i, start] of starts.entries()) {
    const before = starts[i - 1] ?? 0;
    assert.ok(start > before && start <= before + cutAfter, starts.join());
  }
  assert.ok(read.waits.every(({ attempt, seconds }) => attempt === 1 && seconds <= 0.5));
});

test("a proxy that ignores ranges costs time but no byte, and does not keep a download going for ever", async (t, client) => {
  const service = await startService(t, { records: records(1500), settings });
  const { of, text } = await signalFile(service);
  const body = Buffer.from(text);
  let tries = 0;
  const order = async (lengths: readonly number[]) => {
    tries = 0;
    const { url } = await proxied(t, service, () => {
      const cutAfter = lengths[tries++ % lengths.length]!;
      return { status: 200, body, ...(cutAfter < body.length && { cutAfter }) };
    });
    const options = { baseUrl: url, key: service.key, retriesMax: 3 };
    return client.do({ what: "file", of, options });
  };
  const { value, trace } = await order([150_000, 10_000, body.length]);
  assert.ok(value === text, trace);
  assert.equal((await order([150_000, 10_000])).error!.name, "NetworkError");
  assert.ok(tries <= 8, String(tries));
});

test("a file that never comes is an error in the end", async (t, client) => {
  const meddle = () => ({ cutAfter: 0 });
  const read = await readThrough(t, client, { count: 250, retriesMax: 2, meddle });
  assert.equal(read.error!.name, "NetworkError");
  assert.deepEqual([read.asked.length, read.waits.length], [3, 2]);
});

test("a file that becomes another one while it is read is an error", async (t, client) => {
  let tries = 0;
  const other = { headers: { etag: `"${"0".repeat(32)}"` } };
  const meddle = () => (++tries === 1 ? { cutAfter: 100_000 } : other);
  const { error } = await readThrough(t, client, { count: 1500, meddle });
  assert.equal(error!.name, "UnexpectedAnswerError");
  assert.match(error!.message, /changed while it was being read/);
  assert.equal(tries, 2);
});

test("a connection that is lost after the last byte of a file costs nothing but the question whether there is more", async (t, client) => {
  let tries = 0;
  const meddle: Meddle = (_, { length }) =>
    ++tries === 1
      ? { cutAfter: length, headers: { "content-length": String(length + 1) } }
      : undefined;
  const { value, text, trace, asked } = await readThrough(t, client, { count: 250, meddle });
  assert.ok(value === text, trace);
  assert.equal(asked.length, 2);
});

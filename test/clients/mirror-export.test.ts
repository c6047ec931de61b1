import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openCatalogue } from "#datasets/catalogue.ts";
import { pinVersion } from "#datasets/prune.ts";
import { openSha256 } from "../../clients/typescript/src/sha256.ts";
import { startService, type TestService } from "../support/service.ts";
import { type DrivenClient, forEachClient, type Order, type Result } from "./each-client.ts";
import { assertCopy, publish, records, servedBy } from "./publish.ts";

const settings = { EXPORTS: "on" };

/** A GP that no principal, signal or project names. */
const lonely = { record: "gp", id: "lonely", name: "Quillfeather" };

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
  }).listen(0, "127.0.0.1");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => void server.once("listening", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** One update through the proxy. */
async function mirrored(
  client: DrivenClient,
  baseUrl: string,
  key: string,
  more: Partial<Order> = {},
) {
  const updates: string[] = [];
  const result = await client.do({
    what: "mirror",
    onUpdate: ({ how, proof }) => void updates.push(`${how} ${proof}`),
    ...more,
    options: { baseUrl, key, ...more.options },
  });
  return { ...result, updates };
}

/** Lines of what a mirror saved, without what is said of them. */
const savedRecords = ({ value }: Result): string[] => value.saved.slice(1).toSorted();

forEachClient(
  "a mirror that begins from an export has the bytes that pages give, in a handful of requests, and lacks no GP",
  async (t, client) => {
    const all = [...records(1100), lonely];
    const first = await startService(t, { records: all });
    const byPages = await mirrored(client, first.url, first.key);
    assert.deepEqual(byPages.updates, ["pages unknown"]);
    await first.stop();

    const { dataDir } = first;
    const service = await startService(t, { dataDir, records: null, settings });
    const { key } = await service.newKey();
    const { url, asked } = await proxied(t, service);
    const byExport = await mirrored(client, url, key);
    assert.deepEqual(byExport.updates, ["export unknown"]);
    const files = ["gp", "principal", "signal", "project"].map(
      (kind) => `/exports/${byExport.value.version}/${kind}.ndjson`,
    );
    assert.deepEqual(
      asked.map(({ path }) => path.split("?")[0]),
      ["/exports", ...files, "/changes"],
    );
    const added = savedRecords(byExport).filter((line) => !savedRecords(byPages).includes(line));
    assert.equal(added.length, 1);
    assert.match(added[0]!, /"kind":"gp".*"Quillfeather"/);
    assert.equal(savedRecords(byExport).length, savedRecords(byPages).length + 1);

    // What it lacked no more can be brought forward by changes.
    await publish(service, [...records(1100), { ...lonely, name: "Quillfeather Partners" }]);
    const later = await mirrored(client, url, key, { saved: byExport.value.saved });
    assert.deepEqual(later.updates, ["steps equal"]);
  },
);

forEachClient(
  "a mirror begins from the export of the dataset that is served after a publication and a roll-back while it was read",
  async (t, client) => {
    const service = await startService(t, { records: records(250), settings });
    const versions: string[] = [];
    const onPage = async ([version]: [string]) => {
      versions.push(version);
      if (versions.length === 2) await publish(service, records(350, "Another closes"));
      if (versions.length === 5) await publish(service, "roll back");
    };
    const { url } = await proxied(t, service);
    const { key } = await service.newKey({ quotas: { minute: 3 } });
    const onSleep = (seconds: number) => service.clock.advance(seconds);
    const result = await mirrored(client, url, key, { onPage, onSleep });
    await assertCopy(result, service);
    assert.deepEqual(result.updates, ["export equal"]);
    assert.equal(new Set(versions).size, 2);
    assert.equal(versions.length, 2 + 3 + 4);
    assert.ok(result.waits.every(({ error }) => error.code === "quota-exceeded"));
  },
);

forEachClient(
  "a mirror reads a pinned dataset to its end though another is published, and goes on by the steps from there",
  async (t, client) => {
    const service = await startService(t, { records: records(250), settings });
    const catalogue = openCatalogue(join(service.dataDir, "datasets"));
    pinVersion(catalogue, catalogue.currentVersion()!, service.clock.now());
    let files = 0;
    const onPage = async () => {
      if (++files === 2) await publish(service, [...records(249), lonely]);
    };
    const { url, asked } = await proxied(t, service);
    const result = await mirrored(client, url, service.key, { onPage });
    assert.deepEqual(result.updates, ["export equal"]);
    assert.equal(files, 4);
    assert.equal(asked.filter(({ path }) => path.startsWith("/changes/")).length, 1);
    const gps: { name: string }[] = result.value.records.gp;
    assert.ok(gps.some(({ name }) => name === "Quillfeather"));
    const served = await servedBy(service);
    assert.equal(result.value.version, served.version);
    for (const kind of ["principal", "signal", "project"] as const)
      assert.deepEqual(result.value.records[kind], served.records[kind]);
  },
);

const isFile = (kind: string, { path }: Asked) => path.endsWith(`/${kind}.ndjson`);

forEachClient(
  "a download that breaks off goes on where it was, as often as it takes, and is asked for no byte again",
  async (t, client) => {
    const service = await startService(t, { records: records(1500), settings });
    const cutAfter = 100_000;
    let bytes = 0;
    const { url, asked } = await proxied(t, service, (one, body) => {
      if (!isFile("signal", one)) return undefined;
      bytes = Math.max(bytes, body.length);
      return body.length > cutAfter ? { cutAfter } : undefined;
    });
    const result = await mirrored(client, url, service.key, {
      options: { retriesMax: 1 } as never,
    });
    await assertCopy(result, service);
    assert.deepEqual(result.updates, ["export unknown"]);
    const [, ...ranges] = asked.filter((one) => isFile("signal", one)).map(({ range }) => range);
    assert.ok(ranges.length >= 3, ranges.join());
    assert.equal(asked.filter((one) => isFile("signal", one))[0]!.range, undefined);
    const starts = ranges.map((range) => Number(/^bytes=(\d+)-$/.exec(range!)![1]));
    // What was on its way when the connection was lost may not have come.
    for (const [i, start] of starts.entries()) {
      const before = starts[i - 1] ?? 0;
      assert.ok(start > before && start <= before + cutAfter, starts.join());
    }
    assert.ok(bytes > 3 * cutAfter);
    assert.ok(result.waits.every(({ attempt, seconds }) => attempt === 1 && seconds <= 0.5));
  },
);

forEachClient(
  "a proxy that ignores ranges and breaks off here and there does not keep a mirror going for ever",
  async (t, client) => {
    const service = await startService(t, { records: records(1500), settings });
    let tries = 0;
    const { url } = await proxied(t, service, async (one) => {
      if (!isFile("signal", one)) return undefined;
      const headers = { "x-api-key": service.key };
      const whole = await fetch(service.url + one.path, { headers });
      const body = Buffer.from(await whole.arrayBuffer());
      return { status: 200, body, cutAfter: ++tries % 2 === 0 ? 10_000 : 150_000 };
    });
    const options = { retriesMax: 3 } as never;
    const result = await mirrored(client, url, service.key, { options });
    assert.equal(result.value.error.name, "NetworkError");
    assert.ok(tries <= 8, String(tries));
  },
);

forEachClient(
  "a file that never comes is an error in the end, and the next update goes on where it was",
  async (t, client) => {
    const service = await startService(t, { records: records(1500), settings });
    let isDown = false;
    const { url, asked } = await proxied(t, service, (one) => {
      if (!isFile("signal", one)) return undefined;
      if (isDown) return { cutAfter: 0 };
      isDown = true;
      return { cutAfter: 100_000 };
    });
    const options = { retriesMax: 2 } as never;
    const failed = await mirrored(client, url, service.key, { options });
    assert.equal(failed.value.error.name, "NetworkError");
    assert.equal(failed.value.version, null);
    const direct = await proxied(t, service);
    const { saved } = failed.value;
    const result = await mirrored(client, direct.url, service.key, { saved });
    await assertCopy(result, service);
    assert.deepEqual(result.updates, ["export unknown"]);
    // What was read whole before is not read again.
    assert.deepEqual(
      direct.asked.map(({ path }) => path.replace(/^.*\//, "").split("?")[0]),
      ["exports", "signal.ndjson", "project.ndjson", "changes"],
    );
    assert.ok(asked.length >= 5);
  },
);

forEachClient(
  "a file whose hash is wrong is read again, and records of one that stays wrong come from pages",
  async (t, client) => {
    const service = await startService(t, { records: records(250), settings });
    const damaged = (body: Buffer) => Buffer.from(String(body).replace("number 7", "number 8"));
    const once = async (isOnce: boolean) => {
      let tries = 0;
      const { url } = await proxied(t, service, (one, body) =>
        isFile("signal", one) && (++tries === 1 || !isOnce) ? { body: damaged(body) } : undefined,
      );
      const result = await mirrored(client, url, service.key);
      await assertCopy(result, service);
      assert.equal(tries, 2);
      return result.updates;
    };
    assert.deepEqual(await once(true), ["export unknown"]);
    assert.deepEqual(await once(false), ["pages unknown"]);
  },
);

forEachClient(
  "a file that changed between two parts of it is begun again, and so is one of which a part is left out",
  async (t, client) => {
    const service = await startService(t, { records: records(1500), settings });
    const other = `"${"0".repeat(32)}"`;
    for (const meddled of [
      () => ({ headers: { etag: other } }),
      () => ({ headers: { etag: "W/odd" } }),
      (body: Buffer) => ({ body: body.subarray(1000) }),
    ]) {
      let tries = 0;
      const { url, asked } = await proxied(t, service, (one, body) => {
        if (!isFile("signal", one)) return undefined;
        tries++;
        return tries === 1 ? { cutAfter: 100_000 } : tries === 2 ? meddled(body) : undefined;
      });
      const result = await mirrored(client, url, service.key);
      await assertCopy(result, service);
      assert.deepEqual(result.updates, ["export unknown"]);
      const ranges = asked.filter((one) => isFile("signal", one)).map(({ range }) => range);
      assert.equal(ranges.length, 3);
      assert.equal(ranges[2], undefined);
    }
  },
);

forEachClient(
  "a connection that is lost after the last byte of a file costs nothing but the question whether there is more",
  async (t, client) => {
    const service = await startService(t, { records: records(250), settings });
    let tries = 0;
    const { url, asked } = await proxied(t, service, (one, body) =>
      isFile("signal", one) && ++tries === 1
        ? { cutAfter: body.length, headers: { "content-length": String(body.length + 1) } }
        : undefined,
    );
    const result = await mirrored(client, url, service.key);
    await assertCopy(result, service);
    assert.deepEqual(result.updates, ["export unknown"]);
    const ranges = asked.filter((one) => isFile("signal", one)).map(({ range }) => range);
    assert.equal(ranges.length, 2);
  },
);

forEachClient(
  "where files are not to be had, or what is offered makes no sense, pages are read",
  async (t, client) => {
    const service = await startService(t, { records: records(250), settings });
    const version = openCatalogue(join(service.dataDir, "datasets")).currentVersion()!;
    const problem = (status: number, code: string): Meddling => ({
      status,
      headers: { "content-type": "application/problem+json" },
      body: Buffer.from(
        JSON.stringify({ type: "t", title: "t", status, code, detail: "d", reason: "timeout" }),
      ),
    });
    const offering = (data: unknown): Meddle => {
      const body = Buffer.from(JSON.stringify({ data, meta: {} }));
      return ({ path }) => (path === "/exports" ? { body } : undefined);
    };
    const files = ["gp", "principal", "signal", "project"].map((kind) => {
      return { kind, format: "ndjson", records: kind === "signal" ? 9e15 : 1 };
    });
    const meddles: Record<string, Meddle> = {
      "no export": ({ path }) => (path === "/exports" ? problem(404, "unknown-path") : undefined),
      forbidden: ({ path }) => (path === "/exports" ? problem(403, "access-denied") : undefined),
      "a disk that is full": (one) =>
        isFile("gp", one) ? problem(500, "internal-error") : undefined,
      "never made": (one) => (isFile("signal", one) ? problem(503, "unavailable") : undefined),
      "gone though it is listed": (one) =>
        isFile("project", one) ? problem(404, "unknown-path") : undefined,
      "a page of a proxy": ({ path }) =>
        path.startsWith("/exports")
          ? { status: 403, headers: { "content-type": "text/html" }, body: Buffer.from("<p>No") }
          : undefined,
      "no tag": (one) => (isFile("gp", one) ? { headers: { etag: "" } } : undefined),
      "no records": (one) => (isFile("gp", one) ? { body: Buffer.from("null\n[]\n") } : undefined),
      "one endless line": (one) =>
        isFile("gp", one) ? { body: Buffer.alloc(3_000_000, "x") } : undefined,
      "nothing current": offering([{ version, is_current: false, files }]),
      "no list": offering([null, 5, "x", []]),
      "no files": offering([{ version, is_current: true, files: null }]),
      "odd files": offering([{ version, is_current: true, files: [null, 1, ...files.slice(1)] }]),
      "other counts": offering([{ version, is_current: true, files }]),
      "another path": offering([{ version: "../../x?y=", is_current: true, files }]),
      "a version that is none": offering([{ version: [version], is_current: true, files }]),
    };
    for (const [name, meddle] of Object.entries(meddles)) {
      const { url, asked } = await proxied(t, service, meddle);
      const { key } = await service.newKey({ quotas: { minute: 1000 } });
      const result = await mirrored(client, url, key);
      assert.deepEqual(result.updates, ["pages unknown"], name);
      await assertCopy(result, service);
      for (const { path } of asked)
        assert.match(path, /^\/(?:exports(?:$|\/[\w-]+\/)|fetch-|changes\?)/, name);
    }
  },
);

forEachClient(
  "an export that does not have the hash of its dataset is left for pages, however well it was sent",
  async (t, client) => {
    const service = await startService(t, { records: records(20), settings });
    await publish(service, records(250));
    const { url } = await proxied(t, service, (one, whole) => {
      if (!isFile("signal", one)) return undefined;
      const body = Buffer.from(String(whole).replace("number 7", "number 8"));
      const tag = createHash("sha256").update(body).digest("hex").slice(0, 32);
      return { body, headers: { etag: `"${tag}"` } };
    });
    const result = await mirrored(client, url, service.key);
    await assertCopy(result, service);
    assert.deepEqual(result.updates, ["pages equal"]);
  },
);

forEachClient(
  "a mirror that waits for no quota keeps the files it has, also when it is saved",
  async (t, client) => {
    const service = await startService(t, { records: records(250), settings });
    const { key } = await service.newKey({ quotas: { minute: 3 } });
    const options = { waitMaxSeconds: 0 } as never;
    const { url, asked } = await proxied(t, service);
    let saved: string[] = [];
    let last = await mirrored(client, url, key, { options });
    for (; last.value.error !== null; last = await mirrored(client, url, key, { options, saved })) {
      assert.equal(last.value.error.code, "quota-exceeded");
      ({ saved } = last.value);
      service.clock.advance(60);
    }
    await assertCopy(last, service);
    assert.deepEqual(last.updates, ["export unknown"]);
    const got = asked.filter(({ path }) => path.endsWith(".ndjson")).map(({ path }) => path);
    assert.equal(new Set(got).size, 4);
    // Once refused and then given, at most.
    assert.ok(got.length <= 6, got.join());
  },
);

forEachClient(
  "a step is asked for where the service is, whatever path it names",
  async (t, client) => {
    const service = await startService(t, { records: records(20), settings });
    const first = await mirrored(client, service.url, service.key);
    await publish(service, records(25));
    const { url, asked } = await proxied(t, service, ({ path }, body) =>
      path.startsWith("/changes?")
        ? { body: Buffer.from(String(body).replaceAll('"step":"/', '"step":".invalid/')) }
        : undefined,
    );
    const result = await mirrored(client, url, service.key, { saved: first.value.saved });
    await assertCopy(result, service);
    assert.deepEqual(result.updates, ["steps equal"]);
    assert.ok(asked.some(({ path }) => path.startsWith("/changes/")));
  },
);

test("bytes that come piece by piece have the SHA-256 that node:crypto gives, at every length of two blocks", () => {
  for (let length = 0; length <= 130; length++) {
    const bytes = randomBytes(length);
    const wanted = createHash("sha256").update(bytes).digest("hex");
    for (const size of [1, 7, 63, 64, 65, 200]) {
      const hash = openSha256();
      for (let at = 0; at < length; at += size) hash.add(bytes.subarray(at, at + size));
      assert.equal(hash.digest(), wanted, `${length} bytes, ${size} at a time`);
    }
  }
});

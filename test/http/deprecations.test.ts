import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "#config.ts";
import { describeApi } from "#http/describe-api.ts";
import { operations } from "#operations/index.ts";
import { changelogPage } from "#pages/changelog.ts";
import { docsPage } from "#pages/docs.ts";
import type { AnsweredRequest } from "#usage/request-chunk.ts";
import { deprecatedTheme, deprecatedVersion } from "../support/deprecations.ts";
import { openHttpServer } from "../support/http-server.ts";
import { docsFacts } from "../support/public-pages.ts";

const invented = [deprecatedTheme, deprecatedVersion];

const before = Date.parse("2027-10-31T23:59:59Z");
const after = Date.parse("2027-11-01");

async function served(t: Parameters<typeof openHttpServer>[0], now = before) {
  const recorded: AnsweredRequest[] = [];
  const server = await openHttpServer(t, {
    deprecations: invented,
    now: () => now,
    record: (one) => void recorded.push(one),
  });
  return { ...server, recorded };
}

const said = (headers: Headers) =>
  Object.fromEntries(["deprecation", "sunset", "link"].map((name) => [name, headers.get(name)]));

test("an answer to a request with a deprecated parameter says since when, until when, and where to read more", async (t) => {
  const { get, recorded } = await served(t);
  const page = "gp_name=northwind&theme=build_to_rent";
  const plain = await get("/fetch-gp?gp_name=northwind");
  assert.equal(plain.headers.get("deprecation"), null);
  assert.equal(plain.headers.get("sunset"), null);
  const first = await get(`/fetch-gp?${page}`);
  for (const path of [`/fetch-gp?${page}`, `/v1/fetch-gp?${page}`, `/fetch-gp?${page}&limit=20`]) {
    const { status, headers } = await get(path);
    assert.equal(status, 200);
    const { deprecation, sunset, link } = said(headers);
    assert.equal(deprecation, `@${Date.parse("2026-10-01") / 1000}`);
    assert.equal(sunset, "Sat, 01 Jan 2028 00:00:00 GMT");
    assert.match(link!, /rel="first".*rel="service-desc"/);
    assert.ok(
      link!.endsWith(
        '</changelog#deprecated-themes>; rel="deprecation"; type="text/html", </changelog#deprecated-themes>; rel="sunset"; type="text/html"',
      ),
      link!,
    );
  }
  for (const [path, headers, status] of [
    [`/fetch-gp?${page}`, { "if-none-match": first.headers.get("etag")! }, 304],
    ["/fetch-gp?theme=x", {}, 400],
    [`/fetch-gp?${page}`, { accept: "image/png" }, 406],
  ] as const) {
    const answer = await get(path, headers);
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get("sunset"), "Sat, 01 Jan 2028 00:00:00 GMT", `${status}`);
  }
  const other = await get("/fetch-principals?theme=build_to_rent");
  assert.equal(other.headers.get("deprecation"), null);
  assert.deepEqual(
    new Set(recorded.map(({ operation }) => operation)),
    new Set(["fetch-gp", "fetch-gp?theme", "fetch-principals"]),
  );
});

test("a deprecated version answers as its successor does, and names it", async (t) => {
  const { get, recorded } = await served(t);
  for (const [path, query] of [
    ["fetch-gp", "?gp_name=northwind"],
    ["fetch-signals", ""],
    ["vocabulary", ""],
  ] as const) {
    const [old, successor] = [await get(`/v0/${path}${query}`), await get(`/v1/${path}${query}`)];
    assert.deepEqual([old.status, old.text], [200, successor.text]);
    assert.equal(old.headers.get("etag"), successor.headers.get("etag"));
    const { deprecation, sunset, link } = said(old.headers);
    assert.equal(deprecation, `@${Date.parse("2026-11-01") / 1000}`);
    assert.equal(sunset, "Mon, 01 Nov 2027 00:00:00 GMT");
    assert.ok(link!.endsWith(`, </v1/${path}>; rel="successor-version"`), link!);
    assert.match(link!, /<\/changelog#deprecated-v0>; rel="deprecation"/);
    assert.equal(successor.headers.get("deprecation"), null);
    assert.equal(recorded.at(-2)!.operation, `v0/${path}`);
  }
  const { headers } = await get("/v0/fetch-gp?gp_name=northwind&theme=build_to_rent");
  const both = said(headers);
  assert.equal(both["deprecation"], `@${Date.parse("2026-10-01") / 1000}`, "the first day of any");
  assert.equal(both["sunset"], "Mon, 01 Nov 2027 00:00:00 GMT", "the end that comes first");
  assert.match(both["link"]!, /deprecated-v0.*deprecated-themes/);
  assert.equal((await get("/v0/nothing")).status, 404);
});

test("links of a deprecation are absolute where the public address is known", async (t) => {
  const { get } = await openHttpServer(t, {
    deprecations: invented,
    now: () => before,
    config: readConfig({ PUBLIC_URL: "https://records.example" }),
  });
  const { headers } = await get("/v0/fetch-signals");
  assert.match(headers.get("link")!, /<https:\/\/records\.example\/v1\/fetch-signals>; rel="succ/);
  assert.match(headers.get("link")!, /<https:\/\/records\.example\/changelog#deprecated-v0>/);
});

test("a version is a 410 that names its successor from its end on, with or without a key, and counts nothing", async (t) => {
  const { get, recorded } = await served(t, after);
  for (const path of ["/v0/fetch-gp?gp_name=northwind", "/v0/vocabulary?x=1"])
    for (const key of ["x", ""]) {
      const { status, headers, body } = await get(path, { "x-api-key": key });
      assert.equal(status, 410);
      const { code, detail, successor, sunset } = body;
      const [bare] = path.slice(3).split("?");
      assert.deepEqual(
        { code, detail, successor, sunset },
        {
          code: "version-retired",
          detail: "Version 0 was retired on 2027-11-01.",
          successor: `/v1${bare}`,
          sunset: "2027-11-01T00:00:00.000Z",
        },
      );
      assert.equal(headers.get("ratelimit"), null);
    }
  assert.deepEqual(recorded, []);
  assert.equal((await get("/v0/fetch-gp", {}, "POST")).status, 405);
  assert.equal((await get("/v0/fetch-gp", {}, "OPTIONS")).status, 204);
  const { status, headers } = await get("/fetch-gp?gp_name=northwind&theme=build_to_rent");
  assert.deepEqual([status, headers.get("deprecation")], [200, "@1790812800"]);
});

test("the description marks what is deprecated", () => {
  const { paths } = describeApi(operations, 100, invented) as any;
  const theme = (path: string) =>
    paths[path].get.parameters.find(({ name }: { name: string }) => name === "theme");
  assert.equal(theme("/fetch-gp").deprecated, true);
  assert.match(
    theme("/fetch-gp").description,
    /^Deprecated since 2026-10-01; ends on 2028-01-01\. Use `tag`, which finds themes too\. A theme/,
  );
  assert.equal(theme("/fetch-principals").deprecated, undefined);
  const old = Object.keys(paths).filter((path) => path.startsWith("/v0/"));
  assert.deepEqual(old, [...operations.map(({ path }) => `/v0${path}`), "/v0/vocabulary"]);
  for (const path of old) {
    assert.equal(paths[path].get.deprecated, true);
    assert.equal(paths[path].get.operationId, `v0-${path.slice(4)}`);
    assert.match(paths[path].get.description, /^Deprecated since 2026-11-01;/);
  }
  assert.doesNotMatch(JSON.stringify(describeApi(operations, 100)), /"deprecated":true/);
});

test("the reference and the changelog say what is deprecated, until when and what to do", () => {
  const docs = docsPage({ ...docsFacts, deprecations: invented });
  assert.match(docs, /<strong>Deprecated since 2026-10-01; ends on 2028-01-01\. Use <code>tag</);
  assert.equal(docs.split("<strong>Deprecated").length, 2);
  const page = changelogPage([], invented);
  for (const id of ["deprecated-themes", "deprecated-v0"])
    assert.equal(page.split(`id="${id}"`).length, 2, id);
  assert.match(page, /every path under <code>\/v0<\/code>/);
  assert.match(page, /<time datetime="2027-11-01">/);
  assert.doesNotMatch(changelogPage([], []), /id="deprecated"/);
});

test("a list that announces an end too late keeps the server from starting", async (t) => {
  await assert.rejects(
    openHttpServer(t, { deprecations: [{ ...deprecatedTheme, sunset: "2027-09-30" }] }),
    /has to be announced for twelve months/,
  );
});

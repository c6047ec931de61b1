import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "#operations/index.ts";
import { parametersOf } from "#operations/operation.ts";
import { docsPage, type KeyFacts } from "#pages/docs.ts";
import { landingIndex, landingPage } from "#pages/landing.ts";
import { docsFacts, publicPages, serviceFacts } from "../support/public-pages.ts";

test("the landing page names every operation with its parameters and what the dataset holds", () => {
  const page = landingPage(serviceFacts);
  for (const operation of operations) {
    assert.ok(
      page.includes(`<a href="/docs#${operation.name}"><code>${operation.path}</code></a>`),
    );
    for (const name of parametersOf(operation)) assert.ok(page.includes(`<code>${name}</code>`));
  }
  for (const count of ["12,873", "48,211", "166,004", "9,312"])
    assert.ok(page.includes(`<dd>${count}</dd>`));
  assert.match(page, /<time datetime="2026-11-20T03:00:00Z" title="2026-11-20 03:00 UTC"/);
});

test("a line of curl is ready to copy, with a placeholder for the key", () => {
  const page = landingPage({ ...serviceFacts, publicUrl: "https://records.example" });
  assert.ok(
    page.includes(
      `curl -H "x-api-key: YOUR_KEY" "https://records.example/fetch-gp?gp_name=capital"`,
    ),
  );
});

test("without a dataset the landing page says so and what happens next", () => {
  const page = landingPage({
    counts: null,
    datasetVersion: null,
    datasetUpdatedAt: null,
    publicUrl: null,
    account: null,
    isDemo: false,
  });
  assert.match(page, /No records are published yet/);
  assert.doesNotMatch(page, /null|undefined/);
});

test("the facts shown on the landing page are escaped as text", () => {
  const evil = `"><script>alert(1)</script>`;
  const page = landingPage({
    ...serviceFacts,
    datasetVersion: evil,
    datasetUpdatedAt: evil,
    publicUrl: evil,
  });
  assert.ok(!page.includes("<script>alert"));
  assert.ok(page.includes("&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
});

test("programs get the links as JSON, absolute where the public URL is known", () => {
  const relative = landingIndex(serviceFacts);
  assert.deepEqual(
    relative.operations.map(({ name, url }) => [name, url]),
    operations.map(({ name, path }) => [name, path]),
  );
  assert.equal(relative.links.openapi, "/openapi.json");
  assert.deepEqual(relative.dataset?.records, serviceFacts.counts);
  const absolute = landingIndex({
    ...serviceFacts,
    counts: null,
    publicUrl: "https://records.example/api",
  });
  assert.equal(absolute.links.docs, "https://records.example/api/docs");
  assert.equal(absolute.dataset, null);
});

test("every page below /docs is linked from /docs and from the landing page", () => {
  const below = [...publicPages().keys()].filter((path) => path.startsWith("/docs/"));
  assert.ok(below.length >= 3);
  for (const page of [landingPage(serviceFacts), docsPage(docsFacts)])
    for (const path of below) assert.match(page, new RegExp(`<a\\s+href="${path}"\\s*>`));
});

test("a stranger is told on the landing page and in the docs how to get a key on this server", () => {
  const url = "/account";
  for (const page of [
    (facts: KeyFacts) => landingPage({ ...serviceFacts, ...facts }),
    (facts: KeyFacts) => docsPage({ ...docsFacts, ...facts }),
  ]) {
    const told = (facts: Partial<KeyFacts>) =>
      page({ account: { url, isOpen: true }, isDemo: false, ...facts });
    assert.match(told({}), /<a href="\/account\/sign-up">Sign up<\/a>/);
    assert.doesNotMatch(told({}), /demo/);
    const closed = told({ account: { url, isOpen: false } });
    assert.doesNotMatch(closed, /sign-up/);
    assert.match(closed, /Ask the operator.*href="\/account">sign in/s);
    const none = told({ account: null });
    assert.match(none, /Ask the operator of this service for an API key/);
    assert.doesNotMatch(none, /sign in/);
    const demo = told({ isDemo: true });
    assert.match(demo, /This is a demo: the key that it printed.*href="\/account\/sign-up"/s);
  }
  assert.equal(landingIndex(serviceFacts).links.account, url);
  assert.equal("account" in landingIndex({ ...serviceFacts, account: null }).links, false);
});

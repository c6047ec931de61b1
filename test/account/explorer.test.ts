import assert from "node:assert/strict";
import { test as onFile } from "node:test";
import { operations } from "#operations/index.ts";
import { filtersOf, parametersOf } from "#operations/operation.ts";
import { browser } from "../support/browser.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { openPages, setMinuteQuota, textOf } from "../support/record-pages.ts";
import type { Page } from "../support/user.ts";

/** What stands in the block with that label. */
const block = ({ text }: Page, label: string) =>
  textOf(new RegExp(`aria-label="${label}"\\s*><code>(.*?)</code`, "s").exec(text)![1]!);

const explorer = (operation: string, query: string) =>
  `/account/explorer?operation=${operation}&${query}`;

test("each operation has a form with all its parameters, and known values to choose from", async (t) => {
  const { user } = await openPages(t);
  for (const operation of operations) {
    const { text } = await user.get(`/account/explorer?operation=${operation.name}`);
    const form = /<form[^>]*explorer.*?<\/form>/s.exec(text)![0];
    const names = [...form.matchAll(/<input\s[^>]*name="(\w+)"/g)].map(([, name]) => name);
    assert.deepEqual(names, ["operation", ...parametersOf(operation)]);
    for (const filter of filtersOf(operation)) {
      assert.match(form, new RegExp(`list="known-${filter}"`));
      assert.match(form, new RegExp(`<datalist id="known-${filter}">\\s*<option value="`));
    }
    assert.doesNotMatch(text, /id="answer"/);
  }
});

test("the answer shown is the API's own, with its headers, and the lines send that call; empty fields are left out", async (t) => {
  const { service, user } = await openPages(t);
  for (const [operation, query, sent] of [
    ["fetch-gp", "gp_name=northwind&tag=", "?gp_name=northwind"],
    [
      "fetch-principals",
      "tag=multifamily&tag=qof&tag=&limit=1",
      "?tag=multifamily&tag=qof&limit=1",
    ],
    ["fetch-signals", "gp_name=&limit=&offset=", ""],
    ["fetch-projects", "gp_name=kk", "?gp_name=kk"],
    ["fetch-gp", "gp_name=northwnd", "?gp_name=northwnd"],
  ] as const) {
    const page = await user.get(explorer(operation, query));
    const { body, headers } = await service.get(`/${operation}${sent}`);
    assert.equal(page.status, 200);
    assert.deepEqual(JSON.parse(block(page, "Body of the answer")), body);
    const shown = textOf(page.text);
    assert.match(shown, /200 OK/);
    for (const name of ["dataset-version", "x-total-count", "ratelimit-policy"])
      assert.ok(shown.includes(headers.get(name)!), name);
    assert.equal(page.headers.get("ratelimit"), null);
    const url = `${service.url}/${operation}${sent}`;
    assert.equal(block(page, "The call with curl"), `curl '${url}' \\\n  -H 'x-api-key: YOUR_KEY'`);
    for (const language of ["in TypeScript", "in Python"])
      assert.ok(block(page, `The call ${language}`).includes(`"${url}"`), language);
  }
});

test("errors of parameters are shown in the words of the API, and the form keeps what was typed", async (t) => {
  const { service, user } = await openPages(t);
  const query = "gp_nme=x&limit=500&offset=-1&tag=a";
  const page = await user.get(explorer("fetch-signals", query));
  const { body } = await service.get(`/fetch-signals?${query}`);
  assert.equal(page.status, 400);
  const { request_id: id, ...shown } = JSON.parse(block(page, "Body of the answer"));
  const { request_id: _, ...said } = body;
  assert.deepEqual(shown, said);
  assert.ok(textOf(page.text).includes(`X-Request-Id\n${id}`), id);
  assert.ok(textOf(page.text).includes(body.detail));
  assert.match(page.text, /value="500"/);
  for (const { parameter, detail } of body.errors)
    if (["limit", "offset"].includes(parameter))
      assert.match(page.text, new RegExp(`value="[^"]*"[^<]*<[^]*?<p class="fault">${detail}</p>`));
});

test("the lines contain the public URL of the service", async (t) => {
  const settings = { PUBLIC_URL: "https://records.example.org/api" };
  const { user } = await openPages(t, { settings });
  const { status, text } = await user.get(explorer("fetch-projects", "limit=1"));
  assert.equal(status, 200);
  assert.ok(text.includes("https://records.example.org/api/fetch-projects?limit=1"));
});

test("a long answer is cut, says so, and keeps its end", async (t) => {
  const records = Array.from({ length: 100 }, (_, i) => ({
    record: "signal",
    id: `${i}`,
    title: `Signal ${i}`,
    summary: "&<\"' ".repeat(200),
    date: "2026",
  }));
  const { service, user } = await openPages(t, { records });
  const page = await user.get(explorer("fetch-signals", "limit=100"));
  const { text, body } = await service.get("/fetch-signals?limit=100");
  const shown = block(page, "Body of the answer");
  assert.ok(Buffer.byteLength(page.text) < 40_000);
  const bytes = Buffer.byteLength(text).toLocaleString("en-US");
  assert.ok(textOf(page.text).includes(`the whole answer has ${bytes} bytes`));
  const [, end] = shown.split("\n    …\n  ],");
  assert.deepEqual(JSON.parse(`{${end!}`), { pagination: body.pagination, meta: body.meta });
});

const suggest = (name: string, text: string) =>
  `/account/explorer/suggest?${new URLSearchParams({ name, text }).toString()}`;

test("suggestions are known values, the likeliest first, free of charge", async (t) => {
  const { user } = await openPages(t);
  const ask = async (name: string, text: string) =>
    JSON.parse((await user.get(suggest(name, text))).text) as string[];
  assert.deepEqual(await ask("gp_name", "nor"), ["Northwind Residential Partners"]);
  assert.deepEqual(await ask("gp_name", "stone"), [
    "Stonehaven Realty",
    "Blackstone Ridge Capital",
  ]);
  assert.deepEqual(await ask("gp_name", "n"), []);
  assert.deepEqual(await ask("market", "dal"), ["Dallas, TX"]);
  assert.deepEqual(await ask("market", "fort worht"), ["Fort Worth", "Fort Worth, TX"]);
  assert.deepEqual(await ask("tag", "re"), ["reg_d_506c", "retail", "core"]);
  assert.deepEqual(await ask("theme", "BUILD to"), ["build_to_rent"]);
  assert.deepEqual(await ask("type", "new_o"), ["new_offering"]);
  for (const name of ["limit", "__proto__", ""]) assert.deepEqual(await ask(name, "a"), []);
  assert.match((await user.get("/account/usage/quota")).text, /"used":"0 of 60"/);
});

// A database counts by its own clock, which no test sets.
onFile(
  "a call counts one request of the quota and looking at the form none; over it the answer is the API's 429",
  async (t) => {
    const { service, user } = await openPages(t);
    await setMinuteQuota(service, 2);
    const ask = () => user.get(explorer("fetch-gp", "gp_name=kkr"));
    for (const left of [1, 0]) {
      assert.equal((await user.get("/account/explorer")).status, 200);
      const page = await ask();
      assert.equal(page.status, 200);
      assert.match(textOf(page.text), new RegExp(`"minute";r=${left};t=60, "hour";r=`));
    }
    service.clock.advance(20);
    const refused = await ask();
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "40");
    assert.match(textOf(refused.text), /429 Too Many Requests/);
    const problem = JSON.parse(block(refused, "Body of the answer"));
    assert.equal(problem.code, "quota-exceeded");
    assert.equal(
      problem.detail,
      "All 2 requests of this minute are used. Try again in 40 seconds.",
    );
    assert.equal(problem.retry_after, 40);
    assert.match(refused.text, /value="kkr"/);
    assert.equal((await user.get("/account/explorer")).status, 200);
    assert.equal((await user.get(suggest("gp_name", "kkr"))).text, '["KKR"]');
    service.clock.advance(40);
    assert.equal((await ask()).status, 200);
  },
);

test("without records there are no suggestions, and nothing to explore", async (t) => {
  const { user } = await openPages(t, { records: null });
  assert.equal((await user.get(suggest("gp_name", "kkr"))).text, "[]");
  assert.equal((await user.get(explorer("fetch-gp", "gp_name=kkr"))).status, 503);
  assert.match((await user.get("/account/usage/quota")).text, /"used":"0 of 60"/);
});

test("a body too long to be read as a whole shows its first record and its end", async (t) => {
  const records = Array.from({ length: 100 }, (_, i) => ({
    record: "gp",
    id: `${i}`,
    name: `Acme ${i} "\\}{`,
    description: `}"\\{`.repeat(2500),
  }));
  const { service, user } = await openPages(t, { records });
  const page = await user.get(explorer("fetch-gp", "gp_name=acme&limit=100"));
  const { text, body } = await service.get("/fetch-gp?gp_name=acme&limit=100");
  assert.ok(text.length > 1_000_000);
  const shown = block(page, "Body of the answer");
  assert.ok(shown.includes(JSON.stringify(body.data[0].name)));
  const [, end] = shown.split("\n    …\n  ],");
  assert.deepEqual(JSON.parse(`{${end!}`), { pagination: body.pagination, meta: body.meta });
  const bytes = Buffer.byteLength(text).toLocaleString("en-US");
  assert.ok(textOf(page.text).includes(`the whole answer has ${bytes} bytes`));
});

onFile("with a script suggestions appear while one types", async (t) => {
  const chrome = await browser(t);
  if (chrome === null) return;
  const { service, user } = await openPages(t);
  const page = await chrome.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  await page
    .context()
    .addCookies(Array.from(user.cookies, ([name, value]) => ({ name, value, url: service.url })));
  await page.goto(`${service.url}/account/explorer`);
  await page.locator('[name="gp_name"]').fill("societe");
  await page.locator('#known-gp_name:not(:has([value="KKR"]))').waitFor({ state: "attached" });
  const options = page.locator("#known-gp_name option");
  assert.equal(await options.count(), 1);
  assert.equal(await options.getAttribute("value"), "Société Générale Immobilier");
  await page.locator('[name="gp_name"]').press("Enter");
  await page.getByText("200 OK").waitFor();
  assert.deepEqual(faults, []);
});

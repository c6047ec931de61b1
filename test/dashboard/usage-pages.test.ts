import assert from "node:assert/strict";
import { test as onFile } from "node:test";
import { forEachStore as test } from "../support/for-each-store.ts";
import { createKey } from "../support/key-forms.ts";
import { accountOf } from "../support/own-account.ts";
import { headingOf, openPages, wordsOf } from "../support/record-pages.ts";
import { startService } from "../support/service.ts";
import { putRequests, request } from "../support/usage.ts";
import { signedIn } from "../support/user.ts";

test("the usage of an account, on its pages", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service, { email: "ada@example.org" });
  const eve = await signedIn(service, { email: "eve@example.org" });
  const { id: key, key: secret } = await createKey(ada, { name: "nightly" });
  const { number: account } = await accountOf(service, "ada@example.org");
  const { number: other } = await accountOf(service, "eve@example.org");
  const at = (time: string) => Date.parse(time);
  const asked = request({ account, key });
  await putRequests(service.place, [
    { ...asked, at: at("2026-11-21T08:59:59.250Z"), requestId: "req_answered", bytes: 4321 },
    {
      ...asked,
      at: at("2026-11-21T07:10:00Z"),
      requestId: "req_refused",
      status: 429,
      problem: "quota-exceeded",
      dataset: null,
      operation: "fetch-signals",
    },
    {
      ...asked,
      at: at("2026-11-20T10:00:00Z"),
      requestId: "req_failed",
      status: 503,
      problem: "gone-code",
    },
    { ...asked, at: at("2026-11-09T10:00:00Z"), requestId: "=cmd", query: "gp_name=<b>kkr</b>" },
    ...Array.from({ length: 41 }, (_, i) => ({
      ...asked,
      at: at("2026-11-08T10:00:00Z") - i,
      requestId: `req_old_${i}.`,
    })),
    request({ account: other, key: "key_of_eve", requestId: "req_of_eve" }),
  ]);
  const idsOn = ({ text }: { text: string }) =>
    [...text.matchAll(/<code class="long">(req_\w+\.?|=cmd)<\/code>/g)].map(([, id]) => id);

  await t.test("the log shows the newest requests first, with their causes", async () => {
    const page = await ada.get("/account/requests");
    assert.deepEqual(idsOn(page).slice(0, 5), [
      "req_answered",
      "req_refused",
      "req_failed",
      "=cmd",
      "req_old_0.",
    ]);
    const words = wordsOf(page.text);
    assert.match(
      words,
      /2026-11-21 08:59:59 req_answered fetch-gp nightly 200 20261121T090000Z-1 1.3 4,321 /,
    );
    assert.match(page.text, /429<br \/>\s*<a href="\/errors\/quota-exceeded">quota-exceeded<\/a>/);
    assert.ok(page.text.includes(`<a class="name" href="/account/keys/${key}">nightly</a>`));
    // A problem that is no longer known has no page.
    assert.match(page.text, /503<br \/>\s*gone-code/);
    assert.doesNotMatch(page.text, /errors\/gone-code/);
    assert.match(page.text, /<code class="long">gp_name=&lt;b&gt;kkr&lt;\/b&gt;<\/code>/);
  });

  await t.test("filters narrow the log, alone and together, and its pages follow on", async () => {
    const idsWith = async (query: string) => idsOn(await ada.get(`/account/requests?${query}`));
    assert.deepEqual(await idsWith("status=4xx"), ["req_refused"]);
    assert.deepEqual(await idsWith(`key=${key}&status=5xx&day=2026-11-20`), ["req_failed"]);
    assert.deepEqual(await idsWith("status=4xx&id=req_failed"), []);
    const first = await ada.get("/account/requests?status=2xx");
    assert.equal(idsOn(first).length, 40);
    const older = /<a class="button" href="([^"]*)">Older/.exec(first.text)![1]!;
    assert.match(older, /^\/account\/requests\?status=2xx&amp;after=/);
    const second = await ada.get(older.replaceAll("&amp;", "&"));
    assert.deepEqual(idsOn(second), ["req_old_38.", "req_old_39.", "req_old_40."]);
    assert.doesNotMatch(second.text, /Older/);
  });

  await t.test("a filter that cannot be meant is a 400, as a page and as a file", async () => {
    for (const path of ["/account/requests", "/account/requests.csv"]) {
      const { status, text, headers } = await ada.get(`${path}?status=200`);
      assert.equal(status, 400);
      assert.match(headers.get("content-type")!, /^text\/html/);
      assert.match(text, /role="alert">Status must be 2xx, 3xx, 4xx or 5xx, not “200”/);
      assert.deepEqual(idsOn({ text }), []);
    }
  });

  await t.test("the file holds what the filter shows, and no formula", async () => {
    const { text, headers } = await ada.get("/account/requests.csv?operation=fetch-gp");
    assert.match(headers.get("content-disposition")!, /filename="requests-2026-11-21.csv"/);
    // The mark by which Excel knows UTF-8 is not part of the text.
    assert.equal(Number(headers.get("content-length")), Buffer.byteLength(`\uFEFF${text}`));
    const [heading, ...lines] = text.split("\r\n");
    assert.equal(heading, "at,request_id,key,operation,status,ms,bytes,dataset,problem,query");
    assert.equal(lines.length, 45);
    assert.match(lines[1]!, /^2026-11-20T10:00:00.000Z,req_failed,key_\w+,fetch-gp,503,/);
    assert.match(lines[2]!, /Z,'=cmd,/);
  });

  await t.test("no page and no file of one account has a request of another", async () => {
    for (const path of ["", ".csv"]) {
      const everything = await ada.get(`/account/requests${path}`);
      assert.doesNotMatch(everything.text, /req_of_eve/);
      for (const query of ["key=key_of_eve", "id=req_of_eve"]) {
        const { text } = await ada.get(`/account/requests${path}?${query}`);
        assert.equal(text.includes("2026-11-21T12:00:00.000Z"), false, query);
      }
    }
    const hers = await eve.get("/account/requests");
    assert.deepEqual(idsOn(hers), ["req_of_eve"]);
    for (const path of ["usage", "requests", "notices", "keys"])
      assert.doesNotMatch((await eve.get(`/account/${path}`)).text, new RegExp(`${key}|nightly`));
  });

  await t.test("usage states the finding, plots it, and has the numbers below it", async () => {
    const { text } = await ada.get("/account/usage");
    assert.match(text, /<h2>3 requests in the last 24 hours, 1 of them failed on our side<\/h2>/);
    assert.match(text, /<h2>45 requests in the last 30 days, 1 of them failed on our side<\/h2>/);
    const plots = text.match(/<figure class="plot">.*?<\/figure>/gs) ?? [];
    assert.equal(plots.length, 2);
    // They differ by more than colour.
    for (const plot of plots)
      for (const name of ["var(--accent)", "url(#hatch)", "var(--ink)"])
        assert.ok(plot.includes(`<rect fill="${name}"`), name);
    const words = wordsOf(text);
    assert.match(words, /Hour 2xx 4xx 5xx 10:00 0 0 1 07:00 0 1 0 08:00 1 0 0 /);
    assert.match(words, /nightly 45 43 0 1 1 1 1\.3 /);
    assert.ok(text.includes(`href="/account/requests?key=${key}"`));
    assert.match(words, /fetch-signals 1 0 0 1 0 1 /);
  });

  await t.test("the gauges show the counters of the service", async () => {
    for (let i = 0; i < 60; i++)
      await service.get("/fetch-projects?limit=1", { "x-api-key": secret });
    const { text } = await ada.get("/account/usage");
    assert.match(text, /<h1>Your quota per minute is used up<\/h1>/);
    // PostgreSQL counts by a clock of its own, which goes on meanwhile.
    const words = wordsOf(text).replaceAll(/in \d\d s\./g, "in 60 s.");
    for (const gauge of [
      "Last minute 60 of 60 Nothing left. Try again in 60 s.",
      "Last hour 60 of 1,000 940 left. The earliest request stops counting in 60 min.",
      "Last 24 hours 60 of 10,000 9,940 left. The earliest request stops counting in 24 h 0 min.",
    ])
      assert.ok(words.includes(gauge), words);
    // Whoever hears the page hears the numbers alone.
    assert.equal(text.match(/<progress[^>]* aria-hidden="true"/g)?.length, 3);
  });
});

onFile("a use of less than 1% is not called none", async (t) => {
  const { service, user } = await openPages(t);
  const { key } = await createKey(user);
  await service.get("/fetch-projects", { "x-api-key": key });
  service.clock.advance(61);
  const page = await user.get("/account/usage");
  assert.equal(headingOf(page), "Less than 1% of your quota is used");
});

onFile("a log that is off names the setting, and an empty one what to do", async (t) => {
  const settings = { USAGE_LOG_DAYS: "0" };
  const { user: off } = await openPages(t, { records: null, settings });
  const { text } = await off.get("/account/requests");
  assert.match(text, /<h1>No log of requests<\/h1>.*<code>USAGE_LOG_DAYS<\/code> is 0/s);
  assert.doesNotMatch(text, /<form method="get"|requests\.csv/);
  const { user } = await openPages(t, { records: null });
  assert.match(
    (await user.get("/account/requests")).text,
    /No requests in this time\. Send one with/,
  );
  assert.match((await user.get("/account/requests?id=x")).text, /No request matches/);
});

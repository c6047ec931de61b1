import assert from "node:assert/strict";
import { test } from "node:test";
import { byteOrderMark } from "#csv.ts";
import { gp, principal } from "../datasets/published.ts";
import { headingOf, openPages, setMinuteQuota, usedOf, wordsOf } from "../support/record-pages.ts";
import { startService } from "../support/service.ts";
import { openUser } from "../support/user.ts";
import { partOf } from "../support/workbook-part.ts";

/** The text of a download without the mark at its beginning, which `fetch` drops. */
const linesOf = (text: string) => text.split("\r\n").slice(0, -1);

const many = Array.from({ length: 250 }, (_, i) => gp(`gp-${String(i).padStart(3, "0")}`));

test("a download has the rows of its view, as the list answers them in CSV", async (t) => {
  const { service, user } = await openPages(t);
  await setMinuteQuota(service, 10_000);
  for (const [page, list, query] of [
    ["gps", "gps", {}],
    ["gps", "gps", { tag: "multifamily", sort: "-aum_usd" }],
    ["people", "principals", { gp_name: "northwind" }],
    ["signals", "signals", { date_from: "-400d", sort: "date" }],
    ["projects", "projects", { name: "alder" }],
  ] as const) {
    const path = `/browse/${page}/download`;
    const sent = await user.post(path, { ...query, format: "csv" });
    assert.equal(sent.status, 200, sent.text);
    const asked = new URLSearchParams({ ...query, limit: "100" }).toString();
    const { text } = await service.get(`/list-${list}?${asked}`, { accept: "text/csv" });
    assert.equal(sent.text.replace(byteOrderMark, ""), text, page);
    assert.ok(linesOf(text).length > 1, "some records are compared");
    assert.match(
      sent.headers.get("content-disposition")!,
      new RegExp(`^attachment; filename="${page}-[\\w-]+\\.csv"$`),
    );
  }
});

test("a download is charged one request for each started 100 rows before it is sent, or not at all", async (t) => {
  const { service, user } = await openPages(t, { records: many });
  const path = "/browse/gps/download";
  const ask = (headers = {}, fields = {}) => user.post(path, { format: "csv", ...fields }, headers);
  const view = wordsOf((await user.get("/browse/gps")).text);
  assert.match(view, /All 250 GPs\. The download counts as 3 requests against your quota\./);
  assert.equal(linesOf((await ask()).text).length, 251);
  assert.equal(await usedOf(user), "3 of 60");
  const stranger = { "sec-fetch-site": "cross-site", origin: "https://elsewhere.example" };
  assert.equal((await ask(stranger)).status, 403);
  assert.equal((await ask({}, { nonsense: "1" })).status, 400);
  assert.equal((await ask({}, { format: "pdf" })).status, 400);
  assert.equal((await user.get(`${path}?format=csv`)).status, 405);
  assert.equal(await usedOf(user), "3 of 60");
  assert.equal((await ask({}, { name: "nothing", gp_name: "gp-00" })).status, 400);
  assert.equal(linesOf((await ask({}, { gp_name: "gp-00" })).text).length, 11);
  assert.equal(await usedOf(user), "4 of 60");
  for (let i = 0; i < 18; i++) assert.equal((await ask()).status, 200);
  service.clock.advance(10);
  const refused = await ask();
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "50");
  assert.equal(headingOf(refused), "The download cannot start now");
  assert.match(wordsOf(refused.text), /counts as 3 requests.*2 of 60 per minute/);
  assert.equal(await usedOf(user), "58 of 60");
  service.clock.advance(50);
  await setMinuteQuota(service, 2);
  service.clock.advance(61);
  const bounded = wordsOf((await user.get("/browse/gps")).text);
  assert.match(bounded, /The first 200 of 250 GPs\. The download counts as 2 requests/);
  assert.equal(linesOf((await ask()).text).length, 201);
});

test("signed out a download has 100 rows, nobody's e-mail address, and counts as a view", async (t) => {
  const people = Array.from({ length: 120 }, (_, i) =>
    principal(`person-${i}`, [], {
      email: `p${i}@example.org`,
      linkedin_url: `https://www.linkedin.com/in/p${i}`,
    }),
  );
  const settings = { BROWSE: "everyone", CONTACT: "records@example.org" };
  const service = await startService(t, { settings, records: people });
  const stranger = openUser(service);
  const page = wordsOf((await stranger.get("/browse/people")).text);
  assert.match(page, /The first 100 of 120 people\. The download counts as one page view\./);
  const ask = () => stranger.post("/browse/people/download", { format: "csv" });
  const { text } = await ask();
  assert.equal(linesOf(text).length, 101);
  assert.doesNotMatch(text, /@example\.org|linkedin/);
  for (let i = 0; i < 58; i++) assert.equal((await ask()).status, 200);
  assert.equal((await ask()).status, 429);
});

test("a workbook says its version, time and filters, and neither format runs a formula", async (t) => {
  const { service, user } = await openPages(t, {
    records: [gp("a", { name: "=1+1", funds: [{ name: "=Fund 1", sold_usd: 7 }] }), gp("b")],
  });
  const csv = await user.post("/browse/gps/download", { format: "csv" });
  assert.match(csv.text, /,'=1\+1,/);
  const cookie = Array.from(user.cookies, ([name, value]) => `${name}=${value}`).join("; ");
  const answer = await fetch(`${service.url}/browse/gps/download`, {
    method: "POST",
    headers: { cookie, "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ gp_name: "1", format: "xlsx" }),
  });
  const archive = Buffer.from(await answer.arrayBuffer());
  const records = partOf(archive, "xl/worksheets/sheet1.xml");
  assert.match(records, /s="3" t="inlineStr"><is><t xml:space="preserve">=1\+1</);
  assert.doesNotMatch(records, /<f>/);
  assert.match(wordsOf(partOf(archive, "xl/worksheets/sheet2.xml")), / =1\+1 +=Fund 1 +7 /);
  const about = wordsOf(partOf(archive, "xl/worksheets/sheet3.xml"));
  const version = (await service.get("/list-gps")).headers.get("dataset-version")!;
  assert.ok(about.includes(version));
  assert.ok(about.includes(new Date(service.clock.now()).toISOString()));
  assert.match(about, /Filters named “1”/);
  assert.match(about, /\/browse\/gps\?gp_name=1/);
});

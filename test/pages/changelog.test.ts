import assert from "node:assert/strict";
import { test } from "node:test";
import { apiVersions } from "#operations/versions.ts";
import { changelogPage } from "#pages/changelog.ts";
import { startService } from "../support/service.ts";

test("the newest entry is of the version that is served", async (t) => {
  const service = await startService(t);
  const { text, headers } = await service.get("/changelog");
  const [, newest] = /<h2 id="v([^"]+)">/.exec(text)!;
  assert.equal(newest, headers.get("api-version"));
  assert.equal(newest, (await service.get("/fetch-signals?limit=1")).body.meta.api_version);
});

test("entries are newest first, each with a day and a change", () => {
  const dates = apiVersions.map(({ date }) => date);
  assert.deepEqual(dates, dates.toSorted().toReversed());
  for (const { date, changes } of apiVersions) {
    assert.match(date, /^\d{4}-\d{2}-\d{2}$/);
    assert.notEqual(changes.length, 0);
  }
});

test("an entry is shown as text with its code marked", () => {
  const page = changelogPage([
    { version: "1.4", date: "2027-01-02", changes: ["A <b>new</b> parameter `city`."] },
  ]);
  assert.match(page, /<li>A &lt;b&gt;new&lt;\/b&gt; parameter <code>city<\/code>\.<\/li>/);
  assert.match(page, /<time datetime="2027-01-02">/);
});

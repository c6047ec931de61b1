import assert from "node:assert/strict";
import { mintId } from "#datasets/draft-record.ts";
import { readAssets } from "#pages/assets.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { openPages, textOf } from "../support/record-pages.ts";
import type { Page, TestUser } from "../support/user.ts";

const hostile = `<script>alert("a")</script>'&amp;<img src=x onerror=alert(1)>`;

test("the content of records is shown as text", async (t) => {
  const provenance = { basis: "stated", confidence: 0.5, url: "https://example.org/?<script>" };
  const records = [
    {
      record: "gp",
      id: "bad",
      name: `Bad ${hostile}`,
      legal_name: `Legal ${hostile}`,
      aliases: [`Alias ${hostile}`],
      description: hostile,
      website: `https://example.org/"onclick="alert(1)`,
      hq_city: hostile,
      tags: [`tag ${hostile}`],
      themes: [`theme ${hostile}`],
      markets: [`market ${hostile}`],
      provenance,
    },
    {
      record: "principal",
      id: "p",
      name: `Person ${hostile}`,
      title: hostile,
      email: hostile,
      gps: ["bad"],
      provenance,
    },
    {
      record: "signal",
      id: "s",
      title: `Signal ${hostile}`,
      date: "2026",
      market: hostile,
      url: `http://x/'"><b>`,
      gps: ["bad"],
      provenance,
    },
    {
      record: "project",
      id: "j",
      name: `Project ${hostile}`,
      city: hostile,
      gps: ["bad"],
      provenance,
    },
  ];
  const { user } = await openPages(t, { records });
  const gp = await user.get(`/account/browse/gp/${mintId("gp", "own", "bad")}`);
  const pages = [
    gp,
    await user.get("/account/browse"),
    await user.get("/account/browse/signals"),
    await user.get(`/account/browse?market=${encodeURIComponent(hostile)}`),
  ];
  for (const { status, text } of pages) {
    assert.ok(status === 200 || status === 400);
    assert.ok(text.includes("alert"), "it is shown");
    assert.doesNotMatch(text, /<script>|<img src=x|<b>/);
    assert.doesNotMatch(text.replaceAll(/"[^"]*"/g, '""'), /<[^>]*\son\w+=/);
  }
  for (const word of ["Bad", "Legal", "Alias", "Person", "Signal", "Project"])
    assert.ok(textOf(gp.text).includes(`${word} ${hostile}`), word);
});

/** As much of everything as a record may have. */
function enormous() {
  const long = (what: string) => `${what} ${"&wwwwwwww ".repeat(60)}`.slice(0, 500);
  const gps = ["big"];
  const many = <R>(make: (i: number) => R) => Array.from({ length: 130 }, (_, i) => make(i));
  const url = `https://example.org/${"a".repeat(1900)}`;
  return [
    {
      record: "gp",
      id: "big",
      name: long("Big"),
      aliases: many((i) => long(`Alias ${i}`)),
      description: "&".repeat(10_000),
      tags: many((i) => `tag ${i} ${"&".repeat(80)}`),
      markets: many((i) => `market ${i} ${"&".repeat(80)}`),
      external_ids: { other: many((i) => `${i} ${"x".repeat(90)}`) },
    },
    ...many((i) => ({
      record: "principal",
      id: `${i}`,
      name: long(`Person ${i}`),
      gps,
      provenance: { url },
    })),
    ...many((i) => ({
      record: "signal",
      id: `${i}`,
      title: long(`Signal ${i}`),
      date: "2026",
      url,
      gps,
    })),
    ...many((i) => ({ record: "project", id: `${i}`, name: long(`Project ${i}`), gps })),
  ];
}

async function assertSmall(user: TestUser, path: string): Promise<Page> {
  const page = await user.get(path);
  assert.equal(page.status, 200, path);
  const assets = readAssets()
    .filter(({ path: asset }) => page.text.includes(`"${asset}"`))
    .reduce((sum, { bytes }) => sum + bytes.length, 0);
  const bytes = Buffer.byteLength(page.text) + assets;
  assert.ok(bytes <= 60_000, `${path}: ${bytes} bytes`);
  return page;
}

test("a page stays small whatever its records hold, has the true totals, and leads to the rest", async (t) => {
  const { service, user } = await openPages(t, { records: enormous() });
  const id = mintId("gp", "own", "big");
  const { text } = await assertSmall(user, `/account/browse/gp/${id}`);
  assert.match(text, /130 signals/);
  for (const operation of ["fetch-principals", "fetch-signals", "fetch-projects"]) {
    const [, shown, path] = new RegExp(
      `The first (\\d+) of 130\\. The others:\\s*<a[^>]*>/(${operation}[^<]*)</a`,
    ).exec(text)!;
    const { status, body } = await service.get(`/${textOf(path!)}`);
    assert.equal(status, 200);
    assert.equal(body.pagination.offset, Number(shown));
    assert.equal(body.pagination.total, 130);
  }
  const chosen = Array.from({ length: 10 }, (_, i) => `market=${"m".repeat(90)}${i}`).join("&");
  await assertSmall(user, "/account/browse");
  await assertSmall(user, `/account/browse?${chosen}`);
  await assertSmall(user, "/account/browse/signals");
});

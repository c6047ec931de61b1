import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { listAccounts, suspendAccount } from "#accounts/accounts.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import { readAssets } from "#pages/assets.ts";
import { gp, principal, project, signal } from "../datasets/published.ts";
import { browser } from "../support/browser.ts";
import { cast } from "../support/cast.ts";
import { importRecords, openCurrent } from "../support/dataset.ts";
import { createKey } from "../support/key-forms.ts";
import { withControl } from "../support/own-account.ts";
import { headingOf, openPages, setMinuteQuota, textOf } from "../support/record-pages.ts";
import type { Page, TestUser } from "../support/user.ts";

/** The links that narrow down, with the counts beside them: path → count. */
function choices({ text }: Page): Map<string, number> {
  const facets = /<nav class="facets".*?<\/nav>/s.exec(text)?.[0] ?? "";
  return new Map(
    [...facets.matchAll(/<a\s+href="([^"]*)"\s*>[^<]*<\/a\s*>\s*<span[^>]*>([\d,]+)</g)].map(
      ([, href, count]) => [textOf(href!), Number(count!.replaceAll(",", ""))],
    ),
  );
}

/** The ids of the GPs that a page lists, in its order. */
const listedOn = ({ text }: Page) =>
  [...text.matchAll(/<th scope="row">\s*<a href="[^"]*\/(gp_\w+)"/g)].map(([, id]) => id!);

const queryOf = (path: string) => new URL(path, "http://a").searchParams;

const suggest = (name: string, text: string) =>
  `/search/suggest?${new URLSearchParams({ name, text }).toString()}`;

test("over the cast", async (t) => {
  const { service, user } = await openPages(t);
  await setMinuteQuota(service, 10_000);

  await t.test(
    "a list of GPs, and the count that leads to it, is what /fetch-gp answers to the same filters over HTTP",
    async () => {
      const ids = cast
        .filter(({ record }) => record === "gp")
        .map(({ id }) => mintId("gp", "own", id));
      const all = choices(await user.get("/browse/gps"));
      assert.equal(all.size, 14);
      for (const [href, count] of all) {
        const page = await user.get(href);
        const found: string[] = [];
        for (const id of ids) {
          const { body } = await service.get(`/fetch-gp?gp_name=${id}&${queryOf(href).toString()}`);
          found.push(...body.data.map((gp: { id: string }) => gp.id));
        }
        assert.deepEqual(listedOn(page).toSorted(), found.toSorted(), href);
        assert.equal(count, found.length, href);
        assert.ok(headingOf(page).startsWith(`${found.length} GP`), headingOf(page));
      }
    },
  );

  await t.test(
    "every count beside a value is what is found for it, given what is chosen already",
    async () => {
      const model = openCurrent(openCatalogue(join(service.dataDir, "datasets")));
      let compared = 0;
      for (const path of choices(await user.get("/browse/gps")).keys()) {
        const chosen = queryOf(path);
        for (const [href, count] of choices(await user.get(path))) {
          const query = queryOf(href);
          const filter: Record<string, string[]> = {};
          for (const name of ["market", "tag", "theme"] as const) {
            const added = query.getAll(name).filter((value) => !chosen.has(name, value));
            // Beside a value of the same parameter stands what it would give alone.
            filter[name] = added.length > 0 ? added : query.getAll(name);
          }
          const { total } = model.select("gp", filter, { limit: 1, offset: 0 });
          assert.equal(count, total, `${href} on ${path}`);
          compared++;
        }
      }
      assert.equal(compared, 100);
    },
  );

  await t.test(
    "GPs and signals are found by name as the operations find them, within what is chosen, best match first",
    async () => {
      for (const query of [
        "gp_name=partners",
        "gp_name=KKR",
        "gp_name=northwind&tag=multifamily",
        "gp_name=northwind&market=nowhere",
      ]) {
        const { body } = await service.get(`/fetch-gp?${query}`);
        const page = await user.get(`/browse/gps?${query}`);
        assert.deepEqual(
          listedOn(page),
          body.data.map((gp: { id: string }) => gp.id),
          query,
        );
        const found = choices(page);
        assert.ok(
          [...found.keys()].every((href) => queryOf(href).has("gp_name")),
          query,
        );
        const name = new URLSearchParams(query).get("gp_name")!;
        const { body: signals } = await service.get(`/fetch-signals?gp_name=${name}`);
        const beside = await user.get(`/browse/signals?gp_name=${name}`);
        assert.ok(headingOf(beside).startsWith(`${signals.pagination.total} signal`), query);
      }
      const all = await user.get("/browse/gps?gp_name=%20");
      assert.equal(headingOf(all), headingOf(await user.get("/browse/gps")));
      const missed = await user.get("/browse/gps?gp_name=northwnd+residential");
      assert.match(textOf(missed.text), /No GP is named “northwnd residential”/);
      assert.match(missed.text, /href="\/browse\/gps\?gp_name=Northwind[^"]*"/);
    },
  );

  await t.test("every count of signals is that of the signals it leads to", async () => {
    const page = await user.get("/browse/signals");
    const counts = choices(page);
    const all = counts.values().reduce((sum, count) => sum + count);
    assert.equal(headingOf(page), `${all} signals`);
    const { body } = await service.get("/fetch-signals?limit=100");
    for (const [href, count] of counts) {
      const list = await user.get(href);
      assert.ok(headingOf(list).startsWith(`${count} signal`), href);
      const type = queryOf(href).get("type");
      for (const signal of body.data)
        assert.equal(list.text.includes(signal.title), signal.type === type, signal.title);
    }
  });

  await t.test("the link of a chosen value takes it away and leaves all others", async () => {
    const chosen = [...choices(await user.get("/browse/gps")).keys()]
      .flatMap((href) => [...queryOf(href)])
      .filter(([name]) => name === "tag" || name === "market")
      .slice(0, 4);
    const page = await user.get(`/browse/gps?${new URLSearchParams(chosen).toString()}`);
    const facets = /<nav class="facets".*?<\/nav>/s.exec(page.text)![0];
    const left = [...facets.matchAll(/<a\s+href="([^"]*)"\s+aria-current="true"/g)].map(
      ([, href]) => [...queryOf(textOf(href!))].map(String).toSorted().join("&"),
    );
    const expected = chosen.map((gone) =>
      chosen
        .filter((one) => one !== gone)
        .map(String)
        .toSorted()
        .join("&"),
    );
    assert.equal(chosen.length, 4);
    assert.deepEqual(left.toSorted(), expected.toSorted());
  });

  await t.test(
    "what nothing carries is named with what is near it, and a misspelt name is a fault as for the operations",
    async () => {
      const unknown = await user.get("/browse/gps?market=Dalas");
      assert.equal(headingOf(unknown), "0 GPs in Dalas");
      const near = /Did you mean\s*<a href="([^"]*)"/.exec(unknown.text)![1]!;
      assert.match(headingOf(await user.get(textOf(near))), /^2 GPs/);
      const fault = await user.get("/browse/gps?markt=Dallas");
      assert.equal(fault.status, 400);
      assert.match(
        textOf(fault.text),
        /'markt' is not a parameter of .* \(did you mean 'market'\?\)/,
      );
    },
  );
});

test("looking at records uses up nothing of the quota, and a quota that is used up hides none", async (t) => {
  const { service, user } = await openPages(t);
  const { key } = await createKey(user);
  await setMinuteQuota(service, 2);
  const asked = () => service.get("/fetch-gp?gp_name=kkr", { "x-api-key": key });
  const paths = {
    "/browse/gps": 200,
    "/browse/signals": 200,
    [`/browse/gps/${mintId("gp", "own", "northwind")}`]: 200,
    "/browse/gps/gp_0000000000000000": 404,
    "/browse/gps?mrket=dallas": 400,
    "/account/usage": 200,
  };
  const lookAtAll = async () => {
    for (const [path, status] of Object.entries(paths)) {
      const page = await user.get(path);
      assert.equal(page.status, status, path);
      assert.equal(page.headers.get("ratelimit"), null, path);
    }
  };
  await lookAtAll();
  const first = await asked();
  assert.match(first.headers.get("ratelimit")!, /^"minute";r=1;/);
  assert.equal((await asked()).status, 200);
  assert.equal((await asked()).status, 429);
  await lookAtAll();
});

test("a suspended account sees no records", async (t) => {
  const { service, user } = await openPages(t);
  await withControl(service, async (control) => {
    for (const { id } of await listAccounts(control))
      await suspendAccount(control, id, service.clock.now());
  });
  for (const path of ["/browse/gps", "/browse/signals"]) {
    const { status, text } = await user.get(path);
    assert.equal(status, 403, path);
    assert.doesNotMatch(text, /Northwind/);
  }
});

// How the datasets of a database are taken over is told in test/datasets/shared-service.test.ts.
test("without records the page says so and counts nothing; records published later are shown without a restart", async (t) => {
  const { service, user } = await openPages(t, { records: null });
  const empty = await user.get("/browse/gps");
  assert.equal(empty.status, 503);
  assert.equal(empty.headers.get("retry-after"), "5");
  assert.equal(headingOf(empty), "No records yet");
  assert.equal((await user.get(suggest("gp_name", "kkr"))).text, "[]");
  const catalogue = openCatalogue(join(service.dataDir, "datasets"));
  const [northwind] = cast;
  for (const [count, records] of [
    [1, [northwind]],
    [10, cast],
  ] as const) {
    await importRecords(catalogue, records, { nowMilliseconds: service.clock.now() });
    const version = catalogue.currentVersion();
    while ((await service.get("/fetch-signals")).headers.get("dataset-version") !== version)
      await setTimeout(50);
    service.clock.advance(61);
    assert.match(headingOf(await user.get("/browse/gps")), new RegExp(`^${count} GP`));
  }
});

test("former addresses of pages lead to the present ones with their queries", async (t) => {
  const { user } = await openPages(t);
  for (const [from, to] of Object.entries({
    "/browse": "/browse/gps",
    "/account/browse?market=Dallas&market=New+York": "/browse/gps?market=Dallas&market=New+York",
    "/account/browse/signals?type=news": "/browse/signals?type=news",
    "/account/browse/gp/gp_0123456789abcdef": "/browse/gps/gp_0123456789abcdef",
  })) {
    const { status, location } = await user.get(from);
    assert.deepEqual([status, location], [308, to], from);
  }
});

const hostile = `<script>alert("a")</script>'&amp;<img src=x onerror=alert(1)>`;

test("the content of records is shown as text", async (t) => {
  const provenance = { basis: "stated", confidence: 0.5, url: "https://example.org/?<script>" };
  const told = (word: string) => `${word} ${hostile}`;
  const linked = { gps: ["bad"], provenance };
  const records = [
    gp("bad", {
      name: told("Bad"),
      legal_name: told("Legal"),
      aliases: [told("Alias")],
      description: hostile,
      website: `https://example.org/"onclick="alert(1)`,
      hq_city: hostile,
      tags: [told("tag")],
      themes: [told("theme")],
      markets: [told("market")],
      provenance,
    }),
    principal("p", ["bad"], { name: told("Person"), title: hostile, email: hostile, provenance }),
    signal("s", { title: told("Signal"), market: hostile, url: `http://x/'"><b>`, ...linked }),
    project("j", { name: told("Project"), city: hostile, ...linked }),
  ];
  const { user } = await openPages(t, { records });
  const pages = [
    await user.get("/browse/gps"),
    await user.get("/browse/signals"),
    await user.get(`/browse/gps?market=${encodeURIComponent(hostile)}`),
  ];
  for (const { status, text } of pages) {
    assert.ok(status === 200 || status === 400);
    assert.ok(text.includes("alert"), "it is shown");
    assert.doesNotMatch(text, /<script>|<img src=x|<b>/);
    assert.doesNotMatch(text.replaceAll(/"[^"]*"/g, '""'), /<[^>]*\son\w+=/);
  }
});

/** As much of everything as a record may have. */
function enormous() {
  const long = (what: string) => `${what} ${"&wwwwwwww ".repeat(60)}`.slice(0, 500);
  const gps = ["big"];
  const many = <R>(make: (i: number) => R) => Array.from({ length: 130 }, (_, i) => make(i));
  const url = `https://example.org/${"a".repeat(1900)}`;
  return [
    gp("big", {
      name: long("Big"),
      aliases: many((i) => long(`Alias ${i}`)),
      description: "&".repeat(10_000),
      tags: many((i) => `tag ${i} ${"&".repeat(80)}`),
      markets: many((i) => `market ${i} ${"&".repeat(80)}`),
      external_ids: { other: many((i) => `${i} ${"x".repeat(90)}`) },
    }),
    ...many((i) => principal(`${i}`, gps, { name: long(`Person ${i}`), provenance: { url } })),
    ...many((i) => signal(`${i}`, { title: long(`Signal ${i}`), url, gps })),
    ...many((i) => project(`${i}`, { name: long(`Project ${i}`), gps })),
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

test("a list stays small whatever its records hold", async (t) => {
  const { user } = await openPages(t, { records: enormous() });
  const chosen = Array.from({ length: 10 }, (_, i) => `market=${"m".repeat(90)}${i}`).join("&");
  const { text: facets } = await assertSmall(user, "/browse/gps");
  assert.match(facets, /<datalist id="other-Market">\s*<option value="market \d/);
  assert.match(facets, /<datalist id="other-Tag">\s*<option value="tag \d/);
  await assertSmall(user, `/browse/gps?${chosen}`);
  await assertSmall(user, "/browse/signals");
});

test("suggestions are known names, the likeliest first, and known values, the most common first, free of charge", async (t) => {
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
  assert.deepEqual(await ask("tag", "re"), ["core", "reg_d_506c", "retail"]);
  assert.deepEqual(await ask("theme", "BUILD to"), ["build_to_rent"]);
  assert.deepEqual(await ask("type", "new_o"), ["new_offering"]);
  for (const name of ["limit", "__proto__", ""]) assert.deepEqual(await ask(name, "a"), []);
  assert.match((await user.get("/account/usage/quota")).text, /"used":"0 of 60"/);
});

test("with a script suggestions appear while one types", async (t) => {
  const chrome = await browser(t);
  if (chrome === null) return;
  const { service, user } = await openPages(t);
  const page = await chrome.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  await page
    .context()
    .addCookies(Array.from(user.cookies, ([name, value]) => ({ name, value, url: service.url })));
  await page.goto(`${service.url}/browse/gps`);
  await page.locator('[name="gp_name"]').fill("societe");
  const options = page.locator("#gp-names option");
  await options.waitFor({ state: "attached" });
  assert.equal(await options.getAttribute("value"), "Société Générale Immobilier");
  await page.locator('[name="gp_name"]').press("Enter");
  await page.getByRole("heading", { name: /^1 GP/ }).waitFor();
  assert.deepEqual(faults, []);
});

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { listAccounts, suspendAccount } from "#accounts/accounts.ts";
import { browseOf } from "#dashboard/components/records.ts";
import { endsOf } from "#dashboard/components/view.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import { lists } from "#operations/lists.ts";
import { recordKinds } from "#records/kinds.ts";
import { gp, principal, project, signal } from "../datasets/published.ts";
import { cast } from "../support/cast.ts";
import { importRecords } from "../support/dataset.ts";
import { createKey } from "../support/key-forms.ts";
import { withControl } from "../support/own-account.ts";
import { headingOf, openPages, setMinuteQuota, textOf, wordsOf } from "../support/record-pages.ts";
import type { Page, TestUser } from "../support/user.ts";

/** The rows of the facets that can be clicked, those of chosen values apart. */
function facetRows({ text }: Page) {
  const facets = /<nav id="filters".*?<\/nav>/s.exec(text)![0];
  return [...facets.matchAll(/<a href="([^"]*)#filters"([^>]*)>\s*<span.*?<b>([^<]*)<\/b>/gs)].map(
    ([, href, attributes, count]) => ({
      href: textOf(href!),
      isChosen: attributes!.includes("aria-current"),
      isAdded: count!.startsWith("+"),
      count: Number(count!.replaceAll(/[+,]/g, "")),
    }),
  );
}

const totalOn = (page: Page): number =>
  Number(/^[\d,]+/.exec(headingOf(page))![0].replace(",", ""));

/** The ids of the records that a page lists, in its order. */
const listedOn = ({ text }: Page) =>
  [...text.matchAll(/<th scope="row">\s*<a href="\/browse\/\w+\/(\w+)"/g)].map(([, id]) => id!);

const queryOf = (path: string) => new URL(path, "http://a").searchParams;

test("over the cast", async (t) => {
  const { service, user } = await openPages(t);
  await setMinuteQuota(service, 10_000);

  const pages = {
    "/browse/gps": "/list-gps",
    "/browse/people": "/list-principals",
    "/browse/signals": "/list-signals",
    "/browse/projects": "/list-projects",
  };

  await t.test("the last facets are folded, but never a chosen one", async () => {
    const more = /<details (open)?>\s*<summary>More filters: tag, state, .* and founded</;
    const openOn = async (path: string) => more.exec((await user.get(path)).text)![1];
    assert.equal(await openOn("/browse/gps?market=dallas"), undefined);
    assert.equal(await openOn("/browse/gps?tag=multifamily"), "open");
  });

  await t.test("a page lists what its list answers to the same query", async () => {
    for (const [path, list] of Object.entries(pages))
      for (const query of [
        "?",
        "?limit=50&offset=2",
        "?gp_name=northwind",
        "?market=dallas",
        "?tag=multifamily&basis=stated&basis=related_entity",
        "?updated_at_from=-400d&sort=-updated_at",
      ]) {
        const page = await user.get(path + query);
        const { body } = await service.get(
          `${list}${query}&limit=25`.replace(/(limit=50.*)&.*/, "$1"),
        );
        const { total } = body.pagination;
        assert.equal(totalOn(page), total, path + query);
        if (list !== "/list-signals")
          assert.deepEqual(
            listedOn(page),
            body.data.map((record: { id: string }) => record.id),
            path + query,
          );
        for (const { name, title } of body.data)
          assert.ok(textOf(page.text).includes(name ?? title), `${name ?? title} on ${path}`);
      }
  });

  await t.test("the number of each facet is what its link leads to", async () => {
    let followed = 0;
    for (const path of Object.keys(pages)) {
      const rows = facetRows(await user.get(path));
      const next = rows.find(({ href }) => /[?&](market|type)=/.test(href));
      for (const [query, links] of [
        ["?", rows],
        [next!.href, facetRows(await user.get(path + next!.href))],
      ] as const) {
        const before = totalOn(await user.get(path + query));
        for (const { href, count, isAdded, isChosen } of links) {
          const after = totalOn(await user.get(path + href));
          service.clock.advance(1);
          const expected = isChosen ? before : isAdded ? after - before : after;
          assert.equal(count, expected, `${href} on ${path}${query}`);
          followed++;
        }
      }
    }
    assert.ok(followed > 60, `${followed}`);
  });

  await t.test("the API call of a page answers what the page shows", async () => {
    const page = await user.get("/browse/projects?units_min=1&status=planned");
    const [, target] =
      /curl -H [^ ]+ [^ ]+ [^ ]*?(\/list-projects\?[^"&]*(?:&(?!quot)[^"&]*)*)"/.exec(
        textOf(page.text),
      )!;
    const { body } = await service.get(target!);
    assert.deepEqual(
      listedOn(page),
      body.data.map((record: { id: string }) => record.id),
    );
    assert.equal(body.data.length, 1);
  });

  await t.test("a chip removes its value alone, and one link removes all", async () => {
    const query = "?market=Dallas%2C+TX&market=Winston-Salem%2C+NC&tag=qof&sort=-aum_usd";
    const { text } = await user.get(`/browse/gps${query}`);
    const chips = /<ul class="chips">.*?<\/ul>/s.exec(text)![0];
    const left = [...chips.matchAll(/href="(\?[^"]*)"/g)].map(([, href]) =>
      [...queryOf(textOf(href!))].map(([name, value]) => `${name}=${value}`).toSorted(),
    );
    assert.deepEqual(left, [
      ["market=Winston-Salem, NC", "sort=-aum_usd", "tag=qof"],
      ["market=Dallas, TX", "sort=-aum_usd", "tag=qof"],
      ["market=Dallas, TX", "market=Winston-Salem, NC", "sort=-aum_usd"],
      ["sort=-aum_usd"],
    ]);
  });

  await t.test("what nothing has is named, with what is near it", async () => {
    const unknown = await user.get("/browse/gps?market=Dalas");
    assert.equal(headingOf(unknown), "0 GPs in Dalas");
    const near = /Did you mean\s*<a href="([^"]*)"/.exec(unknown.text)![1]!;
    assert.match(headingOf(await user.get(`/browse/gps${textOf(near)}`)), /^2 GPs/);
    const missed = await user.get("/browse/gps?gp_name=northwnd+residential");
    assert.match(missed.text, /href="\?gp_name=Northwind[^"]*"/);
  });

  await t.test("an address that is no view is refused with each fault in words", async () => {
    for (const bad of ["markt=Dallas", "units_min=-3", "status=finished", "start_date_from=soon"]) {
      const { status, text } = await user.get(`/browse/projects?market=Dallas&${bad}`);
      assert.equal(status, 400, bad);
      assert.ok(textOf(text).includes(`'${bad.split("=")[0]}'`), bad);
    }
    const { text } = await user.get("/browse/projects?units_min=5&units_max=3&markt=1");
    assert.match(textOf(text), /2 problems: 'markt'.*'units_min'/s);
  });

  await t.test(
    "an empty field of a form asks for nothing, and an amount is read as written",
    async () => {
      const all = totalOn(await user.get("/browse/gps"));
      assert.equal(totalOn(await user.get("/browse/gps?gp_name=%20&aum_usd_min=")), all);
      const page = await user.get("/browse/gps?aum_usd_min=%241.5B");
      assert.equal(headingOf(page), "1 GP with assets from $1.5B");
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

// How the datasets of a database are taken over is told in test/datasets/shared-service.system.long.ts.
test("without records the page says so and counts nothing; records published later are shown without a restart", async (t) => {
  const { service, user } = await openPages(t, { records: null });
  const empty = await user.get("/browse/gps");
  assert.equal(empty.status, 503);
  assert.equal(empty.headers.get("retry-after"), "5");
  assert.equal(headingOf(empty), "No records to show");
  assert.equal((await user.get("/search/suggest?q=kkr")).text, "");
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

test("every kind has the filters and columns that its page names", () => {
  for (const kind of recordKinds) {
    const { facets, columns, narrow } = browseOf(kind);
    for (const name of facets)
      assert.ok(name in lists[kind].filters || endsOf(kind, name).length === 2, `${kind} ${name}`);
    for (const name of narrow) assert.ok(name in columns, `${kind} ${name}`);
  }
});

test("the address above all pages of records leads to GPs, with its query", async (t) => {
  const { user } = await openPages(t);
  const { status, location } = await user.get("/browse?market=Dallas&market=New+York");
  assert.deepEqual([status, location], [308, "/browse/gps?market=Dallas&market=New+York"]);
});

test("signals in order of date stand below each day with its number in the view", async (t) => {
  const dates = ["2026-11-20", "2026-11-20", "2026-11-20", "2026-11-19", "2026-11-19", "2026-11"];
  const records = dates.map((date, i) => signal(`${i}`, { date, type: i < 5 ? "news" : "other" }));
  const { user } = await openPages(t, { records });
  const headsOf = async (query: string) => {
    const { text } = await user.get(`/browse/signals${query}`);
    return [...text.matchAll(/<tr class="group">(.*?)<\/tr>/gs)].map(([, head]) =>
      wordsOf(head!).trim(),
    );
  };
  assert.deepEqual(await headsOf("?"), [
    "20 Nov 2026 3 signals",
    "19 Nov 2026 2 signals",
    "Nov 2026 1 signal",
  ]);
  assert.deepEqual(await headsOf("?type=news&offset=1"), [
    "20 Nov 2026 3 signals",
    "19 Nov 2026 2 signals",
  ]);
  assert.deepEqual(await headsOf("?sort=-amount_usd"), []);
  assert.deepEqual(await headsOf("?date_to=2026-11-19&type=other"), []);
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
    signal("s", { title: told("Signal"), market: hostile, url: `http://x/'"><i>`, ...linked }),
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
    assert.doesNotMatch(text, /<script>|<img src=x|<i>/);
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
  assert.ok(Buffer.byteLength(page.text) <= 50_000, `${path}: ${Buffer.byteLength(page.text)}`);
  return page;
}

test("a list stays small whatever its records hold", async (t) => {
  const { user } = await openPages(t, { records: enormous() });
  const chosen = Array.from({ length: 10 }, (_, i) => `market=${"m".repeat(90)}${i}`).join("&");
  const { text: facets } = await assertSmall(user, "/browse/gps");
  assert.match(facets, /12\d others\s*<input name="market"/);
  await assertSmall(user, `/browse/gps?${chosen}`);
  await assertSmall(user, "/browse/signals");
});

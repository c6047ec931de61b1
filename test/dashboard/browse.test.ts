import assert from "node:assert/strict";
import { test } from "node:test";
import { browseOf } from "#dashboard/components/records.ts";
import { endsOf } from "#dashboard/components/view.ts";
import { mintId } from "#datasets/draft-record.ts";
import { lists } from "#operations/lists.ts";
import { recordKinds } from "#records/kinds.ts";
import { project, signal } from "../datasets/published.ts";
import { createKey } from "../support/key-forms.ts";
import { headingOf, openPages, setMinuteQuota, textOf, wordsOf } from "../support/record-pages.ts";
import type { Page } from "../support/user.ts";

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

  // What the numbers are is told in test/dashboard/facets.test.ts.
  await t.test("a facet has the number of each value, and a link to the view with it", async () => {
    const { text } = await user.get("/browse/gps?market=dallas");
    const links = text.matchAll(/<a href="([^"]*)#filters"[^>]*>\s*<span.*?<b>([^<]*)<\/b>/gs);
    const rows = Array.from(links, ([, href, count]) => `${textOf(href!)} ${count}`);
    for (const row of [
      "?market=dallas&property_type=multifamily 1",
      "?market=dallas&market=Winston-Salem%2C+NC +1",
    ])
      assert.ok(rows.includes(row), rows.join("\n"));
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

  await t.test("from beyond the end one click leads back to the last records", async () => {
    const { text } = await user.get("/browse/gps?limit=4&offset=500");
    assert.match(text, /href="\?limit=4&amp;offset=6" rel="prev"/);
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

  await t.test("a form keeps the filters, the order and the number of rows", async () => {
    const { text } = await user.get("/browse/gps?market=dallas&sort=-aum_usd&limit=50");
    const form = /<form action="\/browse\/gps">.*?<section>/s.exec(text)![0];
    const kept = form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g);
    const fields = Array.from(kept, ([, name, value]) => `${name}=${value}`);
    assert.deepEqual(fields, ["market=dallas", "sort=-aum_usd", "limit=50"]);
  });

  await t.test("a heading says of how many more values its number is", async () => {
    const markets = ["Dallas, TX", "Boise", "Ogden", "Provo", "Reno", "Tulsa"];
    const query = new URLSearchParams(markets.map((one) => ["market", one])).toString();
    const heading = headingOf(await user.get(`/browse/gps?${query}`));
    assert.equal(heading, "2 GPs in Boise, Dallas, Ogden, Provo or 2 more");
  });

  await t.test("a heading says whose name is asked, and which records have no GP", async () => {
    for (const [path, heading] of [
      ["/browse/people?name=yy&gp_name=zz", "0 people named “yy” of GPs named “zz”"],
      ["/browse/projects?has_gp=true&hud_id=zz_1", "0 projects with a GP, zz_1"],
    ] as const)
      assert.equal(headingOf(await user.get(path)), heading);
  });

  await t.test("a plot of signals says that it leaves out the filter on signals", async () => {
    const { text } = await user.get("/browse/gps?signal_type=other");
    assert.match(text, /Signals of GPs that match the other filters by month and kind/);
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

  await t.test("an empty field asks for nothing, and an amount is read as written", async () => {
    const all = totalOn(await user.get("/browse/gps"));
    assert.equal(totalOn(await user.get("/browse/gps?gp_name=%20&aum_usd_min=")), all);
    const page = await user.get("/browse/gps?aum_usd_min=%241.5B");
    assert.equal(headingOf(page), "1 GP with assets from $1.5B");
  });
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

test("plots say which years they show, and no market leads that one without a place exceeds", async (t) => {
  const at = { market: "Reno, NV", latitude: 39.5, longitude: -119.8 };
  const more = ["2027", "2031-01"].map((date) => ({ market: "Abroad", completion_date: date }));
  const records = [at, ...more].map((rest, i) => project(`${i}`, rest));
  const { text } = await (await openPages(t, { records })).user.get("/browse/projects");
  assert.match(text, /<h2>1 market<\/h2>\s*<p class="muted">Projects by market/);
  assert.match(text, /Completion known for 2 of 3.*Projects by completion, 2019 to 2030/s);
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

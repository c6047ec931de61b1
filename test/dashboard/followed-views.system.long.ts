import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setPlan } from "#accounts/plans.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { openChangesReader } from "#datasets/joined-steps.ts";
import { digestToken } from "#store/random-text.ts";
import { gp, principal } from "../datasets/published.ts";
import { allCommands } from "../support/all-commands.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { cast } from "../support/cast.ts";
import { hour, noon } from "../support/control.ts";
import { importRecords, keepingSteps, openCurrent, prune } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import { forEachStore } from "../support/for-each-store.ts";
import { cookiesOf, openInsideWorker } from "../support/inside-worker.ts";
import { freshDatabase, onPostgres } from "../support/postgres.ts";
import { fixedClock, startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hiddenFields, openUser, signedIn } from "../support/user.ts";

const begin = noon - 20 * 24 * hour;

/** A folder of datasets, the worker over them, and people who are signed in. */
async function openFollowed(t: TestContext) {
  const folder = openCatalogue(join(temporaryFolder(t), "datasets"));
  const catalogue = keepingSteps(folder, assert.fail);
  let reader = openChangesReader(folder.folder);
  const worker = await openInsideWorker(
    t,
    {},
    {
      model: () => openCurrent(folder),
      changes: {
        list: (served) => reader.list(served),
        gather: (...order) => reader.gather(...order),
        join: (...order) => reader.join(...order),
        members: (changes) => reader.members(changes),
      },
    },
  );
  let publications = 0;
  let minutes = 0;
  const signUp = async (email: string) => {
    const headers = { cookie: cookiesOf(await worker.signUp(email)) };
    return {
      follow: async (kind: string, query: string, form = {}) => {
        const { status, body } = await worker.post(
          "/account/feeds/follow",
          { kind, query, ...form },
          { headers },
        );
        return { status, body, secret: /\/feeds\/([\w-]{43})/.exec(body)?.[1] };
      },
      views: async () => (await worker.get("/account/feeds", { headers })).body,
      changes: (query: string) => worker.get(`/browse/changes?${query}`, { headers }),
      unfollow: (id: string) => worker.post("/account/feeds/unfollow", { id }, { headers }),
    };
  };
  return {
    ...worker,
    catalogue,
    signUp,
    /** Publishes an hour after the publication before. */
    async publish(...records: unknown[]) {
      const nowMilliseconds = begin + publications++ * hour;
      const options = { nowMilliseconds, allowsEmpty: true };
      return (await importRecords(catalogue, records, options)).published;
    },
    /** Asks for a feed, a little more than a minute after the time before. */
    async feed(secret: string, afterMinutes = 1.01) {
      minutes += afterMinutes;
      const monotonicMicroseconds = noon * 1000 + minutes * 60e6;
      return worker.get(`/feeds/${secret}`, { monotonicMicroseconds });
    },
    /** What is kept in memory is lost. */
    restart: () => (reader = openChangesReader(folder.folder)),
  };
}

/** Titles of a feed's entries by their times, the newest first. */
function entriesOf(xml: string): Map<string, string[]> {
  const found = [
    ...xml.matchAll(/<entry>\n<id>.*<\/id>\n<title>(.*)<\/title>\n<updated>(.*)<\/updated>/g),
  ];
  const groups = Map.groupBy(found, ([, , time]) => time!);
  return new Map(
    Array.from(groups, ([time, of]) => [time, of.map(([, title]) => title!).toSorted()]),
  );
}

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);

forEachStore(
  "a feed tells every change of its view over 50 publications and a restart, and none of others",
  async (t) => {
    t.diagnostic(`SEED=${seed}`);
    const { below } = seededRandom(seed);
    const site = await openFollowed(t);
    const known = new Map<string, { hq_state: string; aum_usd: number }>();
    const someGp = () => ({ hq_state: ["TX", "NV"][below(2)]!, aum_usd: below(1000) });
    const publish = () => site.publish(...Array.from(known, ([id, rest]) => gp(id, rest)));
    for (let i = 0; i < 8; i++) known.set(`g${i}`, someGp());
    await publish();
    const ana = await site.signUp("ana@example.org");
    const { secret } = await ana.follow("gp", "hq_state=TX");
    /** Every change so far, and the last state of each record. */
    const all: { at: string; id: string; what: string }[] = [];
    const last = new Map(known);
    let polled = 0;
    for (let number = 1; number <= 50; number++) {
      if (number === 25) site.restart();
      const changed = new Map<string, string>();
      for (let i = 0; i <= below(3); i++) {
        const id = `g${below(12)}`;
        if (changed.has(id)) continue;
        if (!known.has(id)) changed.set(id, "added");
        else if (known.size > 3 && below(3) === 0) changed.set(id, "removed");
        else changed.set(id, "changed");
        if (changed.get(id) === "removed") known.delete(id);
        else {
          const next = { ...someGp(), aum_usd: 1000 + number };
          known.set(id, next);
          last.set(id, next);
        }
      }
      const published = (await publish())!;
      for (const [id, what] of changed) all.push({ at: published.published_at!, id, what });
      const { status, body } = await site.feed(secret!);
      assert.equal(status, 200);
      const mine = all.filter(({ id }) => last.get(id)!.hq_state === "TX");
      const expected = Map.groupBy(mine, ({ at }) => at);
      const told = entriesOf(body);
      assert.deepEqual(
        told,
        new Map(
          Array.from(expected, ([at, of]): [string, string[]] => [
            at,
            of.map(({ id, what }) => `${id} ${what}`).toSorted(),
          ]).toReversed(),
        ),
        `publication ${number}`,
      );
      polled += told.get(published.published_at!)?.length ?? 0;
    }
    assert.ok(polled > 15, String(polled));
    assert.match((await ana.changes("since=2026-01-01")).body, /<span>the latest 20<\/span>/);
  },
);

forEachStore(
  "a feed is for whoever knows its secret, once a minute, until it is stopped",
  async (t) => {
    const site = await openFollowed(t);
    await site.publish(gp("a", { hq_state: "TX" }));
    await site.publish(gp("a", { hq_state: "TX", aum_usd: 5 }));
    const ana = await site.signUp("ana@example.org");
    const ben = await site.signUp("ben@example.org");
    const { secret, body } = await ana.follow("gp", "hq_state=TX&sort=-aum_usd");
    assert.match(body, /no other page shows it/);
    const views = await ana.views();
    assert.ok(!views.includes(secret!), "the secret is shown once");
    assert.match(views, /<td data-label="Follower" >ana@example\.org/);
    const rows = await site.control.database.selectFrom("followed_view").selectAll().execute();
    assert.deepEqual(
      rows.map(({ query, digest }) => [query, Buffer.from(digest).toString("hex")]),
      [["hq_state=TX", Buffer.from(digestToken(secret!)).toString("hex")]],
    );
    assert.ok(!JSON.stringify(rows).includes(secret!));

    const first = await site.feed(secret!);
    assert.deepEqual(
      [first.status, first.headers.find(([name]) => name === "content-type")?.[1]],
      [200, "application/atom+xml; charset=utf-8"],
    );
    assert.ok(!first.body.includes(secret!), "the feed does not name its own address");
    const second = await site.feed(secret!, 0.5);
    assert.deepEqual([second.status, retryAfter(second)], [429, "30"]);
    assert.equal((await site.feed(secret!, 0.5)).status, 200);
    const others = await ben.follow("gp", "");
    assert.equal((await site.feed(others.secret!, 0)).status, 200, "each feed has its own minute");

    for (const guess of [
      "x",
      "A".repeat(43),
      secret!.slice(1),
      `${secret}x`,
      secret!.toLowerCase(),
    ])
      assert.equal((await site.feed(guess)).status, 404, guess);
    const form = await site.post(`/feeds/${secret}`, {});
    assert.equal(form.status, 405);

    const { id } = rows[0]!;
    assert.ok(!(await ben.views()).includes(id));
    assert.equal((await ben.unfollow(id)).status, 404, "another account's view");
    assert.equal((await site.feed(secret!)).status, 200);
    assert.equal((await ana.unfollow(id)).status, 303);
    assert.equal((await site.feed(secret!)).status, 404);
    assert.equal((await site.feed(others.secret!)).status, 200);
  },
);

forEachStore("the form that follows a view, sent twice, makes one feed", async (t) => {
  const site = await openFollowed(t);
  await site.publish(gp("a"));
  const ana = await site.signUp("ana@example.org");
  const form = hiddenFields((await ana.changes("kind=gp")).body, "/account/feeds/follow");
  const follow = () => ana.follow("gp", "", form);
  const [one, other] = await Promise.all([follow(), follow()]);
  assert.equal(one.status, 200);
  assert.deepEqual([other.status, other.secret], [200, one.secret]);
  assert.equal((await site.feed(one.secret!)).status, 200);
  const ben = await site.signUp("ben@example.org");
  assert.notEqual((await ben.follow("gp", "", { form: form["form"]! })).secret, one.secret);
  const { length } = await site.control.database.selectFrom("followed_view").select("id").execute();
  assert.equal(length, 2);
});

const retryAfter = ({ headers }: { headers: readonly (readonly [string, string])[] }) =>
  headers.find(([name]) => name === "retry-after")?.[1];

test("an account without changes follows nothing, and its feeds end when its plan loses them or it is suspended", async (t) => {
  const site = await openFollowed(t);
  await site.publish(gp("a"));
  const ana = await site.signUp("ana@example.org");
  const { secret } = await ana.follow("gp", "");
  const allow = (changes: boolean) =>
    setPlan(site.control, { name: "default", quotas: {}, changes, now: noon });
  await allow(false);
  assert.equal((await site.feed(secret!)).status, 404);
  const refused = await ana.follow("gp", "");
  assert.deepEqual([refused.status, refused.secret], [403, undefined]);
  assert.equal((await ana.changes("")).status, 403);
  await allow(true);
  assert.equal((await site.feed(secret!)).status, 200);
  await site.control.database.updateTable("account").set({ suspended_at: "2026" }).execute();
  assert.equal((await site.feed(secret!)).status, 404);
});

test("the page of changes joins steps, filters by a view, and says what it cannot know", async (t) => {
  const site = await openFollowed(t);
  const ana = await site.signUp("ana@example.org");
  const tx = { hq_state: "TX" };
  await site.publish(
    gp("old", tx),
    gp("grown", { ...tx, aum_usd: 1e9, funds: [{ name: "I", sold_usd: 1 }] }),
    gp("far", { hq_state: "NV" }),
  );
  const mid = await site.publish(
    gp("old", tx),
    gp("grown", { ...tx, aum_usd: 2e9 }),
    gp("brief", tx),
    principal("p", ["grown"], { email: "p@example.org" }),
  );
  await site.publish(
    gp("grown", { ...tx, aum_usd: 3e9, funds: [{ name: "I", sold_usd: 2 }] }),
    gp("new <b>", tx),
    principal("p", ["grown"], { email: "q@example.org" }),
  );
  const shown = async (query: string) => {
    const { status, body } = await ana.changes(query);
    assert.equal(status, 200, body);
    const rows = [
      ...body.matchAll(
        /<th scope="row">(?:<a [^>]*>)?([^<]*)(?:<\/a>)?<\/th><td[^>]*><span class="change \w+">(\w+)/g,
      ),
    ];
    return { body, rows: rows.map(([, name, change]) => `${name} ${change}`).toSorted() };
  };
  const since = `since=${new Date(begin).toISOString().slice(0, 10)}`;
  const all = await shown(since);
  assert.deepEqual(all.rows, [
    "far removed",
    "grown changed",
    "new &lt;b&gt; added",
    "old removed",
    "p added",
  ]);
  assert.match(all.body, /<del>\$1B<\/del> → <ins>\$3B<\/ins>; Funds changed/);
  assert.deepEqual((await shown(`since=${mid!.version}`)).rows, [
    "brief removed",
    "grown changed",
    "new &lt;b&gt; added",
    "old removed",
    "p changed",
  ]);
  const figures = (body: string) =>
    Array.from(body.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/g), ([, ...figure]) =>
      figure.join(" "),
    );
  assert.deepEqual(figures(all.body), ["GPs 4", "People 1", "Signals 0", "Projects 0"]);
  const texan = await shown(`${since}&kind=gp&hq_state=TX`);
  assert.deepEqual(texan.rows, ["grown changed", "new &lt;b&gt; added", "old removed"]);
  assert.deepEqual(figures(texan.body), ["Added 1", "Changed 1", "Removed 1"]);
  const tabs = [...texan.body.matchAll(/<a href="([^"]*)"[^>]*>(\w+) <span class="muted">(\d+)/g)];
  assert.deepEqual(
    tabs.map(([, , label, count]) => `${label} ${count}`),
    ["All 5", "GPs 3", "People 1", "Signals 0", "Projects 0"],
  );
  assert.match(tabs[1]![1]!, /kind=gp&amp;hq_state=TX$/);
  assert.match(texan.body, /2 GPs added or changed in all/);
  assert.match(texan.body, /aria-label="All GPs by publication;/);
  assert.ok(texan.body.includes(`since=${mid!.version}&amp;kind=gp&amp;hq_state=TX`));
  assert.deepEqual((await shown(`${since}&kind=principal`)).rows, ["p added"]);
  await prune(site.catalogue, { keep: 1, isDryRun: false, nowMilliseconds: noon });
  site.restart();
  const pruned = await shown(`${since}&kind=gp&hq_state=TX`);
  assert.deepEqual(pruned.rows, ["grown changed", "new &lt;b&gt; added"]);
  assert.match(pruned.body, /2 removed GPs\s+may have belonged to this view/);
  for (const [query, words] of [
    ["since=2026-02-30", "&#39;since&#39; must be"],
    ["since=x%3Cb%3E", "x&lt;b&gt;"],
    ["hq_state=TX", "needs a kind"],
    ["kind=fund", "&#39;kind&#39; must be"],
    ["kind=gp&hq_stat=TX", "did you mean"],
  ] as const) {
    const { status, body } = await ana.changes(query);
    assert.equal(status, 400, query);
    assert.ok(body.includes(words), `${query}: ${body}`);
  }
});

onPostgres(
  "two instances on one PostgreSQL serve Browse to one session, and the feed that was made at either",
  async (t) => {
    const databaseUrl = await freshDatabase(t);
    const place = () => ({ dataDir: temporaryFolder(t), databaseUrl });
    const clock = fixedClock();
    const one = await startService(t, { place: place(), clock });
    const other = await startService(t, { place: place(), clock, records: null });
    const both = [one, other];
    await eventually(async () => assert.ok((await fetch(`${other.url}/ready`)).ok));
    const ada = await signedIn(one);
    const elsewhere = openUser(other);
    for (const [name, value] of ada.cookies) elsewhere.cookies.set(name, value);
    for (const user of [ada, elsewhere]) {
      const { status, text } = await user.get("/browse/gps?hq_state=TX");
      assert.equal(status, 200);
      assert.match(text, /Northwind Residential Partners/);
    }

    const made = await ada.post("/account/feeds/follow", { kind: "gp", query: "hq_state=TX" });
    const [, secret] = /\/feeds\/([\w-]{43})/.exec(made.text)!;
    const feeds = () => Promise.all(both.map(({ url }) => fetch(`${url}/feeds/${secret}`)));
    assert.deepEqual(
      (await feeds()).map(({ status }) => status),
      [200, 200],
    );

    const file = join(temporaryFolder(t), "records.ndjson");
    const lone = gp("lone", { name: "Lone Star Partners", hq_state: "TX" });
    writeFileSync(file, [...cast, lone].map((record) => JSON.stringify(record)).join("\n"));
    const { json } = allCommands(one.dataDir, { DATABASE_URL: databaseUrl });
    assert.equal((await json("import ndjson --source own", file)).outcome, "published");
    const showPublication = async () => {
      // A feed can be read once a minute.
      clock.advance(61);
      for (const feed of await feeds())
        assert.match(await feed.text(), /<title>Lone Star Partners added<\/title>/);
    };
    await eventually(showPublication, 60_000, 500);

    const { status } = await ada.submit("/account/feeds", "/account/feeds/unfollow");
    assert.equal(status, 303);
    clock.advance(61);
    assert.deepEqual(
      (await feeds()).map(({ status }) => status),
      [404, 404],
    );
  },
);

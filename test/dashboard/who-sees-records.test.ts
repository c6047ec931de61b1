import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigFault } from "#config.ts";
import { routes } from "#dashboard/screens/index.ts";
import { demoSource } from "#records/common.ts";
import { publish } from "../clients/publish.ts";
import { principal } from "../datasets/published.ts";
import { listed } from "../support/awkward/words.ts";
import { cast } from "../support/cast.ts";
import { openInsideWorker } from "../support/inside-worker.ts";
import { headingOf, openPages, pathOf, textOf } from "../support/record-pages.ts";
import { startService } from "../support/service.ts";
import { openUser, type Page, signedIn, type TestUser } from "../support/user.ts";

/** The paths of routes that somebody gets without signing in, by who does; no other is for strangers. */
const paths = {
  whoMayBrowse: listed(`
    /browse/changes /browse/gps /browse/gps/download /browse/gps/{id}
    /browse/people /browse/people/download /browse/people/{id}
    /browse/projects /browse/projects/download /browse/projects/{id}
    /browse/signals /browse/signals/download /search /search/suggest
  `),
  everyone: listed(`
    /account /account/forgot /account/link /account/sign-in /account/sign-out /account/sign-up
    /browse /feeds/{secret}
  `),
};

const contact = "records@example.org";

/** Real paths in place of those with a `{name}`. */
const places: Readonly<Record<string, string>> = {
  "/browse/gps/{id}": pathOf("gp", "northwind"),
  "/browse/people/{id}": pathOf("principal", "ana"),
  "/browse/projects/{id}": pathOf("project", "alder"),
};

const asksToSignIn = (page: Page) => page.status === 401 && headingOf(page) === "Sign in";

test("signed out, each route of both values of BROWSE gives what it should", async (t) => {
  const known = new Set<string>(routes.map(({ path }) => path));
  for (const path of Object.values(paths).flat()) assert.ok(known.has(path), path);
  for (const BROWSE of ["members", "everyone"]) {
    const settings = { BROWSE, CONTACT: contact, SIGN_UP: "open" };
    const stranger = openUser(await startService(t, { settings }));
    for (const { path, GET, POST } of routes) {
      const place = places[path] ?? path;
      const isOfRecords = paths.whoMayBrowse.includes(path);
      const isOpen = paths.everyone.includes(path) || (isOfRecords && BROWSE === "everyone");
      const pages: Page[] = [];
      if (GET !== undefined) pages.push(await stranger.get(place));
      // Signing in without a password is refused with the same form.
      if (POST !== undefined && path !== "/account/sign-in")
        pages.push(await stranger.post(place, {}));
      for (const page of pages) {
        assert.equal(asksToSignIn(page), !isOpen, `${BROWSE} ${path}`);
        if (isOfRecords && isOpen) assert.equal(page.status, 200, path);
        if (!isOpen) assert.doesNotMatch(page.text, /Northwind/, path);
        const isUnlisted = /^\/(?:search|browse\/people)\b/.test(path);
        assert.equal(page.headers.get("x-robots-tag"), isUnlisted ? "noindex" : null, path);
        assert.equal(page.headers.get("cache-control"), "no-store", path);
        assert.equal(
          page.headers.getSetCookie().length,
          path === "/account/sign-out" ? 1 : 0,
          path,
        );
      }
    }
  }
});

test("e-mail addresses and LinkedIn pages of people are for those who are signed in", async (t) => {
  const email = "grace@northwind.example";
  const linkedin_url = "https://www.linkedin.com/in/grace";
  const provenance = { basis: "stated", confidence: 1, url: `${linkedin_url}/about` };
  const grace = principal("grace", ["northwind"], {
    name: "Grace",
    email,
    linkedin_url,
    provenance,
  });
  const service = await startService(t, {
    records: [...cast, grace],
    settings: { BROWSE: "everyone", CONTACT: contact },
  });
  const member = await signedIn(service);
  const own = pathOf("principal", "grace");
  const ofGp = pathOf("gp", "northwind");
  const seen = (await member.get(own)).text;
  for (const secret of [email, "linkedin.com"]) assert.ok(seen.includes(secret), secret);
  const stranger = openUser(service);
  for (const path of [own, ofGp, `${ofGp}?tab=people`]) {
    const { text } = await stranger.get(path);
    assert.match(text, /Grace/, path);
    assert.doesNotMatch(text, /grace@|linkedin\.com/, path);
  }
});

test("signing in from a page of records leads back to that page", async (t) => {
  const settings = { BROWSE: "everyone", CONTACT: contact };
  const stranger = openUser(await startService(t, { settings }));
  const nextAfter = async (page: Page) => {
    const [, link] = /<a class="button quiet" href="(\/account\/sign-in[^"]*)"/.exec(page.text)!;
    const { text } = await stranger.get(textOf(link!));
    return textOf(/name="next" value="([^"]*)"/.exec(text)![1]!);
  };
  for (const path of ["/browse/gps?market=Dallas%2C+TX&limit=50", "/search?q=o%27neil"])
    assert.equal(await nextAfter(await stranger.get(path)), path);
  const refused = await stranger.post("/browse/people/download", { format: "pdf" });
  assert.equal(await nextAfter(refused), "/browse/people");
  assert.equal(await nextAfter(await stranger.get("/account/sign-up")), "/browse/gps");
});

test("records are shown to everyone at the service's own address alone", async (t) => {
  const host = "records.example";
  for (const [publicUrl, status] of [
    [null, 403],
    [`http://${host}`, 403],
    [`https://${host}`, 503],
  ] as const) {
    const { get } = await openInsideWorker(t, { browse: "everyone", publicUrl });
    const answer = await get("/browse/gps", { headers: { host } });
    assert.equal(answer.status, status, String(publicUrl));
  }
});

test("records of real people are not shown to everyone without a contact: the start is refused", async (t) => {
  const settings = { BROWSE: "everyone" };
  await assert.rejects(startService(t, { settings }), (error) => {
    assert.ok(error instanceof ConfigFault);
    for (const name of ["BROWSE", "CONTACT"]) assert.ok(error.message.includes(name));
    return true;
  });
});

// How the datasets of a database are taken over is told in test/datasets/shared-service.system.long.ts.
test("without records the pages say so; a running server shows invented records to everyone, and those that replace them to members", async (t) => {
  const settings = { BROWSE: "everyone" };
  const { service, user: member } = await openPages(t, { records: null, settings });
  const stranger = openUser(service);
  for (const user of [member, stranger]) {
    const empty = await user.get("/browse/gps");
    assert.equal(empty.status, 503);
    assert.equal(empty.headers.get("retry-after"), "5");
    assert.equal(headingOf(empty), "No records to show");
  }
  assert.equal((await member.get("/search/suggest?q=kkr")).text, "");
  const shows = async (user: TestUser, heading: RegExp) =>
    assert.match(headingOf(await user.get("/browse/gps")), heading);
  await publish(service, cast.slice(0, 1), demoSource);
  service.clock.advance(61);
  await shows(stranger, /^1 GP/);
  assert.doesNotMatch(service.log.join(), /CONTACT/);
  await publish(service, cast);
  service.clock.advance(61);
  await shows(member, /^10 GPs/);
  assert.ok(asksToSignIn(await stranger.get("/browse/gps")));
  const said = service.log.filter((line) => line.includes("CONTACT"));
  assert.equal(said.length, 1);
  assert.match(said[0]!, /"level":40.*BROWSE.*members only/);
});

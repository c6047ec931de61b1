import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { test } from "node:test";
import { ConfigFault } from "#config.ts";
import { routes } from "#dashboard/screens/index.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import { demoSource } from "#records/common.ts";
import { principal } from "../datasets/published.ts";
import { cast } from "../support/cast.ts";
import { importRecords } from "../support/dataset.ts";
import { openInsideWorker } from "../support/inside-worker.ts";
import { headingOf, textOf } from "../support/record-pages.ts";
import { startService, type TestService } from "../support/service.ts";
import { openUser, type Page, signedIn } from "../support/user.ts";

/** The paths of all routes, by who gets them without signing in. */
const paths = {
  nobody: [
    "/account/feeds",
    "/account/feeds/follow",
    "/account/feeds/unfollow",
    "/account/keys",
    "/account/keys/{id}",
    "/account/keys/{id}/rename",
    "/account/keys/{id}/revoke",
    "/account/keys/{id}/rotate",
    "/account/members",
    "/account/members/invite",
    "/account/members/remove",
    "/account/members/role",
    "/account/members/withdraw",
    "/account/notices",
    "/account/requests",
    "/account/requests.csv",
    "/account/sessions",
    "/account/settings",
    "/account/settings/address",
    "/account/settings/close",
    "/account/settings/delete",
    "/account/settings/export",
    "/account/settings/leave",
    "/account/settings/name",
    "/account/settings/password",
    "/account/sign-out-everywhere",
    "/account/switch",
    "/account/usage",
    "/browse/match",
  ],
  whoMayBrowse: [
    "/browse/changes",
    "/browse/gps",
    "/browse/gps/download",
    "/browse/gps/{id}",
    "/browse/people",
    "/browse/people/download",
    "/browse/people/{id}",
    "/browse/projects",
    "/browse/projects/download",
    "/browse/projects/{id}",
    "/browse/signals",
    "/browse/signals/download",
    "/search",
    "/search/suggest",
  ],
  everyone: [
    "/account",
    "/account/forgot",
    "/account/link",
    "/account/sign-in",
    "/account/sign-out",
    "/account/sign-up",
    "/browse",
    "/feeds/{secret}",
  ],
} as const;

const northwind = mintId("gp", "own", "northwind");
const contact = "records@example.org";

/** Real paths in place of those with a `{name}`. */
const places: Readonly<Record<string, string>> = {
  "/browse/gps/{id}": `/browse/gps/${northwind}`,
  "/browse/people/{id}": `/browse/people/${mintId("principal", "own", "ana")}`,
  "/browse/projects/{id}": `/browse/projects/${mintId("project", "own", "alder")}`,
};

const asksToSignIn = (page: Page) => page.status === 401 && headingOf(page) === "Sign in";

test("signed out, each route of both values of BROWSE gives what it should", async (t) => {
  const known = Object.values(paths).flat();
  assert.deepEqual(routes.map(({ path }) => path).toSorted(), known.toSorted());
  for (const BROWSE of ["members", "everyone"]) {
    const settings = { BROWSE, CONTACT: contact, SIGN_UP: "open" };
    const stranger = openUser(await startService(t, { settings }));
    for (const { path, GET, POST } of routes) {
      const place = places[path] ?? path;
      const isPrivate = (paths.nobody as readonly string[]).includes(path);
      const isOfRecords = (paths.whoMayBrowse as readonly string[]).includes(path);
      const asks = isPrivate || (isOfRecords && BROWSE === "members");
      const pages: Page[] = [];
      if (GET !== undefined) pages.push(await stranger.get(place));
      // Signing in without a password is refused with the same form.
      if (POST !== undefined && path !== "/account/sign-in")
        pages.push(await stranger.post(place, {}));
      for (const page of pages) {
        assert.equal(asksToSignIn(page), asks, `${BROWSE} ${path}`);
        if (isOfRecords && !asks) assert.equal(page.status, 200, path);
        if (asks) assert.doesNotMatch(page.text, /Northwind/, path);
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
  const own = `/browse/people/${mintId("principal", "own", "grace")}`;
  const ofGp = `/browse/gps/${northwind}`;
  const seen = (await member.get(own)).text;
  for (const secret of [email, "linkedin.com"]) assert.ok(seen.includes(secret), secret);
  const stranger = openUser(service);
  for (const path of [own, ofGp, `${ofGp}?tab=people`]) {
    const { text } = await stranger.get(path);
    assert.match(text, /Grace/, path);
    assert.doesNotMatch(text, /grace@|linkedin\.com/, path);
  }
});

test("a network that looks at too many pages without signing in is told when to come back", async (t) => {
  const service = await startService(t, {
    settings: { BROWSE: "everyone", CONTACT: contact, TRUSTED_PROXIES: "127.0.0.1,::1" },
  });
  const stranger = openUser(service);
  const from = (address: string) => ({ "x-forwarded-for": address });
  for (let i = 0; i < 60; i++)
    assert.equal((await stranger.get("/browse/signals", from("192.0.2.1"))).status, 200);
  service.clock.advance(20);
  const refused = await stranger.get("/browse/gps?market=Dallas", from("192.0.2.1"));
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "40");
  assert.equal(headingOf(refused), "Too many pages");
  const words = textOf(refused.text).replaceAll(/\s+/g, " ");
  assert.match(words, /who are not signed in get 60 pages a minute, and all of these are used up/);
  assert.match(words, /try again at 2026-11-21 09:01:00 UTC/);
  assert.match(refused.text, /href="\/browse\/gps\?market=Dallas"/);
  // Others see no difference, nor does a member in the same network.
  assert.equal((await stranger.get("/browse/gps", from("192.0.2.2"))).status, 200);
  assert.equal((await stranger.get("/account/sign-in", from("192.0.2.1"))).status, 200);
  const member = await signedIn(service);
  assert.equal((await member.get("/browse/gps", from("192.0.2.1"))).status, 200);
  service.clock.advance(40);
  assert.equal((await stranger.get("/browse/gps", from("192.0.2.1"))).status, 200);
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

const publish = async (service: TestService, source: string) => {
  const catalogue = openCatalogue(join(service.dataDir, "datasets"));
  await importRecords(catalogue, cast, { source, nowMilliseconds: service.clock.now() });
  const version = catalogue.currentVersion();
  while ((await service.get("/fetch-signals")).headers.get("dataset-version") !== version)
    await setTimeout(50);
  service.clock.advance(61);
};

test("a running server shows invented records to everyone, and those that replace them to members", async (t) => {
  const service = await startService(t, { records: null, settings: { BROWSE: "everyone" } });
  const stranger = openUser(service);
  assert.equal((await stranger.get("/browse/gps")).status, 503);
  await publish(service, demoSource);
  assert.equal((await stranger.get("/browse/gps")).status, 200);
  assert.doesNotMatch(service.log.join(), /CONTACT/);
  await publish(service, "own");
  assert.ok(asksToSignIn(await stranger.get("/browse/gps")));
  const said = service.log.filter((line) => line.includes("CONTACT"));
  assert.equal(said.length, 1);
  assert.match(said[0]!, /"level":40.*BROWSE.*members only/);
});

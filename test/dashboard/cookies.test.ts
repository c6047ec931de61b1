import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameOrigin } from "#dashboard/answer-request.ts";
import { readCookie, setCookie } from "#dashboard/cookies.ts";
import { page, findRoute, route } from "#dashboard/screen.ts";
import { routes } from "#dashboard/screens/index.ts";
import { ownPath } from "#dashboard/screens/sign-in.ts";
import { cookiesOf, openInsideWorker } from "../support/inside-worker.ts";

test("over https a cookie ends under the name and on the terms it was set with", () => {
  assert.match(setCookie("session", "", true, 0), /^__Host-gp_session=; .*Secure; Max-Age=0$/);
});

test("over plain http a cookie has another name, so that the two cannot be confused", () => {
  assert.equal(
    setCookie("session", "abc", false),
    "gp_session=abc; Path=/; HttpOnly; SameSite=Lax",
  );
  assert.equal(readCookie("gp_session=abc", "session", true), null);
  assert.equal(readCookie("__Host-gp_session=abc", "session", false), null);
});

test("two tabs may sign out of a session at once", async (t) => {
  const { signUp, post } = await openInsideWorker(t);
  const cookie = cookiesOf(await signUp("ada@example.com"));
  const signOut = () => post("/account/sign-out", {}, { headers: { cookie } });
  const answers = await Promise.all([signOut(), signOut()]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [303, 303],
  );
});

test("a cookie is found among others, and ignored if it is sent twice", () => {
  assert.equal(readCookie("a=1; __Host-gp_session=abc;b=2", "session", true), "abc");
  assert.equal(readCookie("__Host-gp_session=a=b", "session", true), "a=b");
  assert.equal(readCookie("__Host-gp_session=abc; __Host-gp_session=def", "session", true), null);
  assert.equal(readCookie("x__Host-gp_session=abc", "session", true), null);
  assert.equal(readCookie("", "session", true), null);
  assert.equal(readCookie(undefined, "session", true), null);
});

test("signing in leads to a path of the account pages, with its query, and by all else to Browse", () => {
  for (const path of [
    "/account",
    "/account/keys",
    "/account/keys/key_0a1b2c3d",
    "/browse/gps?gp_name=a%20b&tag=x+y",
    "/browse/people/pr_0a1b2c3d?tab=signals",
    "/search?q=stone*",
  ])
    assert.equal(ownPath(path), path);
  // Addresses of other hosts are in C94.
  for (const text of [
    null,
    "/",
    "/docs",
    "account",
    "/browsers",
    "/feeds/secret",
    "/account/",
    "/account/%2e%2e",
    "/account/keys#x",
  ])
    assert.equal(ownPath(text), "/browse/gps", String(text));
});

test("Sec-Fetch-Site decides where a form comes from, with an Origin that is our own or none; without it that Origin is ours exactly", () => {
  const own = "https://records.example";
  const others = ["https://evil.example", "http://records.example", `${own}:444`];
  const site = { "sec-fetch-site": "same-origin" };
  // Browsers send `null` for a form of a page without a referrer.
  for (const headers of [
    site,
    { ...site, origin: own },
    { ...site, origin: "null" },
    { origin: own },
  ])
    assert.ok(isSameOrigin({ headers }, own), JSON.stringify(headers));
  for (const headers of [
    {},
    ...["cross-site", "same-site", "none", ""].map((one) => ({
      "sec-fetch-site": one,
      origin: own,
    })),
    ...[...others, ""].map((origin) => ({ ...site, origin })),
    ...[...others, "null"].map((origin) => ({ origin })),
  ])
    assert.ok(!isSameOrigin({ headers }, own), JSON.stringify(headers));
});

const serve = () => page("");
const some = [
  route("/account/keys", "member", { GET: serve }),
  route("/account/keys/{id}", "member", { GET: serve }),
  route("/account/keys/{id}/revoke", "member", { POST: serve }),
];

test("a route matches a whole path and gives the text of its named segments", () => {
  assert.equal(findRoute(some, "/account/keys")!.found, some[0]);
  assert.deepEqual(findRoute(some, "/account/keys/key_1"), {
    found: some[1],
    names: { id: "key_1" },
  });
  assert.deepEqual(findRoute(some, "/account/keys/key_1/revoke")!.names, { id: "key_1" });
  for (const path of ["/account", "/account/keys/", "/account/keys//revoke", "/account/keys/a/b"])
    assert.equal(findRoute(some, path), undefined, path);
});

test("no two routes of the account pages have the same path, and each serves GET or POST", () => {
  const paths = routes.map(({ path }) => path.replaceAll(/\{\w+\}/g, "{}"));
  assert.deepEqual(paths, [...new Set(paths)]);
  for (const { path, GET, POST } of routes)
    assert.ok(GET !== undefined || POST !== undefined, path);
});

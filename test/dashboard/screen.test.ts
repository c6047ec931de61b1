import assert from "node:assert/strict";
import { test } from "node:test";
import { findRoute, page, route } from "#dashboard/screen.ts";
import { routes } from "#dashboard/screens/index.ts";

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

test("no two routes of the account pages have the same path", () => {
  const paths = routes.map(({ path }) => path.replaceAll(/\{\w+\}/g, "{}"));
  assert.deepEqual(paths, [...new Set(paths)]);
});

test("every route serves GET or POST", () => {
  for (const { path, GET, POST } of routes)
    assert.ok(GET !== undefined || POST !== undefined, path);
});

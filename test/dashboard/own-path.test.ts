import assert from "node:assert/strict";
import { test } from "node:test";
import { ownPath } from "#dashboard/screens/sign-in.ts";

test("signing in leads to a path of the account pages, with its query", () => {
  for (const path of [
    "/account",
    "/account/keys",
    "/account/keys/key_0a1b2c3d",
    "/account/browse?gp_name=a%20b&tag=x+y",
  ])
    assert.equal(ownPath(path), path);
});

test("everything else leads to the account's first page", () => {
  for (const text of [
    null,
    "",
    "/",
    "/docs",
    "account",
    "/accounts",
    "/account/",
    "/account//evil.example",
    "/account/../docs",
    "/account/%2e%2e",
    "/account\\evil",
    "/account/keys#x",
    "/account\n",
    "//evil.example/account",
    "https://evil.example/account",
  ])
    assert.equal(ownPath(text), "/account", String(text));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { endCookie, readCookie, setCookie } from "#dashboard/cookies.ts";

test("over https a cookie ends under the name and on the terms it was set with", () => {
  assert.match(endCookie("session", true), /^__Host-gp_session=; .*Secure; Max-Age=0$/);
});

test("over plain http a cookie has another name, so that the two cannot be confused", () => {
  assert.equal(
    setCookie("session", "abc", false),
    "gp_session=abc; Path=/; HttpOnly; SameSite=Lax",
  );
  assert.equal(readCookie("gp_session=abc", "session", true), null);
  assert.equal(readCookie("__Host-gp_session=abc", "session", false), null);
});

test("a cookie is found among others, and ignored if it is sent twice", () => {
  assert.equal(readCookie("a=1; __Host-gp_session=abc;b=2", "session", true), "abc");
  assert.equal(readCookie("__Host-gp_session=a=b", "session", true), "a=b");
  assert.equal(readCookie("__Host-gp_session=abc; __Host-gp_session=def", "session", true), null);
  assert.equal(readCookie("x__Host-gp_session=abc", "session", true), null);
  assert.equal(readCookie("", "session", true), null);
  assert.equal(readCookie(undefined, "session", true), null);
});

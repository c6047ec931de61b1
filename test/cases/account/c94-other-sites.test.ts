import assert from "node:assert/strict";
import { test } from "node:test";
import { routes } from "#dashboard/screens/index.ts";
import { startService } from "../../support/service.ts";
import { hiddenFields, openUser, signedIn, testPassword } from "../../support/user.ts";

const evil = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };

test("C94 · no other site reads the account pages or frames them, and signing in leads to our own pages alone", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service);
  const paths = routes.map(({ path }) => path.replaceAll(/\{\w+\}/g, "x1"));
  for (const path of new Set([...paths, "/account/nowhere"])) {
    const page = await ada.get(path, evil);
    const names = [...page.headers.keys()];
    assert.deepEqual(
      names.filter((name) => name.startsWith("access-control-")),
      [],
      path,
    );
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.match(policy, /frame-ancestors 'none'/, path);
    assert.match(policy, /default-src 'none'/, path);
    assert.equal(page.headers.get("cache-control"), "no-store", path);
    assert.equal(page.headers.get("referrer-policy"), "no-referrer", path);
  }
  const preflight = await fetch(`${service.url}/account/keys`, {
    method: "OPTIONS",
    headers: { ...evil, "access-control-request-method": "POST" },
  });
  assert.equal(preflight.headers.get("access-control-allow-origin"), null);

  const user = openUser(service);
  for (const next of [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "/account//evil.example",
    "/account/../../evil",
    "/accountant",
    "/account\r\nSet-Cookie: x=1",
    "javascript:alert(1)",
    "",
  ]) {
    const { text } = await user.get(`/account/sign-in?next=${encodeURIComponent(next)}`);
    assert.equal(hiddenFields(text, "/account/sign-in")["next"], "/account", next);
    const fields = { email: "ada@example.org", password: testPassword, next };
    const { status, location } = await user.post("/account/sign-in", fields);
    assert.deepEqual([status, location], [303, "/account"], next);
  }
  const fields = { email: "ada@example.org", password: testPassword, next: "/account/usage" };
  assert.equal((await user.post("/account/sign-in", fields)).location, "/account/usage");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownOrigin } from "#dashboard/messages.ts";

const originOf = (publicUrl: string | null, host?: string) =>
  ownOrigin({ publicUrl }, { headers: host === undefined ? {} : { host } });

test("with PUBLIC_URL the Host header is ignored", () => {
  const own = originOf("https://records.example/gp", "evil.example");
  assert.deepEqual(own, {
    origin: "https://records.example",
    base: "https://records.example/gp",
    isSecure: true,
  });
});

test("without PUBLIC_URL pages are served to this machine only", () => {
  for (const host of ["localhost", "localhost:8080", "127.0.0.1:8080", "127.3.2.1", "[::1]:80"])
    assert.deepEqual(originOf(null, host), {
      origin: `http://${host}`,
      base: `http://${host}`,
      isSecure: false,
    });
  for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "10.0.0.1", ""])
    assert.equal(originOf(null, host), null, host);
  assert.equal(originOf(null), null);
});

test("a password never travels over plain http to another machine", () => {
  assert.equal(originOf("http://records.example"), null);
  assert.equal(originOf("http://127.0.0.1:8080")!.isSecure, false);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserOf, networkOf } from "#accounts/client.ts";

const client = (userAgent: string, address = "10.0.0.1") => ({
  address,
  userAgent,
  browserToken: null,
});

test("people are told their browsers by name and system, and no more of the header is kept", () => {
  for (const [userAgent, name] of [
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0",
      "Edge on Windows",
    ],
    [
      "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36",
      "Chrome on Android",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1",
      "Safari on iPhone",
    ],
    ["curl/8.5.0", "curl"],
    ["", "another browser"],
    ["<img src=x onerror=alert(1)>", "another browser"],
  ] as const)
    assert.equal(browserOf(client(userAgent)), name);
});

test("of an IPv6 address only the first 64 bits are kept", () => {
  assert.equal(networkOf(client("", "2001:db8:1:2:3:4:5:6")), "2001:db8:1:2::/64");
  assert.equal(networkOf(client("", "203.0.113.7")), "203.0.113.7");
});

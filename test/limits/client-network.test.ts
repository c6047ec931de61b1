import assert from "node:assert/strict";
import { test } from "node:test";
import { clientNetwork, coarseNetwork, openNetworkShares } from "#limits/client-network.ts";

const networks = {
  "192.0.2.7": "192.0.2.7",
  "::ffff:192.0.2.7": "192.0.2.7",
  "::FFFF:c000:207": "192.0.2.7",
  "0:0:0:0:0:ffff:192.0.2.7": "192.0.2.7",
  "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
  "2001:0DB8:0001:0002::": "2001:db8:1:2::/64",
  "2001:db8::1": "2001:db8:0:0::/64",
  "::1": "0:0:0:0::/64",
  "::": "0:0:0:0::/64",
  "fe80::1%eth0": "fe80:0:0:0::/64",
  "64:ff9b::192.0.2.7": "64:ff9b:0:0::/64",
  "2001:db8:1:2:3:4:192.0.2.7": "2001:db8:1:2::/64",
};

for (const [address, network] of Object.entries(networks))
  test(`wrong keys from ${address} count for ${network}`, () => {
    assert.equal(clientNetwork(address), network);
  });

test("all that is no address counts as one client", () => {
  const nonsense = [
    "",
    "unknown",
    "192.0.2.7:4711",
    "300.1.1.1",
    "2001:db8::1::2",
    "x".repeat(10_000),
  ];
  assert.deepEqual(new Set(nonsense.map(clientNetwork)), new Set(["unknown"]));
});

test("a neighbourhood is the /24 of IPv4 and the /48 of IPv6, so that it names no one", () => {
  const neighbourhoods = {
    "192.0.2.77": "192.0.2.0/24",
    "::ffff:192.0.2.77": "192.0.2.0/24",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1::/48",
    "::1": "0:0:0::/48",
    "192.0.2.7:4711": "unknown",
    "": "unknown",
  };
  for (const [address, neighbourhood] of Object.entries(neighbourhoods))
    assert.equal(coarseNetwork(address), neighbourhood, address);
});

test("a network has its share, an IPv6 site those of four networks, and what is given back is free again", () => {
  const shares = openNetworkShares(2);
  const takes = (address: string, amount = 1) => shares.take(address, amount) !== null;
  assert.ok(takes("192.0.2.1", 2));
  assert.ok(!takes("::ffff:192.0.2.1"));
  assert.ok(takes("192.0.2.2"));
  const giveBack = shares.take("2001:db8:7:1::1", 2)!;
  assert.ok(!takes("2001:db8:7:1::2"));
  for (const network of ["2", "3", "4"]) assert.ok(takes(`2001:db8:7:${network}::1`, 2));
  assert.ok(!takes("2001:db8:7:5::1"));
  assert.ok(takes("2001:db8:8:5::1"));
  giveBack();
  assert.ok(!takes("2001:db8:7:5::1", 3));
  assert.ok(takes("2001:db8:7:5::1", 2));
  assert.ok(!takes("2001:db8:7:6::1"));
});

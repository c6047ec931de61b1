import assert from "node:assert/strict";
import { test } from "node:test";
import { clientNetwork, coarseNetwork } from "#limits/client-network.ts";
import { failedKeys, openKeyedLimit } from "#limits/keyed-limit.ts";
import { heapBytes } from "../support/heap-bytes.ts";
import { clockOf, openWorld } from "../support/limits-world.ts";

function begin(addressesMax?: number) {
  const world = openWorld();
  const clock = clockOf(world);
  const limit = openKeyedLimit<string>([failedKeys], clock, addressesMax);
  const failMany = (count: number, address: string) => {
    let admitted = 0;
    for (let i = 0; i < count; i++) if (limit.take(clientNetwork(address)).admitted) admitted++;
    return admitted;
  };
  return { world, limit, failMany };
}

test("the table is bounded: the address that failed longest ago makes room", () => {
  const { limit, failMany } = begin(3);
  failMany(30, "192.0.2.1");
  failMany(30, "192.0.2.2");
  failMany(30, "192.0.2.3");
  assert.equal(failMany(1, "192.0.2.1"), 0);
  failMany(1, "192.0.2.4");
  assert.equal(limit.nameCount(), 3);
  assert.equal(failMany(1, "192.0.2.1"), 0);
  assert.equal(failMany(1, "192.0.2.2"), 1);
});

test("100,000 addresses leave 10,000 in memory", () => {
  const { limit } = begin();
  for (let address = 0; address < 100_000; address++)
    limit.take(`10.${address >> 16}.${(address >> 8) & 255}.${address & 255}`);
  assert.equal(limit.nameCount(), 10_000);
});

test("a million wrong keys from one address take no more memory than the first hundred", () => {
  const { failMany } = begin();
  const heapAfter = (count: number) => {
    failMany(count, "192.0.2.7");
    return heapBytes();
  };
  const before = heapAfter(100);
  const grownMebibytes = (heapAfter(1_000_000) - before) / 2 ** 20;
  assert.ok(grownMebibytes < 2, `${grownMebibytes} MiB`);
});

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
  const nonsense = ["", "unknown", "192.0.2.7:4711", "300.1.1.1", "2001:db8::1::2"];
  assert.deepEqual(
    new Set([...nonsense, "x".repeat(10_000)].map(clientNetwork)),
    new Set(["unknown"]),
  );
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

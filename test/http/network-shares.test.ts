import assert from "node:assert/strict";
import { test } from "node:test";
import { openNetworkShares } from "#http/network-shares.ts";

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

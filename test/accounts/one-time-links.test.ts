import assert from "node:assert/strict";
import {
  LinkFault,
  type LinkFaultReason,
  linkLifetimeMilliseconds,
  linkUrl,
  lookAtLink,
  makeLink,
  useLink,
} from "#accounts/one-time-links.ts";
import type { LinkKind } from "#store/control-tables.ts";
import { noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { openPeople } from "../support/people.ts";

const address = { email: "ada@example.com", folded: "ada@example.com" };

async function openLinks(t: Parameters<typeof openPeople>[0]) {
  const { control } = await openPeople(t);
  const make = (kind: LinkKind = "reset") =>
    control.write((transaction) => makeLink(transaction, { kind, address, now: noon }));
  const follow = (token: string, now = noon, kind: LinkKind = "reset") =>
    control.write((transaction) => useLink(transaction, { token, kind, now }));
  return { control, make, follow };
}

const reasonOf = (reason: LinkFaultReason) => (error: unknown) =>
  error instanceof LinkFault && error.reason === reason;

test("a link is used once, and looking at it uses nothing up", async (t) => {
  const { control, make, follow } = await openLinks(t);
  const { token } = await make();
  for (let i = 0; i < 3; i++)
    assert.equal((await lookAtLink(control, token, noon)).email, address.email);
  assert.equal((await follow(token)).kind, "reset");
  await assert.rejects(follow(token), reasonOf("used"));
  await assert.rejects(lookAtLink(control, token, noon), reasonOf("used"));
});

test("of those who follow a link at the same moment one gets through", async (t) => {
  const { make, follow } = await openLinks(t);
  const { token } = await make();
  const outcomes = await Promise.allSettled([follow(token), follow(token), follow(token)]);
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
});

test("a link whose work fails still works", async (t) => {
  const { control, make, follow } = await openLinks(t);
  const { token } = await make();
  const failing = control.write(async (transaction) => {
    await useLink(transaction, { token, kind: "reset", now: noon });
    throw new Error("changed my mind");
  });
  await assert.rejects(failing, /changed my mind/);
  await follow(token);
});

test("each kind of link lasts as long as it is said to", async (t) => {
  const { control, make, follow } = await openLinks(t);
  for (const [kind, hours] of [
    ["sign-up", 24],
    ["invite", 7 * 24],
    ["reset", 1],
    ["email", 24],
  ] as const) {
    assert.equal(linkLifetimeMilliseconds[kind], hours * 3_600_000);
    const end = noon + hours * 3_600_000;
    const { token, expiresAt } = await make(kind);
    assert.equal(expiresAt, new Date(end).toISOString());
    await lookAtLink(control, token, end - 1);
    await assert.rejects(follow(token, end, kind), reasonOf("expired"));
  }
});

test("the person reads the same sentence whatever is wrong with a link; the log can tell", async (t) => {
  const { make, follow } = await openLinks(t);
  const used = await make();
  await follow(used.token);
  const expired = await make();
  const faults = await Promise.all([
    follow(used.token).catch((error) => error),
    follow(expired.token, noon + 3_600_000).catch((error) => error),
    follow("x".repeat(43)).catch((error) => error),
    follow((await make("sign-up")).token).catch((error) => error),
  ]);
  assert.deepEqual(
    faults.map(({ reason }) => reason),
    ["used", "expired", "unknown", "unknown"],
  );
  assert.equal(new Set(faults.map(({ message }) => message)).size, 1);
});

test("the store holds no link, only its digest", async (t) => {
  const { control, make } = await openLinks(t);
  const { token } = await make();
  const rows = await control.database.selectFrom("link").selectAll().execute();
  assert.ok(!JSON.stringify(rows).includes(token));
  assert.equal(rows[0]?.digest.length, 32);
});

test("every kind of link leads to the same place", () => {
  assert.equal(
    linkUrl("https://records.example", "abc"),
    "https://records.example/account/link?token=abc",
  );
});

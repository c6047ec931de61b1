/** What makes the demo like the real thing: shared words, few large and many small, gaps and several GPs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { metros } from "#demo/places.ts";
import { fold } from "#records/fold.ts";
import type { CanonicalGp } from "#records/canonical.ts";
import { gps, principals, projects, signals } from "./invented.ts";
import { assertBetween, share, tally } from "./measures.ts";

const namesOf = ({ name, legal_name, aliases }: CanonicalGp): string[] =>
  [name, legal_name ?? "", ...(aliases ?? [])].map(fold);

test("about a tenth of the GPs answer to `capital`", () => {
  assertBetween(
    share(gps, (gp) => namesOf(gp).some((name) => name.includes("capital"))),
    0.08,
    0.12,
  );
});

test("the example of the documentation finds a GP: northwind, multifamily", () => {
  const found = gps.filter(
    (gp) => fold(gp.name).startsWith("northwind") && gp.property_types?.includes("multifamily"),
  );
  assert.ok(found.length > 0);
});

test("a few pairs of GPs share a name, no more", () => {
  const shared = [...tally(gps.map(({ name }) => name)).values()].filter((count) => count > 1);
  assertBetween(shared.length, 1, 30);
  assert.ok(shared.every((count) => count === 2));
});

test("names carry accents, other scripts, apostrophes, ampersands and numbers", () => {
  for (const pattern of [/[äöüé]/i, /å/i, /ã/, /ł/i, /\p{Script=Han}/u, /\p{Script=Katakana}/u])
    assert.ok(
      gps.some(({ name }) => pattern.test(name)),
      String(pattern),
    );
  for (const pattern of [/'s /, /O'/, / & /, /\d/, /^[A-Z]\.[A-Z]\. /])
    assertBetween(
      share(gps, ({ name }) => pattern.test(name)),
      0.003,
      0.2,
    );
});

test("a GP of another script has an alias and a legal name in Latin letters", () => {
  const others = gps.filter(({ name }) => /\p{Script=Han}/u.test(name));
  for (const { aliases, legal_name } of others) {
    assert.match(aliases?.[0] ?? "", /^[A-Z][a-z]+ [A-Z]/);
    assert.match(legal_name ?? "A b, LLC", /^[A-Z][A-Za-z .,]+$/);
  }
});

test("New York is the first market, and every one has its GPs", () => {
  const counts = [...tally(gps.flatMap(({ markets }) => markets ?? []))].toSorted(
    (a, b) => b[1] - a[1],
  );
  assert.equal(counts[0]?.[0], "New York-Newark-Jersey City, NY-NJ-PA");
  assert.ok((counts[0]?.[1] ?? 0) > 10 * (counts[30]?.[1] ?? 0));
  assert.equal(counts.length, metros.length);
});

test("three GPs of five tell their assets, from millions to tens of billions", () => {
  const told = gps.flatMap(({ aum_usd }) => aum_usd ?? []).toSorted((a, b) => a - b);
  assertBetween(told.length / gps.length, 0.55, 0.65);
  const at = (part: number) => told[Math.floor(part * told.length)] ?? 0;
  assertBetween(at(0.5), 100e6, 400e6);
  assert.ok(at(0.05) < at(0.5) / 5 && at(0.95) > at(0.5) * 5);
});

test("assets come with their date, and only then", () => {
  for (const { aum_usd, aum_as_of } of gps) assert.equal(aum_usd === null, aum_as_of === null);
});

test("about one principal in six works for two or three GPs, a few for none", () => {
  assertBetween(
    share(principals, (one) => (one.gps?.length ?? 0) > 1),
    0.12,
    0.18,
  );
  assertBetween(
    share(principals, (one) => one.gps?.length === 0),
    0.005,
    0.03,
  );
  assert.ok(principals.some((one) => one.gps?.length === 3));
});

test("one principal in five has an address for mail, none that could arrive", () => {
  assertBetween(
    share(principals, ({ email }) => email !== null),
    0.15,
    0.25,
  );
  for (const { email } of principals) assert.match(email ?? "@.example", /@[a-z0-9-]*\.example$/);
});

test("starts are known to the year, the month and the day", () => {
  const lengths = tally(principals.flatMap(({ start_date }) => start_date?.length ?? []));
  for (const length of [4, 7, 10]) assert.ok((lengths.get(length) ?? 0) > 2000);
});

test("a few GPs have more than a hundred signals, a third of them none", () => {
  const counts = tally(signals.flatMap((signal) => signal.gps ?? []));
  const busy = [...counts.values()].filter((count) => count > 100);
  assertBetween(busy.length, 3, 30);
  assertBetween(1 - counts.size / gps.length, 0.25, 0.5);
});

test("some signals are about a market and no GP, some about two GPs", () => {
  assertBetween(
    share(signals, (signal) => signal.gps?.length === 0),
    0.02,
    0.05,
  );
  assertBetween(
    share(signals, (signal) => signal.gps?.length === 2),
    0.03,
    0.1,
  );
});

test("signals are skewed to the last year and to offerings", () => {
  assertBetween(
    share(signals, ({ date }) => date >= "2025-11-20"),
    0.4,
    0.7,
  );
  const types = tally(signals.map(({ type }) => type));
  assert.equal(types.size, 21);
  assert.ok((types.get("new_offering") ?? 0) > 10 * (types.get("general_solicitation") ?? 0));
});

test("most projects have one GP, some two, a few none", () => {
  const counts = tally(projects.map((project) => project.gps?.length));
  assertBetween((counts.get(2) ?? 0) / projects.length, 0.08, 0.15);
  assertBetween((counts.get(0) ?? 0) / projects.length, 0.001, 0.02);
});

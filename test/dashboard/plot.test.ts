import assert from "node:assert/strict";
import { test } from "node:test";
import { linkTo } from "#dashboard/components/records.ts";
import { readFilter } from "#dashboard/screens/requests.ts";
import { html } from "#pages/html.ts";
import { valueLabel } from "#pages/values.ts";

const read = (query: string) => readFilter(new URLSearchParams(query));

test("an empty filter matches everything, and empty fields are ignored", () => {
  for (const query of ["", "key=&operation=&status=&day=&id=", "key=%20&unknown=1"]) {
    const { filter, typed, fault } = read(query);
    assert.deepEqual(new Set(Object.values(filter)), new Set([undefined]), query);
    assert.deepEqual([typed, fault], [{}, undefined]);
  }
});

test("each field filters by what it names; a day lasts from its beginning to its end, in UTC", () => {
  const query = "key=key_1&operation=fetch-gp&status=4xx&day=2026-11-20&id=req_1";
  const { filter, fault } = read(query);
  assert.equal(fault, undefined);
  assert.deepEqual(filter, {
    key: "key_1",
    operation: "fetch-gp",
    statusClass: "4xx",
    requestId: "req_1",
    since: Date.parse("2026-11-20T00:00:00Z"),
    until: Date.parse("2026-11-21T00:00:00Z"),
  });
});

test("an invalid filter is reported and kept in the form, never ignored", () => {
  for (const [query, word] of [
    ["status=200", /2xx/],
    ["day=yesterday", /2026-11-21/],
    ["day=2026-02-30", /2026-11-21/],
    ["day=2026-11-20T09:30", /2026-11-21/],
    ["day=20261121", /2026-11-21/],
  ] as const) {
    const { typed, fault } = read(query);
    assert.match(fault ?? "", word, query);
    assert.equal(Object.keys(typed).length > 0, true, query);
  }
});

test("only web addresses become links, and those do not reveal this page", () => {
  const linked = (address: string | null, label: string) => html`${linkTo(address, label)}`.markup;
  assert.equal(
    linked("https://example.org/a?b=1&c=2", "<b>"),
    '<a href="https://example.org/a?b=1&amp;c=2" rel="noopener noreferrer">&lt;b&gt;</a>',
  );
  for (const address of ["javascript:alert(1)", "data:text/html,x", "//example.org", "no address"])
    assert.equal(linked(address, "<b>"), "&lt;b&gt;");
  assert.equal(linked(null, "source"), "");
});

test("a value that is not a slug is shown unchanged", () => {
  assert.equal(valueLabel("build_to_rent"), "Build to rent");
  assert.equal(valueLabel("reg_d_506c"), "Reg D 506(c)");
  assert.equal(valueLabel("25_50"), "25–50 %");
  for (const value of ["Asia-Pacific", "source:form_d", "R&D", "__proto__", "gp_01a7k2q9x4m8c3vd"])
    assert.equal(valueLabel(value), value);
  assert.equal(valueLabel("constructor"), "Constructor");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { outside, valueLabel } from "#dashboard/components/records.ts";

test("only web addresses become links, and those do not reveal this page", () => {
  assert.equal(
    outside("https://example.org/a?b=1&c=2", "source").markup,
    '<a href="https://example.org/a?b=1&amp;c=2" rel="noopener noreferrer">source</a>',
  );
  for (const address of ["javascript:alert(1)", "data:text/html,x", "//example.org", "no address"])
    assert.equal(outside(address, "source").markup, "source");
  assert.equal(outside(null, "<b>").markup, "&lt;b&gt;");
});

test("a value that is not a slug is shown unchanged", () => {
  assert.equal(valueLabel("build_to_rent"), "Build to rent");
  assert.equal(valueLabel("reg_d_506c"), "Reg D 506(c)");
  for (const value of ["Asia-Pacific", "source:form_d", "R&D", "__proto__"])
    assert.equal(valueLabel(value), value);
  assert.equal(valueLabel("constructor"), "Constructor");
});

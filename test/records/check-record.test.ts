import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalSchemas } from "#records/canonical.ts";
import { checkRecord } from "#records/check-record.ts";
import { declarations, valueLists } from "#records/declarations.ts";
import type { MemberSchema } from "#records/schema.ts";
import { provenanceBases } from "#records/vocabulary.ts";

const bare = {
  gp: { record: "gp", id: "1", name: "Acme" },
  principal: { record: "principal", id: "1", name: "Ana" },
  signal: { record: "signal", id: "1", title: "T", date: "2026" },
  project: { record: "project", id: "1", name: "P" },
} as const;

const fault = (kind: keyof typeof bare, members: object) =>
  checkRecord({ ...bare[kind], ...members });

test("each closed list takes every value of it, and any other is rejected with the list", () => {
  for (const { members, values } of valueLists)
    for (const path of members) {
      const [kind, member = ""] = path.split(".") as [keyof typeof bare, string?];
      const schema = declarations[kind]?.members as Record<string, MemberSchema> | undefined;
      if (schema === undefined) continue;
      const isList = schema[member]!.items !== undefined;
      const faultOf = (value: string) => fault(kind, { [member]: isList ? [value] : value });
      for (const { value } of values) assert.deepEqual(faultOf(value), [], `${path} ${value}`);
      const reason = `must be one of ${values.map(({ value }) => value).join(", ")}`;
      const field = isList ? `${member}.0` : member;
      assert.deepEqual(faultOf("Other Thing"), [{ field, reason }], path);
    }
  for (const basis of provenanceBases) assert.deepEqual(fault("gp", { provenance: { basis } }), []);
  assert.equal(fault("gp", { provenance: { basis: "hearsay" } })[0]?.field, "provenance.basis");
});

test("a fund needs a name alone, and a fault names the fund and its member", () => {
  const fund = { name: "Acme Fund I, LP" };
  assert.deepEqual(fault("gp", { funds: [fund, { ...fund, as_of: null }], funds_total: 9 }), []);
  assert.deepEqual(
    fault("gp", {
      funds: [{}, { ...fund, structure: "parallel" }, { ...fund, gross_assets_usd: 1.5, aum: 1 }],
    }),
    [
      { field: "funds.0.name", reason: "is required" },
      { field: "funds.1.structure", reason: "must be one of master, feeder" },
      { field: "funds.2.aum", reason: "is not a member of a gp; correct its name or remove it" },
      { field: "funds.2.gross_assets_usd", reason: "must be a whole number" },
    ],
  );
  assert.deepEqual(fault("gp", { funds: [fund, { name: "–", first_sale_date: "2026-02-30" }] }), [
    { field: "funds.1.name", reason: "must have a letter or a digit, or nobody could find it" },
    { field: "funds.1.first_sale_date", reason: "must be a date or time that exists" },
  ]);
});

test("an empty text that is required is not to be left out", () => {
  const reason = "must not be empty; leave it out if it is unknown and not required";
  assert.deepEqual(fault("gp", { id: "" }), [{ field: "id", reason }]);
});

test("id and name, or title and date, are required; all else may be left out", () => {
  for (const record of Object.values(bare)) assert.deepEqual(checkRecord(record), []);
  assert.deepEqual(
    checkRecord({ record: "gp" })
      .map(({ field }) => field)
      .toSorted(),
    ["id", "name"],
  );
  assert.deepEqual(
    checkRecord({ record: "signal", id: "1" })
      .map(({ field }) => field)
      .toSorted(),
    ["date", "title"],
  );
});

test("a member that the record does not have is named", () => {
  assert.deepEqual(fault("gp", { colour: "red" }), [
    { field: "colour", reason: "is not a member of a gp; correct its name or remove it" },
  ]);
  for (const inherited of ["tags", "themes", "markets"])
    assert.equal(fault("principal", { [inherited]: ["x"] })[0]?.field, inherited);
});

test("a record that is not an object or of no known kind is rejected as such", () => {
  for (const value of [null, 1, "x", [], true])
    assert.equal(checkRecord(value)[0]?.field, "record");
  assert.match(
    checkRecord({ record: "fund", id: "1" })[0]!.reason,
    /gp, principal, signal, project/,
  );
});

test("dates are as precise as the source and exist", () => {
  for (const date of ["2026", "2026-02", "2024-02-29", "1999-12-31"])
    assert.deepEqual(fault("signal", { date }), [], date);
  const none = ["26", "2026-13", "2026-00", "2026-2-3", "03/31/2026", "2026-03-31T00:00:00Z", ""];
  for (const date of none) assert.equal(fault("signal", { date })[0]?.field, "date", date);
  assert.match(fault("signal", { published_at: "soon" })[0]!.reason, /a date \(.*\) or a time/);
  assert.deepEqual(fault("gp", { updated_at: "2026-10-02T22:10:05Z" }), []);
  for (const time of ["2026-10-02", "2026-10-02T22:10:05+02:00"])
    assert.equal(fault("gp", { updated_at: time })[0]?.field, "updated_at", time);
});

test("a state is one of the US unless the record names another country", () => {
  const reason = (country: string) =>
    `must be a USPS code such as TX, unless ${country} names a country other than the US`;
  for (const [kind, state, country] of [
    ["gp", "hq_state", "hq_country"],
    ["principal", "state", "country"],
    ["project", "state", "country"],
  ] as const) {
    const faulty = [{ field: state, reason: reason(country) }];
    for (const wrong of ["ZZ", "Texas", "tx", "TX "]) {
      assert.deepEqual(fault(kind, { [state]: wrong }), faulty);
      assert.deepEqual(fault(kind, { [state]: wrong, [country]: null }), faulty);
      assert.deepEqual(fault(kind, { [state]: wrong, [country]: "US" }), faulty);
      assert.deepEqual(fault(kind, { [state]: wrong, [country]: "U.S.A." }), faulty);
    }
    for (const right of ["TX", "DC", "PR", "GU", "AE", null])
      assert.deepEqual(fault(kind, { [state]: right, [country]: "US" }), []);
    assert.deepEqual(fault(kind, { [state]: "ON", [country]: "CA" }), []);
  }
});

test("money is whole US dollars, and numbers stay within what they measure", () => {
  assert.deepEqual(fault("signal", { amount_usd: -5 }), []);
  for (const members of [{ aum_usd: 1.5 }, { aum_usd: -1 }, { aum_usd: "5" }, { founded_year: 26 }])
    assert.equal(fault("gp", members).length, 1);
  for (const members of [{ latitude: 91 }, { longitude: -180.5 }, { units: 2.5 }])
    assert.equal(fault("project", members).length, 1);
});

test("a name, tag, theme or market that folds to nothing is rejected, since nobody could find it", () => {
  assert.equal(fault("gp", { name: "--" })[0]?.field, "name");
  for (const member of ["aliases", "tags", "themes", "markets"])
    assert.equal(fault("gp", { [member]: ["ok", "%%"] })[0]?.field, member);
  for (const kind of ["project", "signal"] as const)
    assert.equal(fault(kind, { market: "%%" })[0]?.field, "market");
});

test("text that is empty, holds control characters or half a character is rejected", () => {
  for (const name of ["", "a\u0000b", "a\u001bb", "\ud800"])
    assert.equal(fault("gp", { name })[0]?.field, "name");
  assert.deepEqual(fault("gp", { description: "two\nlines\tand a tab" }), []);
});

test("of all texts exactly those with a control character or half a character are rejected, wherever they stand", () => {
  const unit = fc.constantFrom(...'aé\\u"bfn/\n\t\r\b\f\u0000\u001f\u007f', "\ud83d", "\ude00");
  const isFit = (text: string) =>
    // eslint-disable-next-line no-control-regex
    !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text) && text.isWellFormed();
  fc.assert(
    fc.property(fc.string({ unit, minLength: 1, maxLength: 6 }), (text) => {
      const placed = [
        { description: text },
        { aliases: ["a", `a${text}`] },
        { external_ids: { other: [text] } },
        { former_ids: [text] },
      ];
      for (const members of placed)
        assert.equal(fault("gp", members).length === 0, isFit(text), JSON.stringify(members));
    }),
    { numRuns: 2000 },
  );
});

test("exactly the days that exist are accepted", () => {
  const digits = (number: number, length: number) => String(number).padStart(length, "0");
  const day = fc.record({
    year: fc.integer({ min: 0, max: 9999 }),
    month: fc.integer({ min: 1, max: 12 }),
    date: fc.integer({ min: 1, max: 31 }),
    hour: fc.integer({ min: 0, max: 26 }),
  });
  fc.assert(
    fc.property(day, ({ year, month, date, hour }) => {
      const real = new Date(0);
      real.setUTCFullYear(year, month - 1, date);
      const exists = real.getUTCDate() === date;
      const text = `${digits(year, 4)}-${digits(month, 2)}-${digits(date, 2)}`;
      assert.equal(fault("signal", { date: text }).length === 0, exists, text);
      const time = `${text}T${digits(hour, 2)}:30:00Z`;
      for (const member of ["published_at", "updated_at"])
        assert.equal(fault("signal", { [member]: time }).length === 0, exists && hour < 24, time);
    }),
    { numRuns: 2000 },
  );
});

test("addresses lead over http or https, never to a script", () => {
  assert.deepEqual(fault("gp", { website: "https://acme.example" }), []);
  for (const website of ["javascript:alert(1)", "acme.example", "data:text/html,x"])
    assert.equal(fault("gp", { website })[0]?.field, "website");
});

test("null says unknown wherever a member may be left out, except for lists", () => {
  for (const [kind, schema] of Object.entries(canonicalSchemas)) {
    const { properties } = schema as unknown as {
      properties: Record<string, { type?: string | string[] }>;
    };
    for (const [name, { type }] of Object.entries(properties)) {
      if (!Array.isArray(type)) continue;
      assert.deepEqual(fault(kind as keyof typeof bare, { [name]: null }), [], `${kind}.${name}`);
    }
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdviserFiling, AdviserFund, FormD } from "#filings/rows.ts";
import { classify, investsInRealEstate } from "#sponsors/classify.ts";
import { professionIn } from "#sponsors/names.ts";
import firms from "#sponsors/known-firms.json" with { type: "json" };
import words from "#sponsors/words.json" with { type: "json" };
import { filingOf } from "./form-d.ts";
import { adviserOf, fundOf } from "./world.ts";

const kindOf = (
  name: string,
  given: Partial<Omit<FormD, "issuers">> = {},
  sponsors: string[] = [],
) => classify(filingOf({ name, ...given }), sponsors).kind;
const pooled = { industry: "Pooled Investment Fund", isPooledTicked: true };

test("the five real-estate industries are a project, or a fund by tick, industry or name", () => {
  for (const industry of ["Commercial", "Construction", "Residential", "Other Real Estate"])
    assert.equal(kindOf("1577 Pomerance LLC", { industry }), "project", industry);
  assert.equal(kindOf("1577 Pomerance LLC", { industry: "REITS and Finance" }), "fund");
  assert.equal(kindOf("1577 Pomerance LLC", { isPooledTicked: true }), "fund");
  for (const name of [
    "Elm Fund I LLC",
    "ELMFUND SFR LLC",
    "Elm Sidecar I, LLC",
    "Elm REIT LLC",
    "Elm Income Trust",
    "Elm Net-Leased Portfolio 5 DST",
    "Elm Co-Invest LP",
    "Elm Row, a series of Ash LLC",
  ])
    assert.equal(kindOf(name), "fund", name);
  for (const name of ["139 Ervine Funding L.P.", "Elm Row DST", "Elm Partners LLC"])
    assert.equal(kindOf(name), "project", name);
});

test("a pooled fund is real estate by exemption, SIC, its words or its sponsor's", () => {
  assert.equal(kindOf("Elm Fund II LP", pooled), "out");
  assert.equal(kindOf("Elm Fund II LP", { ...pooled, exemptions: ["06b", "3C.5"] }), "fund");
  assert.equal(kindOf("Elm Fund II LP", { ...pooled, sicCode: "6512" }), "fund");
  assert.equal(kindOf("Elm Self Storage Fund II LP", pooled), "fund");
  assert.equal(kindOf("Elm Fund II LP", pooled, ["Ash Realty Advisors LLC"]), "fund");
  assert.equal(kindOf("250 Elm Street Fund LP", pooled), "fund");
  assert.equal(kindOf("Elm Housing LLC", { industry: "Investing" }), "project");
});

test("operating companies and funds of anything else are out, with the reason", () => {
  assert.deepEqual(
    classify(filingOf({ name: "Elm Apartments Software, Inc.", industry: "Other Technology" })),
    {
      kind: "out",
      reason: "industry Other Technology, no real-estate word",
      isAccommodation: false,
    },
  );
  for (const name of [
    "Elm Capital Partners LP",
    "Elm Park Access LP",
    "1789 Elm Capital Odyssey LP",
    "Elm DST Fund",
    "111 West Capital AB LLC",
    "Elm Intellectual Property Fund",
  ])
    assert.equal(kindOf(name, pooled), "out", name);
  assert.equal(kindOf("Elm Filmworks LLC", { industry: "Other" }), "out");
});

test("the reason names word, tick or industry", () => {
  const reasonOf = (name: string, given: Partial<Omit<FormD, "issuers">>) =>
    classify(filingOf({ name, ...given })).reason;
  assert.equal(
    reasonOf("Elm Realty Fund LP", pooled),
    '"realty" in "Elm Realty Fund LP"; pooled by industry',
  );
  assert.equal(
    reasonOf("Elm Row LLC", { isPooledTicked: true }),
    "industry Residential; pooled interest ticked",
  );
  assert.equal(reasonOf("Elm Fund LLC", {}), 'industry Residential; "fund" in the name');
});

test("a round that finds a REIT its holders is told by amounts or by who sells it", () => {
  const reit = { industry: "REITS and Finance", isPooledTicked: true };
  const isAccommodation = (given: Partial<Omit<FormD, "issuers">>) =>
    classify(filingOf({ name: "1685 Vale REIT, L.L.C.", ...reit, ...given })).isAccommodation;
  assert.ok(isAccommodation({ offeredUsd: 125_000, minimumUsd: 1000 }));
  assert.ok(isAccommodation({ recipients: [{ name: "Jo Doe", broker: "A5 Securities, LLC" }] }));
  assert.ok(isAccommodation({ soldUsd: 125_000, investorCount: 125 }));
  assert.ok(!isAccommodation({ soldUsd: 125_000, investorCount: 2 }));
  assert.ok(!isAccommodation({ offeredUsd: 25_000_000 }));
  assert.ok(!classify(filingOf({ name: "Elm Row LLC", offeredUsd: 125_000 })).isAccommodation);
});

test("an adviser is a GP by a fund, an offering or its own words alone", () => {
  const fund = (given: Partial<AdviserFund>) =>
    fundOf("Elm Fund II, LP", { type: "Private Equity Fund", ...given });
  const adviser = (legalName: string, funds: AdviserFund[] = []) =>
    adviserOf("1", legalName, { funds });
  const offerings = { files: new Set(["021-100001"]), fundNames: new Set(["elm fund iii lp"]) };
  const cases: readonly (readonly [AdviserFiling, boolean])[] = [
    [adviser("Elm Capital LLC", [fund({ type: "REAL ESTATE FUND" })]), true],
    [adviser("Elm Capital LLC", [fund({ formDFiles: ["021-100001"] })]), true],
    [adviser("Elm Capital LLC", [fund({ name: "Elm Fund III, L.P." })]), true],
    [adviser("Elm Realty LLC"), true],
    [adviser("Elm Capital LLC", [fund({})]), false],
  ];
  for (const [given, isGp] of cases)
    assert.equal(investsInRealEstate(given, offerings), isGp, JSON.stringify(given));
});

test("every entry of the shipped lists has a date and a source, and is found in any spelling", () => {
  for (const [profession, entries] of Object.entries(firms))
    for (const { name, date, source } of entries) {
      assert.match(date, /^\d{4}-\d\d-\d\d$/, name);
      assert.notEqual(source, "", name);
      assert.equal(professionIn(`${name.toUpperCase()}, L.L.C.`), profession, name);
    }
  for (const { date, source } of Object.values(words))
    assert.ok(/^\d{4}-\d\d-\d\d$/.test(date) && source !== "");
});

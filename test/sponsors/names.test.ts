import assert from "node:assert/strict";
import { test } from "node:test";
import {
  baseName,
  entityOf,
  isAddressLike,
  isDealOnly,
  readable,
  seriesMaster,
  stemOf,
} from "#sponsors/names.ts";
import { person } from "./form-d.ts";

test("a stem has no form, numeral, role or parenthesis", () => {
  const stems: Record<string, string> = {
    "Oakline Fund III-A GP, LLC": "oakline",
    "Oakline Real Estate Income Fund II (Parallel), L.P.": "oakline real estate income",
    "Oakline Capital Advisors, L. L. C.": "oakline capital",
    "Oakline & Co. KG": "oakline",
    "Oakline US II GmbH & Co. KG": "oakline",
    "Oakline Luxembourg General Partner S.à r.l.": "oakline luxembourg",
    "Oakline Fund ! GP": "oakline",
    "Oakline IV, a series of Birch Platform, LLC": "oakline",
    "Harbor Road Investors 2 TIC, LLC": "harbor road",
    "Harbor Road Co-Invest SPV-2 LLC": "harbor road",
    "S & F Funding LP": "s f funding",
    "Fund GP, LLC": "fund gp",
    "Oakline Fund CLXIV, LLC": "oakline",
    "Oakline Via LLC": "oakline via",
    "Oakline VC IIB LLC": "oakline vc",
    "1685 Vale REIT, L.L.C.": "1685 vale",
  };
  for (const [name, stem] of Object.entries(stems)) assert.equal(stemOf(name), stem, name);
});

test("a base name has readable capitals and is still a name", () => {
  const names: Record<string, string> = {
    "OAKLINE CAPITAL ADVISORS, LLC": "Oakline Capital",
    "GOLDEN HOLDINGS LLC": "Golden Holdings",
    "HQ II, LLC": "HQ",
    "MCBRAE & SONS OF THE COAST LLC": "McBrae & Sons of the Coast",
    "B&W EQUITIES III LP": "B&W Equities",
    "deVries Homes, Inc.": "deVries Homes",
    "Capital Management, LLC": "Capital Management",
  };
  for (const [name, base] of Object.entries(names)) assert.equal(baseName(name), base, name);
  assert.equal(readable("OAKLINE REIT XIV AT 12TH ST., LLC"), "Oakline REIT XIV at 12th St., LLC");
});

test("an entity among related persons is told from a person", () => {
  for (const [first, last, name] of [
    ["N/A", "Oakline GP, LLC", "Oakline GP, LLC"],
    ["*", "Oakline II", "Oakline II"],
    ["Manager", "Oakline Manager, LLC", "Oakline Manager, LLC"],
    ["n/a", "Oak.Lux", "Oak.Lux"],
    [null, "Oakline Capital", "Oakline Capital"],
    ["Oakline,", "LLC", "Oakline, LLC"],
    ["LLC", "Fund GP,", "Fund GP, LLC"],
    ["LLC", "Private Oakline", "Private Oakline LLC"],
    ["GP, LLC", "Oakline Midstream", "Oakline Midstream GP, LLC"],
    ["Oakline LLC", "Oakline LLC", "Oakline LLC"],
    ["Oakline Comunities, LLC", "Oakline Communities, LLC", "Oakline Communities, LLC"],
    ["Oakline", "Capital Partners", "Oakline Capital Partners"],
    ["N/A", "1789 Oakline ! GP", "1789 Oakline ! GP"],
  ] as const)
    assert.equal(entityOf(person(first, last)), name, `${first} / ${last}`);
  for (const [first, last] of [
    ["Maria", "Sa"],
    ["Kim", "Co"],
    ["Chen", "Chen"],
    ["Lady", "McCloud"],
    [null, "Smith"],
    ["Manager", "John Smith"],
    ["Na", "Qi"],
    ["John", "Vance, Jr."],
  ] as const)
    assert.equal(entityOf(person(first, last)), null, `${first} / ${last}`);
  assert.equal(entityOf(person("Richard", "Cole", null, { middle: "N/A" })), null);
});

test("a name that is an address is told from a firm with a number", () => {
  const addresses = [
    "1577 Pomerance LLC",
    "250 Park Avenue Partners LLC",
    "139 Ervine Funding L.P.",
  ];
  for (const name of addresses) assert.ok(isAddressLike(name), name);
  const firms = ["1789 Oakline Capital", "12th Street Capital LLC", "10x Builders GmbH"];
  for (const name of [...firms, "Oakline 12 LLC"]) assert.ok(!isAddressLike(name), name);
});

test("a firm with the issuer's own words exists for the deal, a brand does not", () => {
  const dealOnly: readonly (readonly [string, string, boolean])[] = [
    ["BB Flats Manager LLC", "BB Flats LLC", false],
    ["116 Prospect Management LLC", "116 Prospect LLC", false],
    ["Comax Glisten 16 MM LLC", "Conax Glisten 16 Investors LLC", false],
    ["Glisten Manager LLC", "Conax Glisten 16 Investors LLC", false],
    ["Income Fund Manager LLC", "Oakline Income Fund LP", true],
    ["Texas Multifamily Fund GP LLC", "Texas Multifamily Fund II LP", true],
    ["Rosewood Apartments Fund GP LLC", "Rosewood Apartments Fund LP", true],
    ["12 Elm Street Manager LLC", "Elm Fund LP", true],
  ];
  const brands: readonly (readonly [string, string, boolean])[] = [
    ["Conax Properties LLC", "Conax Glisten 16 Investors LLC", false],
    ["Conax Manager LLC", "Conax Glisten 16 Investors LLC", false],
    ["Oakline Fund III GP, LLC", "Oakline Fund III, LP", true],
    ["Vale Capital Corp.", "Rosewood Apartments, LLC", false],
    ["Hillcrest Partners LLC", "Hillcrest Apartments LLC", false],
  ];
  for (const [firm, issuer, isFund] of dealOnly) assert.ok(isDealOnly(firm, issuer, isFund), firm);
  for (const [firm, issuer, isFund] of brands) assert.ok(!isDealOnly(firm, issuer, isFund), firm);
});

test("the master of a series stands in the issuer's name", () => {
  assert.equal(seriesMaster("Elm I, a series of Birch Platform, LLC"), "Birch Platform, LLC");
  assert.equal(seriesMaster("022 - Series of Birch Master Fund, LLC"), "Birch Master Fund, LLC");
  assert.equal(seriesMaster("Birch Series LLC"), null);
});

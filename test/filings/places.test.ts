import assert from "node:assert/strict";
import { test } from "node:test";
import { firmIn, openPlaces, withoutStreets } from "#filings/places.ts";

const firms: [line: string, firm: string | null][] = [
  ["C/O ACME MANAGEMENT LLC", "ACME MANAGEMENT LLC"],
  ["C/O 115 PROSPERITY MANAGEMENT LLC", "115 PROSPERITY MANAGEMENT LLC"],
  ["C/O GREYHOLT, 465 MEETING STREET", "GREYHOLT"],
  ["12th Street Partners, L.P., 100 Main St", "12th Street Partners, L.P."],
  ["12TH STREET CAPITAL LLC", "12TH STREET CAPITAL LLC"],
  ["1789 Capital", "1789 Capital"],
  ["C/O BIRCHWATER ADVISORS L.P. 345 PARK AVE", "BIRCHWATER ADVISORS L.P."],
  ["C/O THE CORPORATION TRUST COMPANY", "THE CORPORATION TRUST COMPANY"],
  ["c/o Alder&Co Technologies, Inc. 4 Times Sq.", "Alder&Co Technologies, Inc."],
  ["c/o John Smith", null],
  ["100 Capital Blvd", null],
  ["1 Liberty Trust Square", null],
  ["123 Inc Lane", null],
  ["P.O. BOX 309, UGLAND HOUSE", null],
  ["ATTN: LEGAL", null],
];

test("a street line gives the firm that it names, and neither a street nor a person", () => {
  for (const [line, firm] of firms) assert.equal(firmIn(line), firm, line);
});

const orlando = (streets: string[], zip = "32801") => {
  return { streets, city: "ORLANDO", stateOrCountry: "FL", zip };
};

test("a place has no street, but a hash that equal streets share whatever their spelling, suite and care of", () => {
  const placeOf = openPlaces("salt");
  const place = placeOf(orlando(["410 South Maple Avenue, Suite 410"], "32801-1234"));
  const { addressHash, ...rest } = place;
  const inOrlando = { city: "Orlando", state: "FL", country: "US", zip: "32801-1234" };
  assert.deepEqual(rest, { ...inOrlando, firmInStreet: null });
  assert.equal(addressHash?.length, 22);
  const same = placeOf(orlando(["C/O ACME CAPITAL LLC", "410 S. MAPLE AVE., STE. 410"]));
  assert.equal(same.addressHash, addressHash);
  assert.equal(same.firmInStreet, "ACME CAPITAL LLC");
  assert.notEqual(placeOf(orlando(["411 S. MAPLE AVE."])).addressHash, addressHash);
  assert.notEqual(placeOf(orlando(["410 S. MAPLE AVE."], "32802")).addressHash, addressHash);
  assert.notEqual(openPlaces("other")(orlando(["410 S. MAPLE AVE."])).addressHash, addressHash);
  assert.equal(placeOf(orlando(["Suite 410", "None"])).addressHash, null);
});

test("a short city in capitals is no acronym", () => {
  const place = { streets: [], city: "RENO", stateOrCountry: "NV", zip: null };
  assert.equal(openPlaces("salt")(place).city, "Reno");
});

test("codes of EDGAR and names of countries become states and ISO codes", () => {
  const placeOf = openPlaces("salt");
  const regionOf = (stateOrCountry: string | null, country?: string) => {
    const place = placeOf({ streets: [], city: null, stateOrCountry, country, zip: null });
    return [place.state, place.country];
  };
  assert.deepEqual(regionOf("TX"), ["TX", "US"]);
  assert.deepEqual(regionOf("tx", "United States"), ["TX", "US"]);
  assert.deepEqual(regionOf("Texas", "United States"), ["TX", "US"]);
  assert.deepEqual(regionOf("A6"), [null, "CA"]);
  assert.deepEqual(regionOf("N4"), [null, "LU"]);
  assert.deepEqual(regionOf("2M"), [null, "DE"]);
  assert.deepEqual(regionOf("B5"), ["AS", "US"]);
  assert.deepEqual(regionOf("X1"), [null, "US"]);
  assert.deepEqual(regionOf("GA", "Spain"), [null, "ES"]);
  assert.deepEqual(regionOf("Ontario", "Canada"), [null, "CA"]);
  assert.deepEqual(regionOf(null, "Cayman Islands"), [null, "KY"]);
  assert.deepEqual(regionOf("XX"), [null, null]);
  assert.deepEqual(regionOf(null), [null, null]);
});

test("a street within a text ends in the reader, a firm called after one does not", () => {
  for (const [written, left] of [
    ["Manager, 12 Elm Street, Suite 400, Dallas, TX 75201", "Manager, Dallas, TX 75201"],
    [
      "Manager of Ash LLC, residing at 450 7th Ave. N, #5B; Director",
      "Manager of Ash LLC; Director",
    ],
    ["Director (1200 N. Larch Hill Blvd)", "Director ()"],
    ["CEO 12 Old Mill Road Austin TX 78701", "CEO Austin TX 78701"],
    ["P.O. Box 309, George Town", "George Town"],
    ["77 Birch Lane", null],
    [null, null],
  ] as const)
    assert.equal(withoutStreets(written), left, written ?? "");
  for (const written of [
    "President of 250 Park Avenue Partners LLC, the Manager of the Issuer",
    "Manager of 1577 Elm Street Owner, LLC",
    "Manager of 100 Main Street, LLC",
    "President of 12th Street Capital LLC",
    "Managing Partner / Elm #1 Drilling Program",
    "Manager, appointed 2 March 2019; a 5 % owner of the place",
  ])
    assert.equal(withoutStreets(written), written);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { geographyLayout, openGeography } from "#filings/places.ts";

const cbsas = {
  nber: `cbsacode,metrodivisioncode,csacode,cbsatitle,fipsstatecode,fipscountycode\n33860,,,"Montgomery, AL",1,1\n13820,,142,"Birmingham-Hoover, AL",1,7\n`,
  census: `"List 1. CORE BASED STATISTICAL AREAS",,,\n,,,\nCBSA Code,CBSA Title,FIPS State Code,FIPS County Code\n33860,"Montgomery, AL",01,001\n13820,"Birmingham-Hoover, AL",01,007\n`,
};
const zips = {
  hud: `ZIP,COUNTY,USPS_ZIP_PREF_CITY,USPS_ZIP_PREF_STATE,RES_RATIO,BUS_RATIO,OTH_RATIO,TOT_RATIO\n36091,01007,VERBENA,AL,0.1,0.9,0,0.3\n36091,01001,VERBENA,AL,0.9,0.1,0,0.7\n`,
  zcta2020: `\uFEFFOID_ZCTA5_20|GEOID_ZCTA5_20|NAMELSAD_ZCTA5_20|GEOID_COUNTY_20|NAMELSAD_COUNTY_20|AREALAND_PART\n1|36091|ZCTA5 36091|01007|Bibb County|10\n1|36091|ZCTA5 36091|01001|Autauga County|900\n`,
  zcta2010: `ZCTA5,STATE,COUNTY,GEOID,POPPT,ZPOPPCT\n36091,01,007,01007,10,2.5\n36091,01,001,01001,90,97.5\n`,
  headless: `36091,1001,Verbena,AL,Autauga County,H1\n36091,1007,Verbena,AL,Bibb County,H1\n36092,1001,Verbena,AL,Autauga County,H1\n`,
  fourColumns: `36091,1001,Verbena,AL\r\n36091,1007,Verbena,AL\r\n`,
};

function geographyOf(...texts: string[]) {
  const geography = openGeography();
  for (const one of texts) {
    const layout = geographyLayout(one.replace("\uFEFF", ""));
    assert.ok(layout !== undefined, one);
    geography.add(Buffer.from(one), "table.csv", layout);
  }
  return geography;
}

const verbena = { zip: "36091-1234", city: null, state: null, country: "US" };

test("a ZIP code tells its metropolitan area by the county in which most of it lies, in every layout of the tables", () => {
  for (const area of Object.values(cbsas))
    for (const [name, table] of Object.entries(zips)) {
      assert.equal(geographyOf(area, table).marketOf(verbena), "Montgomery, AL", name);
      assert.equal(geographyOf(table, area).marketOf(verbena), "Montgomery, AL", name);
    }
});

test("an address without a known ZIP code is found by city and state, and none abroad", () => {
  const geography = geographyOf(cbsas.nber, zips.headless);
  const place = { zip: null, city: "VERBENA", state: "AL", country: "US" };
  assert.equal(geography.marketOf(place), "Montgomery, AL");
  assert.equal(geography.marketOf({ ...place, zip: "99999" }), "Montgomery, AL");
  assert.equal(geography.marketOf({ ...place, state: "GA" }), null);
  assert.equal(geography.marketOf({ ...place, country: "KY" }), null);
  assert.equal(geographyOf(zips.headless).marketOf(place), null);
});

test("of tables of different years the same is taken whatever their order", () => {
  const other = `cbsacode,cbsatitle,fipsstatecode,fipscountycode\n33860,"Montgomery-Selma, AL",1,1\n`;
  const tables = [cbsas.nber, other, zips.hud];
  const [one, reversed] = [geographyOf(...tables), geographyOf(...tables.toReversed())];
  assert.equal(one.marketOf(verbena), reversed.marketOf(verbena));
});

test("other tables with a ZIP code are none of these", () => {
  assert.equal(geographyLayout("Name,Zip,County\nAcme,36091,Autauga\n"), undefined);
  assert.equal(geographyLayout("FilingID,1E1\n1,2\n"), undefined);
  assert.equal(geographyLayout(""), undefined);
});

test("a table that is cut off is refused with its name", () => {
  const cut = `${cbsas.nber}13820,,142,"Birm`;
  assert.throws(() => geographyOf(cut), /table\.csv:\d+: has a quote that is never closed/);
  assert.throws(
    () => geographyOf("cbsacode,cbsatitle,fipsstatecode,fipscountycode\n"),
    /table\.csv: has columns for ZIP codes or counties, but no usable row/,
  );
});

test("a title that no record could have as its market is none", () => {
  for (const title of ["x".repeat(101), "*"]) {
    const area = cbsas.nber.replace("Montgomery, AL", title);
    assert.equal(geographyOf(area, zips.hud).marketOf(verbena), null);
  }
});

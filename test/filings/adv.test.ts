import assert from "node:assert/strict";
import test from "node:test";
import { type AdvMember, advMemberOf, readAdv, readFirmFeed } from "#filings/adv.ts";
import { openPlaces } from "#filings/places.ts";
import type { AdvRow, Firm } from "#filings/rows.ts";
import { firmFeed } from "./firm-feed.ts";

const placeOf = openPlaces("salt");

async function* pieces(bytes: Buffer, pieceBytes: number) {
  for (let i = 0; i < bytes.length; i += pieceBytes) yield bytes.subarray(i, i + pieceBytes);
}

/** Reads a member that arrives in pieces of some bytes. */
async function read(
  kind: AdvMember["kind"],
  written: string | Buffer,
  pieceBytes = 7,
  isExempt = false,
) {
  const bytes = pieces(Buffer.from(written), pieceBytes);
  const rows: AdvRow[] = [];
  const origin = { file: "adv.zip!member.csv", line: 1 };
  const add = (row: AdvRow) => void rows.push(row);
  const rejected = await readAdv({ kind, isExempt }, bytes, origin, placeOf, add);
  return { rows, rejected };
}

const none = { count: 0, firstLine: null };
const baseHeader =
  "FilingID,FormVersion,DateSubmitted,1A,1B1,1C-Legal,1C-Business,1C-New Name,1D,1E1,1F1-Street 1,1F1-Street 2,1F1-City,1F1-State,1F1-Country,1F1-Postal,1P,5F2c";

test("a row of the base table gives an adviser, whichever piece it arrives in", async () => {
  const row = `77,10/2021,07/10/2026 04:20:33 PM,"QUARRY BEND CAPITAL, LLC",Quarry Bend,,Old Bend,,801-12345,0300123,9 Alder Street,Suite 4,DALLAS,TX,United States,75201,549300ABCDEFGHIJKL12,1840000000`;
  const expected = {
    kind: "base",
    filingId: "77",
    filing: {
      filingId: "77",
      crd: "300123",
      filedOn: "2026-07-10",
      isExempt: false,
      legalName: "QUARRY BEND CAPITAL, LLC",
      businessName: "Quarry Bend",
      otherNames: ["Old Bend"],
      secNumber: "801-12345",
      lei: "549300ABCDEFGHIJKL12",
      aumUsd: 1_840_000_000,
      origin: { file: "adv.zip!member.csv", line: 2 },
    },
  };
  for (const pieceBytes of [1, 7, 64, 10_000]) {
    const { rows, rejected } = await read("base", `${baseHeader}\r\n${row}\r\n`, pieceBytes);
    const [{ filing, ...found }] = rows as [AdvRow & { kind: "base" }];
    const { place, ...facts } = filing;
    assert.deepEqual({ ...found, filing: facts }, expected);
    assert.equal(place.city, "Dallas");
    assert.deepEqual(rejected, none);
  }
});

test("owners, funds, their partners, file numbers and CIKs are read by the names of their columns", async () => {
  const tables: [AdvMember["kind"], string][] = [
    [
      "owners",
      `FilingID,SchA-3,Schedule,Full Legal Name,DE/FE/I,Entity in Which,Title or Status,Status Acquired,Ownership Code,Control Person,PR,OwnerID
77,Y,A,"MOSS, ADA, LEE",I,,"MANAGING MEMBER",9/2012,F,Y,N,0004711`,
    ],
    [
      "funds",
      `FilingID,Fund Name,Fund ID,ReferenceID,State,Country,Master Fund,Feeder Fund,Master Fund Name,Master Fund ID,Fund Type,Fund Type Other,Gross Asset Value,Minimum Investment
77,"QUARRY BEND FUND II, LP",805-1234567890,5,DE,United States,N,Y,QUARRY BEND MASTER,805-99,Real Estate Fund,,41000000,100000`,
    ],
    ["partners", `FilingID,ReferenceID,"Name of Partner, etc."\n77,5,QUARRY BEND GP LLC`],
    ["formDFiles", "FilingID,ReferenceID,Form D File Number\n77,5,21-441122"],
    ["ciks", "FilingID,CIK\n77,1912345"],
  ];
  const rows = [];
  for (const [kind, written] of tables) rows.push(...(await read(kind, written)).rows);
  assert.deepEqual(rows, [
    {
      kind: "owners",
      filingId: "77",
      owner: {
        name: "MOSS, ADA, LEE",
        isPerson: true,
        title: "MANAGING MEMBER",
        since: "2012-09",
        ownershipCode: null,
        isControlPerson: true,
        schedule: "A",
        crd: "4711",
      },
    },
    {
      kind: "funds",
      filingId: "77",
      referenceId: "5",
      fund: {
        fundId: "805-1234567890",
        name: "QUARRY BEND FUND II, LP",
        type: "Real Estate Fund",
        typeOther: null,
        isMaster: false,
        isFeeder: true,
        masterFundId: "805-99",
        grossAssetsUsd: 41_000_000,
      },
    },
    { kind: "partners", filingId: "77", referenceId: "5", name: "QUARRY BEND GP LLC" },
    { kind: "formDFiles", filingId: "77", referenceId: "5", fileNumber: "021-441122" },
    { kind: "ciks", filingId: "77", cik: "0001912345" },
  ]);
});

test("a month that does not exist and a number longer than any are none, and a name without a letter is no adviser's", async () => {
  const owner = `FilingID,Full Legal Name,DE/FE/I,Title or Status,Status Acquired,Ownership Code,Control Person,OwnerID
77,"MOSS, ADA",I,MEMBER,13/2012,F,Y,${"4".repeat(4000)}`;
  const [row] = (await read("owners", owner)).rows;
  assert.ok(row?.kind === "owners");
  assert.deepEqual([row.owner.since, row.owner.crd], [null, null]);
  const base = `FilingID,DateSubmitted,1A,1B1,1E1,1F1-Street 1,1F1-City,1F1-State,1F1-Country,1F1-Postal
1,07/10/2026,***,,5,,,,,
2,07/10/2026,Elm LLC,***,6,,,,,`;
  const { rows, rejected } = await read("base", base);
  assert.deepEqual(
    rows.map((one) => one.kind === "base" && [one.filing.legalName, one.filing.businessName]),
    [["Elm LLC", null]],
  );
  assert.equal(rejected.firstLine, 2);
});

const partners = (...rows: string[]) =>
  read("partners", ['FilingID,ReferenceID,"Name of Partner, etc."', ...rows].join("\n"));

const names = async (...rows: string[]) => {
  const { rows: found, rejected } = await partners(...rows);
  return [found.map((row) => row.kind === "partners" && row.name), rejected];
};

test("quotes that are not doubled, doubled ones and line breaks stay in their cell", async () => {
  const rows = [
    '1,1,"BOTH "VENTURE CAPITAL FUND" AND ""REAL ESTATE"" FUND"',
    '2,1,"TWO\nLINES"',
    '3,1,""',
    '4,1,"A, B ""C"""',
    '"5","1",D "E" F',
  ];
  assert.deepEqual(await names(...rows), [
    ['BOTH "VENTURE CAPITAL FUND" AND "REAL ESTATE" FUND', "TWO LINES", 'A, B "C"', 'D "E" F'],
    { count: 1, firstLine: 5 },
  ]);
});

test("a row with a wrong number of cells is given up with its line, and the next ones are read", async () => {
  const rows = ["1,1,ONE", "2,1,TWO,MORE", '3,1,"NEVER CLOSED', "4,1,FOUR", "5,1,FIVE"];
  assert.deepEqual(await names(...rows), [["ONE", "FOUR", "FIVE"], { count: 2, firstLine: 3 }]);
});

test("a member without a line is refused by name", async () => {
  await assert.rejects(read("ciks", ""), {
    name: "ImportFault",
    message: "adv.zip!member.csv: is empty; download the archive again",
  });
});

test("a member with thousands of rows of which most cannot be read is refused with the first", async () => {
  const damaged = `${baseHeader}\n${'"x\n'.repeat(10_001)}`;
  await assert.rejects(
    read("base", damaged, 65_536),
    /member\.csv:2: has more unreadable rows than readable ones; download the archive again/,
  );
});

test("an exempt adviser's base table may lack the regulatory assets", async () => {
  const { rows } = await read(
    "base",
    `${baseHeader.replace(",5F2c", "")}\n1,1,2026-01-02,A LLC,,,,,802-1,5,,,,,,,`,
    20,
    true,
  );
  const [row] = rows;
  assert.ok(row?.kind === "base");
  assert.deepEqual([row.filing.isExempt, row.filing.aumUsd], [true, null]);
});

test("members are told apart by their names", () => {
  const kindOf = (name: string) => advMemberOf(`folder/${name}`)?.kind;
  const all = {
    IA_ADV_Base_A_20260701_20260731: "base",
    ERA_ADV_Base_20260701: "base",
    IA_ADV_Base_B_20260701: undefined,
    IA_Schedule_A_B_20260701: "owners",
    IA_Schedule_D_7B1_20260701: "funds",
    IA_Schedule_D_7B1A3a_20260701: "partners",
    IA_Schedule_D_7B1A3b_20260701: undefined,
    ERA_Schedule_D_7B1A22_20260701: "formDFiles",
    IA_Schedule_D_7B1A28_20260701: undefined,
    IA_1D3_CIK_20260701: "ciks",
  };
  for (const [name, kind] of Object.entries(all)) assert.equal(kindOf(`${name}.csv`), kind, name);
});

/** Reads a feed that arrives in pieces of some bytes. */
async function readFeed(bytes: Buffer, pieceBytes = 7) {
  const firms: [Firm, string][] = [];
  const rejected = await readFirmFeed(
    pieces(bytes, pieceBytes),
    "feed.xml",
    placeOf,
    (firm, feedOn) => void firms.push([firm, feedOn]),
  );
  return { firms, rejected };
}

const quarry = {
  Info: 'FirmCrdNb="300123" SECNb="802-12345" BusNm="QUARRY BEND &amp; CAF\xc9" LegalNm="QUARRY BEND CAPITAL, LLC"',
  MainAddr: 'City="DALLAS" State="TX" Cntry="United States" PostlCd="75201-1234"',
  Rgstn: 'FirmType="ERA"',
  Filing: 'Dt="2026-09-30"',
  Item5F: 'Q5F2A="1" Q5F2C="1840000000"',
  sites: ["HTTPS://WWW.LINKEDIN.COM/COMPANY/QUARRY-BEND", "HTTP://WWW.QUARRYBEND.COM/HOME"],
};

test("a firm of the daily feed has its names, city, size and site, whichever piece it arrives in, and no street or phone", async () => {
  const expected = {
    filingId: "300123",
    crd: "300123",
    filedOn: "2026-09-30",
    isExempt: true,
    legalName: "QUARRY BEND CAPITAL, LLC",
    businessName: "QUARRY BEND & CAFÉ",
    otherNames: [],
    secNumber: "802-12345",
    lei: null,
    place: {
      city: "Dallas",
      state: "TX",
      country: "US",
      zip: "75201-1234",
      addressHash: null,
      firmInStreet: null,
    },
    aumUsd: 1_840_000_000,
    website: "http://www.quarrybend.com/home",
    origin: { file: "feed.xml", line: 4 },
  };
  const unnamed = { Info: 'FirmCrdNb="300124" BusNm="-" LegalNm=""', Filing: quarry.Filing };
  const undated = { ...quarry, Filing: "" };
  const latin = firmFeed("2026-11-27", [unnamed, quarry, undated]);
  // Some feed may be in UTF-8, whatever it declares.
  const utf8 = Buffer.from(latin.toString("latin1"), "utf8");
  for (const bytes of [latin, utf8])
    for (const pieceBytes of [1, 7, 10_000]) {
      const { firms, rejected } = await readFeed(bytes, pieceBytes);
      assert.deepEqual(firms, [[expected, "2026-11-27"]]);
      assert.deepEqual(rejected, { count: 2, firstLine: 3 });
    }
});

test("a firm's website is the first address that is a site of its own", async () => {
  for (const [sites, website] of [
    [["WWW.QUARRYBEND.COM"], "https://www.quarrybend.com/"],
    [["https://QuarryBend.com/About?x=Y"], "https://quarrybend.com/About?x=Y"],
    [["HTTPS://SITES.GOOGLE.COM/VIEW/QUARRY"], "https://sites.google.com/view/quarry"],
    [["https://x.com/quarry", "https://quarryx.com"], "https://quarryx.com/"],
    [["HTTPS://M.FACEBOOK.COM/Q", "HTTPS://YOUTU.BE/Q", "https://g.page/q"], null],
    [["ann@quarrybend.com", "javascript:alert(1)", "file:///etc/x", "N/A", "", "localhost"], null],
    [
      ["https://ann:pw@quarrybend.com", "https://10.0.0.1/", `https://a.com/${"x".repeat(2000)}`],
      null,
    ],
  ] as const) {
    const { firms } = await readFeed(firmFeed("2026-11-27", [{ ...quarry, sites }]), 500);
    assert.equal(firms[0]![0].website, website, sites[0]);
  }
});

test("a feed that is damaged is refused with its line and the next step", async () => {
  const whole = firmFeed("2026-11-27", [quarry, quarry]).toString("latin1");
  for (const [written, words] of [
    [
      whole.slice(0, -20),
      /^feed\.xml:5: ends before <\/IAPDFirmSECReport> and is cut off; download/,
    ],
    [
      whole.replace("<Filing", "<Filing a<"),
      /^feed\.xml:3: is not well-formed XML: .*; download it/,
    ],
    [
      whole.replace('Q1F5="0"', 'Q1F5="&x;"'),
      /^feed\.xml:3: is not well-formed XML: undefined entity/,
    ],
    [whole.replaceAll("IAPDFirmSECReport", "a"), /^feed\.xml:2: begins with "a", not IAPDFirmSECR/],
    [
      whole.replace("2026-11-27", "today"),
      /^feed\.xml:3: has no date, or no firm with a CRD number/,
    ],
    [
      whole.replaceAll("FirmCrdNb", "Crd"),
      /^feed\.xml:3: has no date, or no firm with a CRD number/,
    ],
    [
      whole.replace("<Info", "<a>".repeat(30)),
      /^feed\.xml:3: .* elements are nested more than 20 deep/,
    ],
    [whole.replace("<Info", `${"x".repeat(1_100_000)}<Info`), /: no element in 1048576 bytes/],
    [
      `\xff\xfe${Buffer.from(whole, "utf16le").toString("latin1")}`,
      /^feed\.xml:1: is not well-form/,
    ],
    ["", /^feed\.xml:1: is not well-formed XML: document must contain a root element/],
  ] as const)
    await assert.rejects(readFeed(Buffer.from(written, "latin1"), 50_000), {
      name: "ImportFault",
      message: words,
    });
});

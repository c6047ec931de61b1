/**
 * Writes a folder of invented public filings in the layouts of the SEC: quarters of Form D, an archive of Form ADV,
 * a feed of firms, tables of ZIP codes and counties, corrections. It returns who stands behind each issuer, as the filings let one know.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { advTables } from "../filings/adv-tables.ts";
import { firmFeed } from "../filings/firm-feed.ts";
import { type QuarterRows, quarterFiles, rowsOf, together } from "../filings/quarter.ts";
import { writtenZip } from "../filings/zip.ts";
import { type Random, seededRandom } from "./awkward/random.ts";

export interface InventedSponsor {
  /** Two words that no sponsor of another state shares. */
  brand: string;
  name: string;
  state: string;
  /** Null if the firm files no Form ADV. */
  crd: string | null;
  people: readonly (readonly [first: string, last: string])[];
  address: Cells;
}

export interface InventedIssuer {
  kind: "fund" | "project" | "out";
  /** How the filings name the sponsor, or what they say instead. */
  way: string;
  sponsor: InventedSponsor | null;
}

export interface FilingFolder {
  sponsors: readonly InventedSponsor[];
  /** Issuers by CIK of ten digits. */
  truth: ReadonlyMap<string, InventedIssuer>;
}

/** Cells of a row of Form D, by column. */
type Cells = Record<string, string>;

/** City, state, ZIP, county and metropolitan area. */
const cities = [
  "DALLAS|TX|75201|48113|Dallas-Fort Worth-Arlington, TX",
  "Reno|NV|89501|32031|Reno, NV",
  "Columbus|OH|43215|39049|Columbus, OH",
  "ORLANDO|FL|32801|12095|Orlando-Kissimmee-Sanford, FL",
  "Denver|CO|80202|08031|Denver-Aurora-Lakewood, CO",
  "Salt Lake City|UT|84101|49035|Salt Lake City, UT",
].map((line) => line.split("|") as [string, string, string, string, string]);
const words = (list: string) => list.split(" ");
const heads = words(
  "Alder Basalt Cinder Dunmore Elkhorn Fenwick Garnet Hollis Ironwood Juniper Kestrel Larkin Marlow Norwood Osprey Pinnacle Quarry Rowan Sable Thorn Upland Vesper Willow Yarrow",
);
const tails = words("Ridge Point Gate Harbor Crest Bridge Hollow Field Lane Peak");
const trades = "Capital,Equities,Realty Partners,Investments,Properties,Real Estate Group".split(
  ",",
);
const firsts = words(
  "Ann Boris Carla Dmitri Elena Farid Greta Hugo Ines Jonas Kira Lukas Mona Nils Olga Pavel Rosa Simon Tessa Viktor",
);
const lasts = words(
  "Abrahamsen Brandt Castellano Dlugosz Eriksson Fairweather Grabowski Hathaway Ibarra Janssen Kowalczyk Lindqvist Mbeki Novotny Oyelaran Petrakis Quintero Rasmussen Szymanski Tanaka Underhill Valdez Whitcombe Yamamoto Zielinski",
);
const streets = words(
  "Sycamore Tamarack Wisteria Cottonwood Mulberry Hawthorn Dogwood Magnolia Linden Chestnut Hickory Poplar",
);
const estates = words(
  "Brookmere Camden Dovecote Eastgate Foxglove Glenmoor Heatherstone Inverness Kingsley Lakeview Meadowbrook Northfield Oakhaven Parkside Rosewood Silverleaf Stonebrook Tidewater Westover Windermere",
);
const buildings = "Apartments,Townhomes,Lofts,Flats,Villas,Self Storage,Industrial,Plaza".split(
  ",",
);

/** Names of placement agents, registered agents and platforms are real, since the lists that ship know them. */
const realFirms = {
  agent: "Orchard Securities, LLC",
  registered: "CORPORATION SERVICE COMPANY",
  platform: "AngelList Funds, LLC",
  accommodation: "H & L Equities, LLC",
};

/** First names that stand for none, as often as they were counted in 56 filings. */
const placeholders = words("* * * * * * N/A N/A N/A N/A N/A N/A n/a n/a _ _ - -- .");

/** Shares of filings, as counted in real ones. */
const measured = {
  /** Issuers with an amendment, so that 5,335 of 14,637 filings of a quarter are amendments. */
  amended: 0.57,
  /** Whose accession number has another's prefix: 34 of 181. */
  filedByAgent: 34 / 181,
  /** Pooled funds that offer an indefinite amount: from 51 % to 67 %. */
  indefinite: 0.59,
  /** Signed by somebody who is no related person: 18 of 76. */
  signedByOther: 18 / 76,
  /** Whose city holds a part of the street: 1 of 56. */
  badCity: 1 / 56,
  /** Funds that name a firm among their related persons, so that 18 of 56 filings do. */
  ownPartner: 0.7,
};

/**
 * Writes a folder.
 * @param folder folder that is there and empty.
 * @param size number of sponsors, of which half file a Form ADV. Each brings 13 filings or so, its own and others.
 */
export async function writeFilingFolder(
  folder: string,
  { seed = 1, size = 60 }: { seed?: number; size?: number } = {},
): Promise<FilingFolder> {
  const random = seededRandom(seed);
  const sponsors = inventSponsors(random, size);
  const book = openBook(random);
  for (const sponsor of sponsors) fileSponsor(random, book, sponsor);
  fileNobodies(random, book, Math.round(size * 3));
  fileOthers(random, book, size * 2);
  for (const [quarter, filings] of book.quarters()) {
    const name = `${quarter}_d.zip`;
    await writtenZip(folder, name, {
      ...quarterFiles(together(...filings), { folder: `${quarter.toUpperCase()}_d/` }),
      [`${quarter.toUpperCase()}_d/FORMD_readme.htm`]: "<html>Form D data sets</html>",
    });
  }
  await writtenZip(
    folder,
    "ADV_Filing_Data_20260701_20260731.zip",
    advMembers(random, sponsors, book),
  );
  writeFileSync(join(folder, "IA_FIRM_SEC_Feed_07_13_2026.xml"), feedOf(sponsors));
  const zips = cities.map(([city, state, zip, county]) => `${zip},${county},${city},${state}`);
  const areas = cities.map(
    ([, , , county, area], i) => `${10_000 + i},"${area}",${county.slice(0, 2)},${county.slice(2)}`,
  );
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(folder, name), [...lines, ""].join("\n"));
  write("zip-county.csv", zips);
  write("county-cbsa.csv", ["cbsacode,cbsatitle,fipsstatecode,fipscountycode", ...areas]);
  write("notes.txt", ["Downloaded by hand"]);
  write("corrections.ndjson", correctionsOf(sponsors, book));
  return { sponsors, truth: book.truth };
}

/** Returns at least so many pairs of words. Where there are too few words, it makes each of two. */
function combined(count: number, ones: readonly string[], others: readonly string[]) {
  const doubled = (all: readonly string[]) =>
    count > ones.length * others.length
      ? all.flatMap((one) => all.map((other) => `${one}-${other}`))
      : all;
  return doubled(ones).flatMap((one) => doubled(others).map((other) => [one, other] as const));
}

/** Invents sponsors. The second of every tenth pair is a namesake of the first, in another state. */
function inventSponsors(random: Random, size: number): InventedSponsor[] {
  const brands = random.some(size, combined(size, heads, tails)).map((pair) => pair.join(" "));
  const pairs = random.some(size * 3, combined(size * 3, firsts, lasts));
  return brands.map((own, i) => {
    const isNamesake = i % 20 === 1;
    const brand = isNamesake ? brands[i - 1]! : own;
    const place = cities[(i * 5 + Math.floor(i / 6)) % cities.length]!;
    return {
      brand,
      name: `${brand} ${trades[(isNamesake ? i - 1 : i) % trades.length]!}`,
      state: place[1],
      crd: i % 2 === 0 ? String(300_001 + i) : null,
      people: pairs.slice(i * 3, i * 3 + 3),
      address: addressIn(random, place, 100 + i),
    };
  });
}

const addressIn = (
  random: Random,
  [CITY, STATEORCOUNTRY, ZIPCODE]: (typeof cities)[number],
  number: number,
): Cells => ({
  STREET1: `${number} ${random.pick(streets)} Street`,
  STREET2: `Suite ${random.between(100, 900)}`,
  CITY,
  STATEORCOUNTRY,
  ZIPCODE,
});

/** A filing to be written. */
interface Given {
  name: string;
  way: string;
  kind: InventedIssuer["kind"];
  sponsor: InventedSponsor | null;
  address: Cells;
  /** Cells of the related persons; names, roles and clarifications. */
  persons: readonly Cells[];
  /** Cells of the offering. */
  offering: Cells;
  issuer?: Cells;
  recipients?: readonly Cells[];
  isTest?: boolean;
}

interface ReportedFund {
  name: string;
  /** File number of its Form D, if the adviser reports it. */
  fileNumber: string | null;
}

type Book = ReturnType<typeof openBook>;

/** Opens the book of filings, which numbers issuers, filings and offerings. */
function openBook(random: Random) {
  const quarters = new Map<string, QuarterRows[]>();
  const truth = new Map<string, InventedIssuer>();
  /** Funds that advisers report, by CRD number. */
  const funds = new Map<string, ReportedFund[]>();
  let issuers = 0;
  let filed = 0;
  let named = 0;
  const put = (quarter: number, rows: QuarterRows) => {
    const name = ["2025q3", "2025q4", "2026q1", "2026q2"][quarter]!;
    quarters.getOrInsertComputed(name, () => []).push(rows);
  };
  return {
    truth,
    funds,
    /** Returns a name of a property. */
    property(): string {
      const number = named++;
      const estate = estates[number % estates.length]!;
      const tail = tails[Math.floor(number / estates.length) % tails.length]!;
      return `${estate} ${tail} ${random.pick(buildings)}`;
    },
    quarters: () => [...quarters].sort(([a], [b]) => (a < b ? -1 : 1)),
    /** Files an offering, sometimes amended in a later quarter. Returns the CIK and file number of its issuer. */
    file(given: Given): { cik: string; fileNumber: string } {
      const cik = String(1_900_000 + ++issuers).padStart(10, "0");
      const fileNumber = `021-${500_000 + issuers}`;
      if (given.isTest !== true)
        truth.set(cik, { kind: given.kind, way: given.way, sponsor: given.sponsor });
      const isAmended = random.chance(measured.amended);
      const first = random.below(isAmended ? 3 : 4);
      const offered = random.between(10, 400) * 100_000;
      const sold = Math.floor(offered * random.pick([0, 0.25, 0.5, 1]));
      const write = (quarter: number, previous: string, sold: number): string => {
        // The prefix of an accession number is the agent's that filed it, not the issuer's.
        const agent = random.chance(measured.filedByAgent) ? "0001999901" : cik;
        const accession = `${agent}-${quarter < 2 ? 25 : 26}-${String(++filed).padStart(6, "0")}`;
        const version = { quarter, accession, previous, cik, fileNumber, offered, sold };
        put(quarter, cellsOf(random, given, version));
        return accession;
      };
      const accession = write(first, "", sold);
      if (isAmended) write(random.between(first + 1, 3), accession, offered);
      return { cik, fileNumber };
    },
  };
}

interface Version {
  quarter: number;
  accession: string;
  previous: string;
  cik: string;
  fileNumber: string;
  offered: number;
  sold: number;
}

const months = ["JUL AUG SEP", "OCT NOV DEC", "JAN FEB MAR", "APR MAY JUN"].map(words);

function cellsOf(random: Random, given: Given, version: Version): QuarterRows {
  const { accession, quarter, previous, cik, fileNumber, offered, sold } = version;
  const { address } = given;
  const year = quarter < 2 ? 2025 : 2026;
  const isIndefinite = given.kind !== "project" && random.chance(measured.indefinite);
  const home = { ...address, STREET1: `${random.between(1, 99)} Home Lane`, STREET2: "" };
  return rowsOf(accession, {
    FORMDSUBMISSION: {
      FILE_NUM: fileNumber.padEnd(25),
      FILING_DATE: `${String(random.between(1, 28)).padStart(2, "0")}-${random.pick(months[quarter]!)}-${year}`,
      SCHEMAVERSION: "X0708",
      SUBMISSIONTYPE: previous === "" ? "D" : "D/A",
      TESTORLIVE: given.isTest === true ? "TEST" : "LIVE",
    },
    ISSUERS: {
      IS_PRIMARYISSUER_FLAG: "YES",
      ISSUER_SEQ_KEY: "1",
      CIK: cik,
      ENTITYNAME: given.name,
      ...address,
      ...(random.chance(measured.badCity) && { CITY: "SUITE 290" }),
      ISSUERPHONENUMBER: "555-555-0100",
      JURISDICTIONOFINC: "DELAWARE",
      ISSUER_PREVIOUSNAME_1: "None",
      ENTITYTYPE: "Limited Liability Company",
      YEAROFINC_TIMESPAN_CHOICE: "withinFiveYears",
      YEAROFINC_VALUE_ENTERED: "2025",
      ...given.issuer,
    },
    OFFERING: {
      FEDERALEXEMPTIONS_ITEMS_LIST: random.pick(["06b", "06c"]),
      ISAMENDMENT: String(previous !== ""),
      PREVIOUSACCESSIONNUMBER: previous,
      SALE_DATE: sold > 0 ? `${year}-0${random.between(1, 6)}-15` : "",
      YETTOOCCUR: sold > 0 ? "" : "true",
      ISEQUITYTYPE: "true",
      MINIMUMINVESTMENTACCEPTED: "25000",
      TOTALOFFERINGAMOUNT: isIndefinite ? "Indefinite" : String(offered),
      TOTALAMOUNTSOLD: `${sold}.00`,
      TOTALREMAINING: isIndefinite ? "Indefinite" : String(offered - sold),
      HASNONACCREDITEDINVESTORS: "false",
      TOTALNUMBERALREADYINVESTED: String(random.below(90)),
      ...given.offering,
    },
    RELATEDPERSONS: given.persons.map((cells, i) => ({
      RELATEDPERSON_SEQ_KEY: String(i + 1),
      RELATIONSHIP_1: "Executive Officer",
      ...home,
      ...cells,
      RELATIONSHIPCLARIFICATION: (cells["RELATIONSHIPCLARIFICATION"] ?? "").replace(
        " of ",
        random.pick([" of ", " of ", " of  ", " of\u00a0"]),
      ),
    })),
    RECIPIENTS: (given.recipients ?? []).map((cells) => ({
      RECIPIENT_SEQ_KEY: "1",
      RECIPIENTCRDNUMBER: "None",
      ASSOCIATEDBDNAME: "None",
      ...cells,
    })),
    SIGNATURES: {
      SIGNATURE_SEQ_KEY: "1",
      ISSUERNAME: given.name,
      SIGNATURENAME: "/s/ signed",
      NAMEOFSIGNER: random.chance(measured.signedByOther)
        ? `${random.pick(firsts)} ${random.pick(lasts)}`
        : given.persons
            .map(({ FIRSTNAME, LASTNAME }) => `${FIRSTNAME} ${LASTNAME}`)
            .find((name) => !name.includes("LLC"))!,
      SIGNATURETITLE: "Authorized Signatory",
    },
  });
}

const personCells = ([first, last]: readonly [string, string], clarification = ""): Cells => ({
  FIRSTNAME: first,
  LASTNAME: last,
  RELATIONSHIPCLARIFICATION: clarification,
});

const entityCells = (random: Random, firm: string, RELATIONSHIPCLARIFICATION: string): Cells => ({
  FIRSTNAME: random.pick(placeholders),
  LASTNAME: firm,
  RELATIONSHIP_1: "Promoter",
  RELATIONSHIPCLARIFICATION,
});

const residential = { INDUSTRYGROUPTYPE: "Residential" };
const commercial = { INDUSTRYGROUPTYPE: "Commercial" };
const pooled = {
  INDUSTRYGROUPTYPE: "Pooled Investment Fund",
  INVESTMENTFUNDTYPE: "Other Investment Fund",
  ISPOOLEDINVESTMENTFUNDTYPE: "true",
};

/** Spells a firm's name as one of the ways in which filings do. */
const spelt = (random: Random, name: string, suffix: string) => {
  const whole = random.pick([`${name}, ${suffix}`, `${name} ${suffix}`]);
  return random.chance(0.4) ? whole.toUpperCase() : whole;
};

/** Files offerings of a sponsor: each names it in another way. */
function fileSponsor(random: Random, book: Book, sponsor: InventedSponsor): void {
  const { brand, name, address, people, crd } = sponsor;
  const firm = () => spelt(random, name, "LLC");
  const persons = people.map((person) => personCells(person));
  const [one, two] = people as [(typeof people)[number], (typeof people)[number]];
  const file = (way: string, kind: "fund" | "project", given: Partial<Given> & { name: string }) =>
    book.file({
      way,
      kind,
      sponsor,
      address,
      persons,
      offering: kind === "fund" ? pooled : random.pick([residential, commercial]),
      ...given,
    });
  const project = () => `${book.property()}, LLC`;
  /** The persons of a fund, most often with its own general partner. */
  const withPartner = () =>
    random.chance(measured.ownPartner)
      ? [...persons, entityCells(random, `${brand} GP, LLC`, "General Partner of the Issuer")]
      : persons;

  if (crd !== null) {
    const funds: ReportedFund[] = [];
    book.funds.set(crd, funds);
    for (let number = 1; number <= random.between(1, 3); number++) {
      const fund = `${brand} Real Estate Fund ${"I".repeat(number)}, LP`;
      funds.push({
        name: fund,
        fileNumber: file("file_number", "fund", { name: fund, persons: withPartner() }).fileNumber,
      });
    }
    const fund = `${brand} ${random.pick(["Income", "Value-Add"])} Fund, LP`;
    file("fund_name", "fund", {
      name: fund,
      persons: withPartner(),
      offering: { ...pooled, FEDERALEXEMPTIONS_ITEMS_LIST: "06b,3C,3C.5" },
    });
    funds.push({ name: fund.toUpperCase(), fileNumber: null });
  }
  file("text", "project", {
    name: project(),
    persons: [
      personCells(one, `President of ${firm()}, the Manager of the Issuer`),
      personCells(two),
    ],
  });
  const estate = book.property();
  file("chain", "project", {
    name: `${estate} LLC`,
    persons: [
      personCells(
        one,
        `Manager of ${firm()}, the Manager of ${estate} Manager, LLC, the Manager of the Issuer`,
      ),
      entityCells(random, `${estate} Manager, LLC`, "Manager"),
    ],
  });
  const [first, last] = random.pick<readonly [string, string]>([
    ...placeholders.map((placeholder) => [placeholder, `${name}, LLC`] as const),
    ["LLC", `${name},`],
    [`${name},`, "LLC"],
    [`${name}, LLC`, `${name}, LLC`],
  ]);
  file("entity", random.pick(["fund", "project"]), {
    name: `${book.property()} ${random.pick(["Partners", "Investors", "Owner"])}, LLC`,
    persons: [
      {
        FIRSTNAME: first,
        LASTNAME: last,
        RELATIONSHIP_1: random.pick(["Promoter", "Executive Officer"]),
        RELATIONSHIPCLARIFICATION: random.pick([
          "Manager",
          "Sponsor",
          "Managing Member of the Issuer",
        ]),
      },
      personCells(one),
    ],
  });
  if (random.chance(0.5))
    file("care_of", "project", {
      name: project(),
      issuer: { STREET1: `C/O ${firm()}`, STREET2: Object.values(address).slice(0, 2).join(", ") },
    });
  if (random.chance(0.5))
    file("series", "fund", {
      name: `${book.property()}, a series of ${name} Holdings, LLC`,
      offering: residential,
    });
  if (random.chance(0.5)) file("cluster", "project", { name: project() });
  if (random.chance(0.2))
    file("accommodation", "fund", {
      name: `${brand} REIT, Inc.`,
      persons: [personCells(one, `Manager of ${firm()}, the Manager of the Issuer`)],
      offering: {
        INDUSTRYGROUPTYPE: "REITS and Finance",
        TOTALOFFERINGAMOUNT: "125000",
        TOTALAMOUNTSOLD: "125000",
        TOTALREMAINING: "0",
        MINIMUMINVESTMENTACCEPTED: "1000",
        TOTALNUMBERALREADYINVESTED: "125",
      },
      recipients: [{ RECIPIENTNAME: realFirms.accommodation }],
    });
}

/** Files offerings of real estate in which nothing names a sponsor. */
function fileNobodies(random: Random, book: Book, count: number): void {
  const strangers = () => [random.pick(firsts), random.pick(lasts)] as const;
  for (let i = 0; i < count; i++) {
    const address = addressIn(random, random.pick(cities), 1000 + i);
    const persons = [personCells(strangers()), personCells(strangers())];
    const property = book.property();
    const file = (way: string, given: Partial<Given>, kind: "fund" | "project" = "project") =>
      book.file({
        way,
        kind,
        name: `${property}, LLC`,
        sponsor: null,
        address,
        persons,
        offering: random.pick([residential, commercial]),
        ...given,
      });
    const way = i % 20;
    if (way < 8) file("persons", {});
    else if (way < 11) {
      // The owner of several houses, each in a company called by its street.
      file("streets", { name: `${random.between(10, 999)} ${random.pick(streets)} Street LLC` });
      if (way === 8)
        file("streets", { name: `${random.between(10, 999)} ${random.pick(streets)} Ave, LLC` });
    } else if (way < 14)
      file("deal", {
        persons: [entityCells(random, `${property} Manager, LLC`, "Manager"), ...persons],
      });
    else if (way < 16)
      file("agent", {
        persons: [
          ...persons,
          { FIRSTNAME: "N/A", LASTNAME: realFirms.agent, RELATIONSHIP_1: "Promoter" },
        ],
        recipients: [{ RECIPIENTNAME: realFirms.agent }],
      });
    else if (way < 17)
      file("registered", {
        issuer: { STREET1: `C/O ${realFirms.registered}`, STREET2: address["STREET1"]! },
      });
    else if (way < 18)
      file("platform", { name: `${property}, a series of ${realFirms.platform}` }, "fund");
    else if (way < 19)
      // Each has a company of his own, and they meet in one that exists for the deal alone.
      file("own_companies", {
        persons: [strangers(), strangers()].map((person) =>
          personCells(
            person,
            `Manager of ${person.join(" ")} Holdings, LLC, a Manager of ${property} Manager, LLC, the Manager of the Issuer`,
          ),
        ),
      });
    else {
      const fund = [...book.funds.values()][i % book.funds.size]!.at(-1)!;
      // Bears the name of an adviser's fund, and shares nothing else with it.
      file(
        "fund_namesake",
        {
          name: fund.name,
          address: { ...address, CITY: "Boise", STATEORCOUNTRY: "ID", ZIPCODE: "83702" },
          offering: { ...pooled, FEDERALEXEMPTIONS_ITEMS_LIST: "06b,3C,3C.5" },
        },
        "fund",
      );
    }
  }
}

/** Files offerings that are no real estate, and tests of EDGAR. */
function fileOthers(random: Random, book: Book, count: number): void {
  const fund = (INVESTMENTFUNDTYPE: string) => ({ ...pooled, INVESTMENTFUNDTYPE });
  const kinds: readonly (readonly [string, Cells])[] = [
    ["Robotics, Inc.", { INDUSTRYGROUPTYPE: "Other Technology" }],
    ["Therapeutics, Inc.", { INDUSTRYGROUPTYPE: "Biotechnology" }],
    ["Drilling Program, LP", { INDUSTRYGROUPTYPE: "Oil and Gas" }],
    ["Restaurants, LLC", { INDUSTRYGROUPTYPE: "Restaurants" }],
    ["Ventures Fund II, LP", fund("Venture Capital Fund")],
    ["Global Macro Offshore, Ltd.", fund("Hedge Fund")],
    ["Property Software, Inc.", { INDUSTRYGROUPTYPE: "Other Technology" }],
  ];
  for (let i = 0; i < count; i++) {
    const [ending, offering] = kinds[i % kinds.length]!;
    const estate = random.pick(estates);
    const isFund = offering["INDUSTRYGROUPTYPE"] === pooled.INDUSTRYGROUPTYPE;
    const partner = `${estate} Capital GP, LLC`;
    book.file({
      way: "other",
      kind: "out",
      name: `${estate} ${ending}`,
      sponsor: null,
      address: addressIn(random, random.pick(cities), 5000 + i),
      persons: [
        personCells([random.pick(firsts), random.pick(lasts)], "Director"),
        ...(isFund ? [entityCells(random, partner, "General Partner")] : []),
      ],
      offering,
      isTest: i % 30 === 29,
    });
  }
}

/** Returns the members of an archive of Form ADV: registered advisers, and every fourth as one that reports as exempt. */
function advMembers(random: Random, sponsors: readonly InventedSponsor[], book: Book) {
  const tables = (isExempt: boolean) => {
    const own = sponsors.filter(({ crd }, i) => crd !== null && (i % 8 === 6) === isExempt);
    // Advisers of other assets, one of which has quotes in its fund's name that are not doubled.
    const others = isExempt
      ? []
      : estates.slice(0, 10).map((estate, i) => ({ estate, id: 900_001 + i }));
    const funds = own.flatMap(({ crd, brand }) =>
      book.funds
        .get(crd!)!
        .map((fund, i) => ({ ...fund, brand, ids: `2${crd}|${crd}${i}`, id: `${crd}${i}` })),
    );
    const prefix = isExempt ? "802" : "801";
    return advTables(isExempt ? "ERA" : "IA", "_20260701_20260731", {
      ADV_Base_A: [
        ...own.map(({ crd, name, address }) => {
          const names = `${name}, LLC|${name}`.toUpperCase();
          const { STREET1, STREET2, CITY, STATEORCOUNTRY, ZIPCODE } = address;
          const place = `${STREET1}|${STREET2}|${CITY}|${STATEORCOUNTRY}|United States|${ZIPCODE}`;
          return `2${crd}|10/2021|07/10/2026 04:20:33 PM|${names}|N||||${prefix}-${crd}|${crd}|${place}||||${random.between(50, 900)}000000|Y`;
        }),
        ...others.map(
          ({ id, estate }) =>
            `2${id}|10/2021|07/11/2026 10:00:00 AM|${estate} WEALTH PLANNING, INC.||N||||801-${id}|${id}|9 High Street||Boston|MA|United States|02110||||120000000|Y`,
        ),
      ],
      Schedule_A_B: own.flatMap(({ crd, people }) =>
        people.map(([first, last], i) => {
          const title =
            i === 0 ? "MANAGING MEMBER|09/2012|E|Y" : "CHIEF OPERATING OFFICER|01/2019|NA|N";
          return `2${crd}|Y|A|${last}, ${first}, |I||${title}|N|${crd}${i}`.toUpperCase();
        }),
      ),
      Schedule_D_7B1: [
        ...funds.map(({ ids, id, name }) => {
          const [filing, reference] = ids.split("|");
          return `${filing}|${name}|805-${id}|${reference}|DE|United States|Y|N|N|N|||REAL ESTATE FUND||${random.between(5, 90)}000000|50000`;
        }),
        ...others.map(
          ({ id, estate }, i) =>
            `2${id}|${i === 0 ? `THE "OLD" ${estate}` : estate} VENTURE FUND, LP|805-9${id}|9${id}|DE|United States|Y|N|N|N|||Venture Capital Fund||7000000|0`,
        ),
      ],
      Schedule_D_7B1A3a: funds.map(({ ids, brand }) => `${ids}|${brand.toUpperCase()} GP, LLC`),
      Schedule_D_7B1A22: funds.flatMap(({ ids, fileNumber }) =>
        fileNumber === null ? [] : `${ids}|${fileNumber}`,
      ),
    });
  };
  return { ...tables(false), ...tables(true) };
}

/** Returns a feed of the advisers, every third with a later filing, and of firms that no filing names. */
function feedOf(sponsors: readonly InventedSponsor[]): Buffer {
  const advisers = sponsors.filter(({ crd }) => crd !== null);
  const fed = advisers.map(({ crd, name, brand, address }, i) => ({
    Info: `FirmCrdNb="${crd}" SECNb="801-${crd}" BusNm="${name.toUpperCase()}" LegalNm="${name.toUpperCase()}, LLC"`,
    MainAddr: `City="${address["CITY"]}" State="${address["STATEORCOUNTRY"]}" Cntry="United States" PostlCd="${address["ZIPCODE"]}"`,
    Filing: `Dt="2026-07-${i % 3 === 1 ? 12 : 10}"`,
    Item5F: `Q5F2C="${100 + i}000000"`,
    sites: [
      "HTTPS://WWW.LINKEDIN.COM/COMPANY/X",
      `HTTP://WWW.${brand.toUpperCase().replaceAll(" ", "")}.EXAMPLE`,
    ],
  }));
  const others = estates.map((estate, i) => ({
    Info: `FirmCrdNb="${800_001 + i}" LegalNm="${estate.toUpperCase()} REAL ESTATE ADVISERS, INC."`,
    MainAddr: 'City="BOSTON" State="MA" Cntry="United States" PostlCd="02110"',
    Filing: 'Dt="2026-03-31"',
  }));
  return firmFeed("2026-07-13", [...fed, ...others]);
}

/** Corrects a GP's name, gives one a vehicle, and means nobody once. Notes what they change in the truth. */
function correctionsOf(sponsors: readonly InventedSponsor[], { truth }: Book): string[] {
  const adviser = sponsors.find(({ crd }) => crd !== null)!;
  const gp = `crd:${adviser.crd}`;
  const [cik, issuer] = [...truth].find(([, { way }]) => way === "persons")!;
  truth.set(cik, { ...issuer, way: "corrected", sponsor: adviser });
  const lines = [
    { gp, is: `${adviser.brand} Holdings`, why: "Its letterhead says so" },
    { cik, gp, why: "Its manager wrote to us" },
    { gp: "crd:1", is: "Nobody", why: "Meets nothing" },
  ];
  return lines.map((line) => JSON.stringify(line));
}

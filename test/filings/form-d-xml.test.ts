import assert from "node:assert/strict";
import test from "node:test";
import { readFormDXml } from "#filings/form-d.ts";
import { openPlaces } from "#filings/places.ts";
import type { FormD } from "#filings/rows.ts";
import { filingOf, person } from "../sponsors/form-d.ts";
import { formDXml, submission } from "./submission.ts";

const placeOf = openPlaces("salt");
const accession = "0001700001-26-000007";
const barePath = `filings/${accession.replaceAll("-", "")}/primary_doc.xml`;

const feedHeader = `<SUBMISSION>
<ACCESSION-NUMBER>${accession}
<FILING-DATE>20260701
<DATE-OF-FILING-DATE-CHANGE>20260702
<FILER>
<CIK>0001700001
<ASSIGNED-SIC>6500
<FILE-NUMBER>021-999999
</FILER>
<XML>
`;
const envelope = `-----BEGIN PRIVACY-ENHANCED MESSAGE-----
MIC-Info: RSA-MD5,RSA,
 a1B2=

`;

const read = (written: string, file = "one.txt") =>
  readFormDXml(Buffer.from(written), { file, line: 1 }, placeOf);

const filed = (given: Parameters<typeof formDXml>[0]) =>
  submission(accession, "D", formDXml(given));

test("a submission gives its filing, with number, date and SIC code of the primary issuer's header, and without a street or phone number", () => {
  const filing = read(submission(accession)) as FormD;
  const { issuers, ...facts } = filing;
  const adaMoss = person("Ada", "Moss", "President of Alder Capital, the Manager", {
    roles: ["executive_officer", "promoter"],
    firmInStreet: "Alder Management LLC",
  });
  const { issuers: _, ...expected } = filingOf({
    name: "",
    accession,
    fileNumber: "021-999999",
    filedOn: "2026-07-01",
    sicCode: "6500",
    previousAccession: "0001700001-25-000003",
    persons: [adaMoss],
    recipients: [{ name: "Pine Placement", broker: null }],
    signatures: [{ signer: "Ada Moss", title: "Manager" }],
    industry: "Pooled Investment Fund",
    fundType: "Private Equity Fund",
    isPooledTicked: true,
    exemptions: ["06c", "3C.5"],
    firstSaleOn: "2025-02-03",
    isIndefinite: true,
    soldUsd: 1_200_000,
    minimumUsd: 50_000,
    investorCount: 12,
    allowsNonAccredited: true,
    origin: { file: "one.txt", line: 1 },
  });
  assert.deepEqual(facts, expected);
  assert.deepEqual(
    issuers.map(({ cik, name, previousNames }) => [cik, name, previousNames]),
    [
      ["0001700001", "Larch Street & Co, LLC", ["Old Larch LLC"]],
      ["0001700002", "Larch Street TIC, LLC", ["Old Larch LLC"]],
    ],
  );
  assert.doesNotMatch(JSON.stringify(filing), /Birch Street|Suite 4|555-0100/i);
});

test("a feed, a mail envelope and a bare document say the same, but for what only a header has", () => {
  const full = read(submission(accession));
  assert.deepEqual(read(`${feedHeader}${formDXml()}`), full);
  assert.deepEqual(read(`${envelope}${submission(accession)}`), full);
  const bare = read(`\n<?xml version="1.0"?>\n${formDXml()}`, barePath);
  assert.deepEqual(bare, {
    ...(full as FormD),
    fileNumber: null,
    filedOn: null,
    sicCode: null,
    origin: { file: barePath, line: 1 },
  });
});

test("what is no live Form D, or cannot be cited, is left out with its reason", () => {
  assert.equal(read(filed({ testOrLive: "TEST" })), "test");
  assert.equal(read(filed({ type: "C" })), "other_form");
  assert.equal(read(submission(accession, "D", "<html>an annual report</html>")), "other_form");
  assert.equal(read(formDXml(), "bare.xml"), "no_accession");
  assert.equal(
    read(formDXml().replaceAll(/<entityName>.*?<\/entityName>/g, ""), barePath),
    "no_issuer",
  );
});

const refusals = [
  [
    "has a tag that is not closed",
    filed({ persons: "<relatedPersonInfo>" }),
    /^one\.txt:\d+: is not well-formed XML: unexpected close tag; download it again$/,
  ],
  [
    "uses an entity of its own",
    filed({ persons: "<a>&grow;</a>" }),
    /^one\.txt:\d+: is not well-formed XML: undefined entity; download it again$/,
  ],
  [
    "nests without end",
    filed({ persons: "<a>".repeat(5_000) }),
    /elements are nested more than 20 deep/,
  ],
  [
    "is larger than any",
    filed({ persons: " ".repeat(4 * 1024 * 1024) }),
    /^one\.txt: has more than 4194304 bytes, which no Form D has; take it out of the folder$/,
  ],
] as const;

for (const [what, written, message] of refusals)
  test(`a filing that ${what} is refused with its file, its line and the next step`, () => {
    assert.throws(() => read(written), { name: "ImportFault", message });
  });

import assert from "node:assert/strict";
import test from "node:test";
import { readFormDXml } from "#filings/form-d.ts";
import { openPlaces } from "#filings/places.ts";
import type { FormD } from "#filings/rows.ts";

const placeOf = openPlaces("salt");
const accession = "0001900001-26-000007";
const barePath = `filings/${accession.replaceAll("-", "")}/primary_doc.xml`;

const address = (street: string) => `<street1>${street}</street1><street2>Suite 4</street2>
  <city>Quarry Bend</city><stateOrCountry>TX</stateOrCountry><zipCode>75201</zipCode>`;
const issuer = (cik: string, name: string) => `<cik>${cik}</cik><entityName>${name}</entityName>
  <issuerAddress>${address("9 Alder Street")}</issuerAddress><issuerPhoneNumber>214-555-0100</issuerPhoneNumber>
  <issuerPreviousNameList><previousName>None</previousName></issuerPreviousNameList>
  <edgarPreviousNameList><previousName>Quarry Bend  Old LLC</previousName></edgarPreviousNameList>
  <entityType>Limited Liability Company</entityType>`;

const document = ({ type = "D", testOrLive = "LIVE", persons = "" } = {}) =>
  `<edgarSubmission><submissionType>${type}</submissionType><testOrLive>${testOrLive}</testOrLive>
  <primaryIssuer>${issuer("0001900001", "Quarry Bend Apartments &amp; Co, LLC")}</primaryIssuer>
  <issuerList><issuer>${issuer("1900002", "Quarry Bend TIC, LLC")}</issuer></issuerList>
  <relatedPersonsList><relatedPersonInfo><relatedPersonName><firstName>Ada</firstName><middleName></middleName>
  <lastName>Moss</lastName></relatedPersonName><relatedPersonAddress>${address("C/O Alder Management LLC")}</relatedPersonAddress>
  <relatedPersonRelationshipList><relationship>Executive Officer</relationship><relationship>Promoter</relationship></relatedPersonRelationshipList>
  <relationshipClarification>President of Alder Capital,
    the  Manager</relationshipClarification></relatedPersonInfo>${persons}</relatedPersonsList>
  <offeringData><industryGroup><industryGroupType>Pooled Investment Fund</industryGroupType>
  <investmentFundInfo><investmentFundType>Private Equity Fund</investmentFundType></investmentFundInfo></industryGroup>
  <federalExemptionsExclusions><item>06c</item><item>3C.5</item></federalExemptionsExclusions>
  <typeOfFiling><newOrAmendment><isAmendment>true</isAmendment><previousAccessionNumber>0001900001-25-000003</previousAccessionNumber></newOrAmendment>
  <dateOfFirstSale><value>2025-02-03</value></dateOfFirstSale></typeOfFiling>
  <typesOfSecuritiesOffered><isPooledInvestmentFundType>true</isPooledInvestmentFundType></typesOfSecuritiesOffered>
  <minimumInvestmentAccepted>50000</minimumInvestmentAccepted>
  <salesCompensationList><recipient><recipientName>Pine Placement</recipientName><recipientCRDNumber>000120708</recipientCRDNumber>
  <associatedBDName>None</associatedBDName></recipient></salesCompensationList>
  <offeringSalesAmounts><totalOfferingAmount>Indefinite</totalOfferingAmount><totalAmountSold>1200000.40</totalAmountSold>
  <totalRemaining>Indefinite</totalRemaining></offeringSalesAmounts>
  <investors><hasNonAccreditedInvestors>true</hasNonAccreditedInvestors><totalNumberAlreadyInvested>12</totalNumberAlreadyInvested></investors>
  <signatureBlock><signature><issuerName>Quarry Bend TIC, LLC</issuerName><nameOfSigner>Ada Moss</nameOfSigner>
  <signatureTitle>Manager</signatureTitle></signature></signatureBlock></offeringData></edgarSubmission>`;

const keyHeader = `<SEC-DOCUMENT>${accession}.txt : 20260701
<SEC-HEADER>${accession}.hdr.sgml : 20260701
ACCESSION NUMBER:\t\t${accession}
FILED AS OF DATE:\t\t20260630
DATE AS OF CHANGE:\t\t20260701
FILER:
\tCOMPANY DATA:
\t\tCENTRAL INDEX KEY:\t\t0001900002
\tFILING VALUES:
\t\tSEC FILE NUMBER:\t021-500001-01
FILER:
\tCOMPANY DATA:
\t\tCENTRAL INDEX KEY:\t\t0001900001
\t\tSTANDARD INDUSTRIAL CLASSIFICATION:\tREAL ESTATE [6500]
\tFILING VALUES:
\t\tSEC FILE NUMBER:\t021-500001
</SEC-HEADER>
<DOCUMENT>
<TEXT>
<XML>

<?xml version="1.0"?>
`;
const feedHeader = `<SUBMISSION>
<ACCESSION-NUMBER>${accession}
<FILING-DATE>20260630
<DATE-OF-FILING-DATE-CHANGE>20260701
<FILER>
<CIK>0001900001
<ASSIGNED-SIC>6500
<FILE-NUMBER>021-500001
</FILER>
<XML>
`;
const envelope = `-----BEGIN PRIVACY-ENHANCED MESSAGE-----
MIC-Info: RSA-MD5,RSA,
 a1B2=

`;

const read = (written: string, file = "one.txt") =>
  readFormDXml(Buffer.from(written), { file, line: 1 }, placeOf);

test("a submission gives its filing, with number, date and SIC code of the primary issuer's header, and without a street or phone number", () => {
  const filing = read(`${keyHeader}${document()}\n</XML>`) as FormD;
  const { persons, issuers, origin: _, ...facts } = filing;
  assert.deepEqual(facts, {
    accession,
    type: "D",
    fileNumber: "021-500001",
    filedOn: "2026-06-30",
    sicCode: "6500",
    previousAccession: "0001900001-25-000003",
    recipients: [{ name: "Pine Placement", broker: null }],
    signatures: [{ signer: "Ada Moss", title: "Manager" }],
    industry: "Pooled Investment Fund",
    fundType: "Private Equity Fund",
    isPooledTicked: true,
    isTenantInCommonTicked: false,
    exemptions: ["06c", "3C.5"],
    firstSaleOn: "2025-02-03",
    isIndefinite: true,
    offeredUsd: null,
    soldUsd: 1_200_000,
    remainingUsd: null,
    minimumUsd: 50_000,
    investorCount: 12,
    allowsNonAccredited: true,
    amountNote: null,
  });
  assert.deepEqual(
    issuers.map(({ cik, name, previousNames }) => [cik, name, previousNames]),
    [
      ["0001900001", "Quarry Bend Apartments & Co, LLC", ["Quarry Bend Old LLC"]],
      ["0001900002", "Quarry Bend TIC, LLC", ["Quarry Bend Old LLC"]],
    ],
  );
  assert.deepEqual(persons, [
    {
      first: "Ada",
      middle: null,
      last: "Moss",
      roles: ["executive_officer", "promoter"],
      clarification: "President of Alder Capital, the Manager",
      firmInStreet: "Alder Management LLC",
    },
  ]);
  assert.doesNotMatch(JSON.stringify(filing), /Alder Street|Suite 4|555-0100/i);
});

test("a feed, a mail envelope and a bare document say the same, but for what only a header has", () => {
  const full = read(`${keyHeader}${document()}`);
  assert.deepEqual(read(`${feedHeader}${document()}`), full);
  assert.deepEqual(read(`${envelope}${keyHeader}${document()}`), full);
  const bare = read(`\n<?xml version="1.0"?>\n${document()}`, barePath);
  assert.deepEqual(bare, {
    ...(full as FormD),
    fileNumber: null,
    filedOn: null,
    sicCode: null,
    origin: { file: barePath, line: 1 },
  });
});

test("what is no live Form D, or cannot be cited, is left out with its reason", () => {
  assert.equal(read(`${keyHeader}${document({ testOrLive: "TEST" })}`), "test");
  assert.equal(read(`${keyHeader}${document({ type: "C" })}`), "other_form");
  assert.equal(read(`${keyHeader}<html>an annual report</html>`), "other_form");
  assert.equal(read(document(), "bare.xml"), "no_accession");
  assert.equal(
    read(document().replaceAll(/<entityName>.*?<\/entityName>/g, ""), barePath),
    "no_issuer",
  );
});

const refusals = [
  [
    "has a tag that is not closed",
    `${keyHeader}${document({ persons: "<relatedPersonInfo>" })}`,
    /^one\.txt:\d+: is not well-formed XML: unexpected close tag; download it again$/,
  ],
  [
    "uses an entity of its own",
    `${keyHeader}${document({ persons: "<a>&grow;</a>" })}`,
    /^one\.txt:\d+: is not well-formed XML: undefined entity; download it again$/,
  ],
  [
    "nests without end",
    `${keyHeader}${document({ persons: "<a>".repeat(5_000) })}`,
    /elements lie more than 20 deep/,
  ],
  [
    "is larger than any",
    `${keyHeader}${document({ persons: " ".repeat(4 * 1024 * 1024) })}`,
    /^one\.txt: has more than 4194304 bytes, which no Form D has; take it out of the folder$/,
  ],
] as const;

for (const [what, written, message] of refusals)
  test(`a filing that ${what} is refused with its file, its line and the next step`, () => {
    assert.throws(() => read(written), { name: "ImportFault", message });
  });

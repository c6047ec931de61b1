/** A Form D as EDGAR keeps it, written for a test. */

const address = (street: string) =>
  `<street1>${street}</street1><street2>Suite 4</street2><city>Reno</city><stateOrCountry>NV</stateOrCountry><zipCode>89501</zipCode>`;

const issuer = (cik: string, name: string) => `<cik>${cik}</cik><entityName>${name}</entityName>
  <issuerAddress>${address("9 Birch Street")}</issuerAddress><issuerPhoneNumber>214-555-0100</issuerPhoneNumber>
  <issuerPreviousNameList><previousName>None</previousName></issuerPreviousNameList>
  <edgarPreviousNameList><previousName>Old  Larch LLC</previousName></edgarPreviousNameList>
  <entityType>Limited Liability Company</entityType>`;

/** Returns the document of a filing. @param persons markup behind the first related person. */
export const formDXml = ({ type = "D", testOrLive = "LIVE", persons = "" } = {}) =>
  `<edgarSubmission><submissionType>${type}</submissionType><testOrLive>${testOrLive}</testOrLive>
  <primaryIssuer>${issuer("0001700001", "Larch Street &amp; Co, LLC")}</primaryIssuer>
  <issuerList><issuer>${issuer("1700002", "Larch Street TIC, LLC")}</issuer></issuerList>
  <relatedPersonsList><relatedPersonInfo><relatedPersonName><firstName>Ada</firstName><middleName></middleName>
  <lastName>Moss</lastName></relatedPersonName><relatedPersonAddress>${address("C/O Alder Management LLC")}</relatedPersonAddress>
  <relatedPersonRelationshipList><relationship>Executive Officer</relationship><relationship>Promoter</relationship></relatedPersonRelationshipList>
  <relationshipClarification>President of Alder Capital,
    the  Manager</relationshipClarification></relatedPersonInfo>${persons}</relatedPersonsList>
  <offeringData><industryGroup><industryGroupType>Pooled Investment Fund</industryGroupType>
  <investmentFundInfo><investmentFundType>Private Equity Fund</investmentFundType></investmentFundInfo></industryGroup>
  <federalExemptionsExclusions><item>06c</item><item>3C.5</item></federalExemptionsExclusions>
  <typeOfFiling><newOrAmendment><isAmendment>true</isAmendment><previousAccessionNumber>0001700001-25-000003</previousAccessionNumber></newOrAmendment>
  <dateOfFirstSale><value>2025-02-03</value></dateOfFirstSale></typeOfFiling>
  <typesOfSecuritiesOffered><isPooledInvestmentFundType>true</isPooledInvestmentFundType></typesOfSecuritiesOffered>
  <minimumInvestmentAccepted>50000</minimumInvestmentAccepted>
  <salesCompensationList><recipient><recipientName>Pine Placement</recipientName><recipientCRDNumber>000120708</recipientCRDNumber>
  <associatedBDName>None</associatedBDName></recipient></salesCompensationList>
  <offeringSalesAmounts><totalOfferingAmount>Indefinite</totalOfferingAmount><totalAmountSold>1200000.40</totalAmountSold>
  <totalRemaining>Indefinite</totalRemaining></offeringSalesAmounts>
  <investors><hasNonAccreditedInvestors>true</hasNonAccreditedInvestors><totalNumberAlreadyInvested>12</totalNumberAlreadyInvested></investors>
  <signatureBlock><signature><issuerName>Larch Street TIC, LLC</issuerName><nameOfSigner>Ada Moss</nameOfSigner>
  <signatureTitle>Manager</signatureTitle></signature></signatureBlock></offeringData></edgarSubmission>`;

/** A bare `primary_doc.xml`. */
export const primaryDocument = `<?xml version="1.0"?>\n${formDXml()}`;

/** Returns a full submission with its header, in which the primary issuer is the second filer. */
export const submission = (accession: string, form = "D", xml = primaryDocument) =>
  `<SEC-DOCUMENT>${accession}.txt : 20260630
<SEC-HEADER>${accession}.hdr.sgml : 20260630
ACCESSION NUMBER:\t\t${accession}
CONFORMED SUBMISSION TYPE:\t${form}
FILED AS OF DATE:\t\t20260701
DATE AS OF CHANGE:\t\t20260702
FILER:
\tCOMPANY DATA:
\t\tCENTRAL INDEX KEY:\t\t0001700002
\tFILING VALUES:
\t\tSEC FILE NUMBER:\t021-999999-01
FILER:

\tCOMPANY DATA:\t
\t\tCOMPANY CONFORMED NAME:\t\t\tLarch Street & Co, LLC
\t\tCENTRAL INDEX KEY:\t\t\t0001700001
\t\tSTANDARD INDUSTRIAL CLASSIFICATION:\tREAL ESTATE [6500]

\tFILING VALUES:
\t\tFORM TYPE:\t\tD
\t\tSEC FILE NUMBER:\t021-999999
</SEC-HEADER>
<DOCUMENT>
<TYPE>D
<TEXT>
<XML>
${xml}
</XML>
</TEXT>
</DOCUMENT>
</SEC-DOCUMENT>
`;

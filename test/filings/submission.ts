/** A Form D as EDGAR keeps it, written for a test. */

/** Returns a full submission with its header. */
export const submission = (accession: string, form = "D", fileNumber = "021-999999") =>
  [
    "<SEC-DOCUMENT>",
    `<SEC-HEADER>${accession}.hdr.sgml : 20260701`,
    `ACCESSION NUMBER:\t\t${accession}`,
    `CONFORMED SUBMISSION TYPE:\t${form}`,
    "FILED AS OF DATE:\t\t20260701",
    "FILER:",
    "",
    "\tCOMPANY DATA:\t",
    "\t\tCOMPANY CONFORMED NAME:\t\t\tLarch Street LLC",
    "\t\tCENTRAL INDEX KEY:\t\t\t0001700001",
    "",
    "\tFILING VALUES:",
    "\t\tFORM TYPE:\t\tD",
    `\t\tSEC FILE NUMBER:\t${fileNumber}`,
    "</SEC-HEADER>",
    "<DOCUMENT>",
    "<TYPE>D",
    "<TEXT>",
    "<XML>",
    primaryDocument,
    "</XML>",
    "</TEXT>",
    "</DOCUMENT>",
    "</SEC-DOCUMENT>",
    "",
  ].join("\n");

/** A bare `primary_doc.xml`. */
export const primaryDocument = `<?xml version="1.0"?>
<edgarSubmission>
  <schemaVersion>X0708</schemaVersion>
  <submissionType>D</submissionType>
  <testOrLive>LIVE</testOrLive>
  <primaryIssuer><cik>0001700001</cik><entityName>Larch Street LLC</entityName>
    <issuerAddress><street1>1 Larch Street</street1><city>Reno</city><stateOrCountry>NV</stateOrCountry><zipCode>89501</zipCode></issuerAddress>
    <entityType>Limited Liability Company</entityType></primaryIssuer>
  <relatedPersonsList/>
  <offeringData><industryGroup><industryGroupType>Residential</industryGroupType></industryGroup>
    <typeOfFiling><newOrAmendment><isAmendment>false</isAmendment></newOrAmendment><dateOfFirstSale><yetToOccur>true</yetToOccur></dateOfFirstSale></typeOfFiling>
    <offeringSalesAmounts><totalOfferingAmount>100</totalOfferingAmount><totalAmountSold>0</totalAmountSold><totalRemaining>100</totalRemaining></offeringSalesAmounts>
  </offeringData>
</edgarSubmission>`;

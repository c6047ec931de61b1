/** A daily feed of firms, written for a test in the layout of the SEC's. */

/** Attributes of a firm by element, and the addresses of its sites. */
interface FedFirm {
  Info?: string;
  MainAddr?: string;
  Rgstn?: string;
  Filing?: string;
  Item5F?: string;
  sites?: readonly string[];
}

/** Returns the bytes of a feed, in ISO-8859-1. @param day of the feed. */
export function firmFeed(day: string, firms: readonly FedFirm[]): Buffer {
  const lines = firms.map(
    ({ Info, MainAddr, Rgstn, Filing, Item5F, sites = [] }) =>
      `<Firm><Info SECRgnCD="FWRO" ${Info}/><MainAddr Strt1="9 ALDER STREET" Strt2="SUITE 4" ${MainAddr ?? ""} PhNb="214-555-0100"/><Rgstn ${Rgstn ?? 'FirmType="Registered"'} St="APPROVED" Dt="2012-03-30"/><NoticeFiled><States RgltrCd="TX" St="FILED" Dt="2013-01-02"/></NoticeFiled><Filing ${Filing} FormVrsn="10/2021"/><FormInfo><Part1A><Item1 Q1F5="0" Q1I="Y"><WebAddrs>${sites.map((site) => `<WebAddr>${site}</WebAddr>`).join("")}</WebAddrs></Item1><Item5A TtlEmp="8"/><Item5F Q5F1="Y" ${Item5F ?? ""}/></Part1A></FormInfo></Firm>`,
  );
  const text = `<?xml version="1.0" encoding="ISO-8859-1"?>
<IAPDFirmSECReport GenOn="${day}"><Firms>
${lines.join("\n")}
</Firms></IAPDFirmSECReport>
`;
  return Buffer.from(text, "latin1");
}

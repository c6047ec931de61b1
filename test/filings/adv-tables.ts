/** Tables of Form ADV, written for a test in the layout of the SEC's data. */

export const advLayouts = {
  ADV_Base_A:
    "FilingID,FormVersion,DateSubmitted,1A,1B1,1B2,1C-Legal,1C-Business,1C-New Name,1D,1E1,1F1-Street 1,1F1-Street 2,1F1-City,1F1-State,1F1-Country,1F1-Postal,1P,5F2a,5F2b,5F2c,7B",
  Schedule_A_B:
    "FilingID,SchA-3,Schedule,Full Legal Name,DE/FE/I,Entity in Which,Title or Status,Status Acquired,Ownership Code,Control Person,PR,OwnerID",
  Schedule_D_7B1:
    "FilingID,Fund Name,Fund ID,ReferenceID,State,Country,3(c)(1) Exclusion,3(c)(7) Exclusion,Master Fund,Feeder Fund,Master Fund Name,Master Fund ID,Fund Type,Fund Type Other,Gross Asset Value,Minimum Investment",
  Schedule_D_7B1A3a: 'FilingID,ReferenceID,"Name of Partner, etc."',
  Schedule_D_7B1A22: "FilingID,ReferenceID,Form D File Number",
};

type AdvTable = keyof typeof advLayouts;

/** Returns a table of quoted cells. @param rows cells between bars. */
const csvOf = (header: string, rows: readonly string[]) =>
  [header, ...rows.map((row) => `"${row.replaceAll("|", '","')}"`), ""].join("\r\n");

/** Returns the tables by the names of their files. @param rows cells between bars, by table. */
export const advTables = (
  prefix: "IA" | "ERA",
  days: string,
  rows: Partial<Record<AdvTable, readonly string[]>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(rows).map(([table, lines]) => [
      `${prefix}_${table}${days}.csv`,
      csvOf(advLayouts[table as AdvTable], lines),
    ]),
  );

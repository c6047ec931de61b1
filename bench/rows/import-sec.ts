/** How many filings `import sec` reads into typed rows in a second of processor time: from tables of a quarter, and as EDGAR keeps them. */
import { fork } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { submission } from "../../test/filings/submission.ts";
import { unzipped, writtenZip } from "../../test/filings/zip.ts";
import { writeFilingFolder } from "../../test/support/filing-folder.ts";
import { endWithUs } from "../clean-up.ts";
import type { Checkout, Fixtures } from "../fixtures.ts";
import type { Reading, ReadingOrder } from "../read-filings.ts";
import { inOrderOf, openSession, type Session } from "../rounds.ts";
import { messageFrom } from "../servers.ts";
import { median } from "../statistics.ts";

/** How often the invented year is written: 55,000 filings, about as many as a year really has. */
const copies = 16;
const xmlCount = 5000;
const secondsMax = 240;

/** In each round tables and filings, in processes of their own. */
export async function openImportSec(fixtures: Fixtures): Promise<Session> {
  const folders = {
    "import-sec": fixtures.emptyFolder(),
    "import-sec-xml": fixtures.emptyFolder(),
  };
  await writeQuarter(folders["import-sec"], fixtures.emptyFolder());
  writeFilings(folders["import-sec-xml"]);
  const names = Object.keys(folders) as (keyof typeof folders)[];
  return openSession(fixtures.checkouts, async (checkout) => {
    const readings = new Map(names.map((name) => [name, [] as Reading[]]));
    const speedOf = (name: (typeof names)[number], time: "seconds" | "cpuSeconds") => {
      const speeds = readings.get(name)!.map((reading) => reading.filings / reading[time]);
      return `${Math.round(median(speeds)).toLocaleString("en-US")} a second`;
    };
    return {
      async sample(round) {
        for (const name of inOrderOf(round, names)) {
          const scratchFile = join(fixtures.emptyFolder(), "rows.sqlite");
          readings.get(name)!.push(await readingOf(checkout, folders[name], scratchFile));
        }
        const speeds = names.map((name) => {
          const { filings, cpuSeconds } = readings.get(name)!.at(-1)!;
          return [name, filings / cpuSeconds];
        });
        return Object.fromEntries(speeds) as Record<(typeof names)[number], number>;
      },
      note(row) {
        const name = row as (typeof names)[number];
        const count = readings.get(name)![0]!.filings.toLocaleString("en-US");
        const read = `${count} filings, ${speedOf(name, "seconds")} by the clock`;
        const xml = `; ${speedOf("import-sec-xml", "cpuSeconds")} from XML`;
        return row === "import-sec" ? read + xml : read;
      },
      async close() {},
    };
  });
}

async function readingOf({ root }: Checkout, folder: string, scratchFile: string) {
  const child = endWithUs(fork(join(import.meta.dirname, "../read-filings.ts")));
  const reading = messageFrom<Reading>(child, secondsMax);
  child.send({ root, folder, scratchFile } satisfies ReadingOrder);
  try {
    return await reading;
  } finally {
    child.disconnect();
  }
}

/** Writes four archives with the filings of an invented year again and again, each time by other agents. */
async function writeQuarter(folder: string, year: string): Promise<void> {
  await writeFilingFolder(year, { size: 200 });
  const tables: Record<string, string> = {};
  for (const name of readdirSync(year).filter((one) => one.endsWith("_d.zip")))
    for (const [member, bytes] of Object.entries(await unzipped(join(year, name)))) {
      const [header, ...rows] = bytes.toString().split(/(?<=\n)/);
      const table = member.split("/").at(-1)!;
      tables[table] = (tables[table] ?? header) + rows.join("");
    }
  for (let quarter = 0; quarter < 4; quarter++) {
    const members = Object.entries(tables).map(([table, text]) => {
      const [header, ...rows] = text.split(/(?<=\n)/);
      const all = Array.from({ length: copies / 4 }, (_, copy) => {
        const agent = String(quarter * copies + copy + 1).padStart(4, "0");
        return rows.join("").replaceAll(/\d{4}(?=\d{6}-\d\d-\d{6})/g, agent);
      });
      return [table, header + all.join("")];
    });
    await writtenZip(folder, `2026q${quarter + 1}_d.zip`, Object.fromEntries(members));
  }
}

const persons = ["Ann Berg", "Carl Dorn", "Eva Falk"].map((name) => {
  const [first, last] = name.split(" ");
  return `
    <relatedPersonInfo>
      <relatedPersonName><firstName>${first}</firstName><lastName>${last}</lastName></relatedPersonName>
      <relatedPersonAddress><street1>255 S. Orange Ave.</street1><street2>Suite 720</street2><city>Orlando</city>
        <stateOrCountry>FL</stateOrCountry><stateOrCountryDescription>FLORIDA</stateOrCountryDescription><zipCode>32801</zipCode>
      </relatedPersonAddress>
      <relatedPersonRelationshipList><relationship>Executive Officer</relationship><relationship>Director</relationship></relatedPersonRelationshipList>
      <relationshipClarification>President of Briar Capital LLC, the Manager of the Issuer</relationshipClarification>
    </relatedPersonInfo>`;
});

/** Writes full submissions, a file each. */
function writeFilings(folder: string): void {
  for (let i = 0; i < xmlCount; i++) {
    const accession = `0001700001-26-${String(i).padStart(6, "0")}`;
    const filing = submission(accession, "D", `021-${500_000 + i}`).replace(
      "<relatedPersonsList/>",
      `<relatedPersonsList>${persons.join("")}\n  </relatedPersonsList>`,
    );
    writeFileSync(join(folder, `${accession}.txt`), filing);
  }
}

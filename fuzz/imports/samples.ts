/** Small files that are right, to be damaged: each format once, with everything its reader knows. */
import { readFileSync } from "node:fs";
import { whole, type Random } from "#demo/random.ts";
import { awkwardRecords } from "../../test/support/awkward.ts";
import { cast } from "../../test/support/cast.ts";

export interface Sample {
  name: string;
  /** The file with the records. */
  table: Buffer;
  /** The mapping of a CSV file; null for NDJSON. */
  mapping: Buffer | null;
}

const linesOf = (records: readonly unknown[]) =>
  Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));

const ndjsonOfCast: Sample = { name: "cast.ndjson", table: linesOf(cast), mapping: null };

const csvOf = (name: string): Sample => ({
  name: `${name}.csv`,
  table: readFileSync(`test/fixtures/importers/${name}.csv`),
  mapping: readFileSync(`examples/mappings/${name}.json`),
});

/** A table as spreadsheets abroad have it: an encoding of its own, semicolons, dates and amounts as they are spoken. */
const plain: Sample = {
  name: "plain.csv",
  table: Buffer.from(
    [
      "Ref;Project;Stage;Sponsor;Units;Budget ($000);Permit;Site",
      'P-7;Alder Lofts;Complete;"Bl\xfcfin Homes; Inc.";16;"$5,400";04/01/2031;https://alder.example/a',
      "P-8;Pier Yard;Design;TBD;;;;",
      'P-9;"Heron ""North"" Court";design;BL\xdcFIN HOMES INC;24;3.00;;heron.example',
      'P-10;"Two\r\nlines";Site work;Cedar | Birch;1,024;12.0;12/31/2030;',
    ].join("\r\n") + "\r\n",
    "latin1",
  ),
  mapping: Buffer.from(
    JSON.stringify(
      {
        encoding: "windows-1252",
        delimiter: ";",
        missing: ["TBD", "N/A"],
        dates: ["MM/DD/YYYY"],
        records: [
          {
            record: "project",
            id: "Ref",
            fields: {
              name: "Project",
              status: {
                column: "Stage",
                values: {
                  Design: "planned",
                  "Site work": "under_construction",
                  Complete: "completed",
                },
              },
              type: { constant: "development" },
              units: "Units",
              total_amount_usd: {
                column: "Budget ($000)",
                multiply_by: 1000,
                otherwise: "missing",
              },
              provenance: { url: { column: "Site", otherwise: "missing" } },
              tags: [{ column: "Stage", fold: true }, { constant: "pilot" }],
            },
          },
          {
            record: "signal",
            when: "Permit",
            id: { template: "permit:{Ref}" },
            fields: {
              type: { constant: "permit_issued" },
              title: { template: "Building permit issued: {Project}" },
              date: "Permit",
              project_ids: "Ref",
            },
          },
        ],
        named_gps: { names: { column: "Sponsor", separator: "|" }, confidence: 0.5 },
      },
      null,
      1,
    ),
  ),
};

const fixed: readonly Sample[] = [
  ndjsonOfCast,
  plain,
  csvOf("san-francisco"),
  csvOf("adviser-report"),
];

/** One of the files above, or lines nobody has seen before. */
export function sampleFor(random: Random): Sample {
  const at = whole(random, 0, fixed.length + 1);
  const known = fixed[at];
  if (known !== undefined) return known;
  const counts = { gps: 5, principals: 4, signals: 4, projects: 3 };
  const records = awkwardRecords(whole(random, 0, 1e6), counts);
  return { name: "awkward.ndjson", table: linesOf(records), mapping: null };
}

/** What cells may hold: formulas, and dates and numbers of every kind. */
import assert from "node:assert/strict";
import { ask } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";
import { readTable } from "../../support/tables.ts";
import { servedNow } from "./served-now.ts";
import {
  assertPublished,
  assertSame,
  gpTable,
  linesOf,
  rejectedLines,
  type Workplace,
} from "./workplace.ts";

const dates = {
  "2024-02-29": "2024-02-29",
  "12/31/1999": "1999-12-31",
  "2024-02": "2024-02",
};
const noDates = ["2024-02-30", "0000-00-00", "12/31/99", "02/30/2024", "2024-13-01", "soon"];
const units = { "1,234,567": 1_234_567, "12": 12, "4.0": 4 };
const noUnits = ["1,234", "1,234.56", "1e6", "N/A", "NaN", "12,34", "0x10", "1.234,00"];
const amounts = { "1,234.56": 1235, $5: 5, "1234": 1234 };
const noAmounts = ["12.500", "1,200", "1e6", "N/A", "$1.2M", "Infinity", "9007199254740993"];
const places = { "(123)": -123, "-12.5": -12.5 };
const noPlaces = ["1e2", "N/A", "inf", "12°"];

export async function valueCases(
  caseOf: CaseOf,
  { port, key }: TestService,
  { lines, table, catalogue }: Workplace,
): Promise<void> {
  await caseOf(
    "C83 · a cell that begins like a formula is stored and served in JSON as it is, and is text in CSV",
    async () => {
      const names = ["=1+1", "+1 Capital", "-2 Capital", "@SUM(A1)", '=HYPERLINK("http://x","y")'];
      const rows = names.map((name, i) => `${i},"${name.replaceAll('"', '""')}"`);
      assertPublished(await table("c83", `Id,Name\n${rows.join("\n")}\n`, gpTable()));
      // White space around a cell is no part of it; a line of NDJSON says what it means.
      const descriptions = ["\tTab", "\rReturn", "=2+2"];
      const records = descriptions.map((description, i) => ({
        record: "gp",
        id: `${i}`,
        name: `Formula ${i}`,
        description,
      }));
      assertPublished(await lines("c83-lines", linesOf(...records)));
      await servedNow({ port, key }, catalogue);
      const found = async (name: string): Promise<any[]> =>
        (await ask(port, `/fetch-gp?gp_name=${encodeURIComponent(name)}`, { key })).json.data;
      const inCsv = async (name: string) => {
        const headers = ["Accept: text/csv"];
        const { body } = await ask(port, `/fetch-gp?gp_name=${name}`, { key, headers });
        return readTable(body).rows;
      };
      for (const name of names)
        assert.ok(
          (await found(name)).some((one) => one.name === name),
          name,
        );
      assert.deepEqual(
        (await found("Formula")).map(({ description }) => description),
        descriptions,
      );
      assert.deepEqual(
        (await inCsv("Formula")).map(({ description }) => description),
        descriptions.map((text) => `'${text}`),
      );
      assert.deepEqual(
        (await inCsv("Capital")).map(({ name }) => name).filter((name) => name!.startsWith("'")),
        ["'+1 Capital", "'-2 Capital"],
      );
    },
  );

  await caseOf(
    "C85 · a date or number is the value that is written, or rejects its line: never NaN, never silently unknown",
    async () => {
      const mapping = {
        dates: ["YYYY-MM-DD", "YYYY-MM", "MM/DD/YYYY"],
        records: [
          {
            record: "project",
            id: "Id",
            fields: {
              name: "Id",
              start_date: "Start",
              units: "Units",
              total_amount_usd: "Amount",
              longitude: "Longitude",
            },
          },
        ],
      };
      const members = ["start_date", "units", "total_amount_usd", "longitude"];
      const cells: [text: string, column: number, value: unknown][] = [
        ...[dates, units, amounts, places].flatMap((known, column) =>
          Object.entries(known).map(([text, value]): [string, number, unknown] => [
            text,
            column,
            value,
          ]),
        ),
        ["", 0, null],
      ];
      const rowOf = (id: string, text: string, column: number) =>
        [id, ...members.map((_, at) => (at === column ? `"${text}"` : ""))].join(",");
      const tableOf = (rows: readonly string[]) =>
        `Id,Start,Units,Amount,Longitude\n${rows.join("\n")}\n`;
      const reference = cells.map(([, column, value], i) => ({
        record: "project",
        id: `${i}`,
        name: `${i}`,
        ...(value === null ? {} : { [members[column]!]: value }),
      }));
      assertPublished(await lines("c85", linesOf(...reference)));
      const good = cells.map(([text, column], i) => rowOf(`${i}`, text, column));
      assertSame(await table("c85", tableOf(good), mapping));
      const bad = [noDates, noUnits, noAmounts, noPlaces].flatMap((texts, column) =>
        texts.map((text): [string, number] => [text, column]),
      );
      const outcome = await table(
        "c85",
        tableOf(bad.map(([text, column], i) => rowOf(`${i}`, text, column))),
        mapping,
      );
      assert.deepEqual(
        rejectedLines(outcome),
        bad.map(([, column], i) => `${i + 2} ${members[column]}`),
      );
      for (const [i, [text]] of bad.entries())
        assert.ok(outcome.report.rejections[i].reason.includes(text), text);
      const said = { ...mapping, missing: ["N/A"] };
      const unknown = good.map((row, i) =>
        i === cells.length - 1 ? rowOf(`${i}`, "N/A", 1) : row,
      );
      assertSame(await table("c85", tableOf(unknown), said));
    },
  );
}

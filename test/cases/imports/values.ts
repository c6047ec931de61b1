/** What a cell that begins like a formula becomes. */
import assert from "node:assert/strict";
import { ask } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";
import { readTable } from "../../support/tables.ts";
import { servedNow } from "./served-now.ts";
import { assertPublished, gpTable, linesOf, type Workplace } from "./workplace.ts";

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
}

/** Tables as they come: damaged, oddly written, with other columns and other bytes. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import type { CaseOf } from "../../support/still-well.ts";
import {
  assertFileRefused,
  assertPublished,
  assertSame,
  gpTable,
  gp,
  linesOf,
  rejectedLines,
  type Workplace,
} from "./workplace.ts";

const page = "<!DOCTYPE html>\n<html><body><h1>503 Service Unavailable</h1></body></html>\n";

export async function tableCases(caseOf: CaseOf, { lines, table }: Workplace): Promise<void> {
  await caseOf(
    "C73 · a truncated CSV, a cut last line, an error page, a gzip and a zip are refused whole, with the line where there is one (archives are not unpacked)",
    async () => {
      const mapping = gpTable({ hq_city: "City" });
      const whole = "Id,Name,City\n1,Acme,Reno\n2,Birch,Elko\n";
      assertPublished(await table("c73", whole, mapping));
      for (const [content, words] of [
        [whole.slice(0, -6), /^:3: .*the file is cut off/],
        [whole.slice(0, -8), /^:3: .*the file is cut off/],
        [`${whole}3,"Cedar,\n4,Elm\n`, /^:4: .*never closed; the file may be cut off/],
        [page, /^: .*a web page/],
        [gzipSync(whole), /^: .*gzip; unpack it first/],
        [gzipSync(whole).subarray(0, 15), /^: .*gzip; unpack it first/],
        ["PK\u0003\u0004rest", /^: .*a zip archive or a spreadsheet/],
      ] as const)
        assertFileRefused(await table("c73", content, mapping), words);
      for (const [content, words] of [
        [page, /^: .*a web page/],
        [gzipSync(linesOf(gp("1"))).subarray(0, 15), /^: .*gzip/],
      ] as const)
        assertFileRefused(await lines("c73", content), words);
      const cut = await lines("c73", linesOf(gp("1"), gp("2")).slice(0, -9));
      assert.deepEqual(rejectedLines(cut), ["2 line"]);
      assert.match(cut.report.rejections[0].reason, /without a line end and may be cut off$/);
    },
  );

  await caseOf(
    "C74 · byte order mark, mixed and missing line ends, blank lines, a newline within quotes and a lone quote between tabs: every value is that of the reference",
    async () => {
      const reference = [
        gp("1", { name: "Acme", description: 'says "yes", they' }),
        gp("2", { name: "Birch, Inc.", description: "two\nlines" }),
        gp("3", { name: "Cedar", description: null }),
        gp("4", { name: "Döner", description: "€ 5" }),
      ];
      assertPublished(await lines("c74", linesOf(...reference)));
      const mapping = gpTable({ description: "Note" });
      const content =
        '\uFEFF"Id","Name",Note\r\n\r\n1,Acme,"says ""yes"", they"\n2,"Birch, Inc.","two\r\nlines"\r\n\n\n3,Cedar,\r4,"Döner",€ 5';
      assert.equal(assertSame(await table("c74", content, mapping)).read, 4);

      const pipes = [
        gp("1", { name: '5" pipe' }),
        gp("2", { name: '"open' }),
        gp("3", { name: '"x" y' }),
      ];
      assertPublished(await lines("c74-tabs", linesOf(...pipes)));
      const tabs = 'Id\tName\r\n1\t5" pipe\n\n2\t"open\r3\t"x" y';
      const between = gpTable({}, { delimiter: "\t" });
      assert.equal(assertSame(await table("c74-tabs", tabs, between)).read, 3);
    },
  );

  await caseOf(
    "C75 · columns count by their names: further and reordered ones change nothing, a renamed, missing or repeated one refuses the file",
    async () => {
      const mapping = gpTable({ hq_city: "City" });
      assertPublished(await table("c75", "Id,Name,City\n1,Acme,Reno\n2,Birch,Elko\n", mapping));
      for (const content of [
        "City,Name,Id\nReno,Acme,1\nElko,Birch,2\n",
        "State,Id,State,City,Name\nNV,2,x,Elko,Birch\nNV,1,y,Reno,Acme\n",
        ' "Id" ,Name,  City \n1,Acme,Reno\n2,Birch,Elko\n'.replaceAll('"', ""),
      ])
        assertSame(await table("c75", content, mapping));
      for (const [header, words] of [
        ["Id,Firm Name,City", /^:1: the column "Name" is missing; the nearest are "Firm Name"\n/],
        ["Id,City,Nme", /^:1: the column "Name" is missing; the nearest are "Nme"/],
        ["Id,Name,Name,City", /^:1: the column "Name" stands in the header 2 times, at 2 and 3\n/],
        ["1,Acme,Reno", /^:1: the column "Id" is missing/],
        ["Id,Name", /^:1: the column "City" is missing/],
        [
          "Id,Nme",
          /^:1: the column "Name" is missing; the nearest are "Nme"; the column "City" is/,
        ],
      ] as const)
        assertFileRefused(await table("c75", `${header}\n1,Acme,Reno\n`, mapping), words);
    },
  );

  await caseOf(
    "C80 · bytes that are not UTF-8 are rejected with line and byte, or read with the encoding that is said: never as another character",
    async () => {
      const reference = linesOf(
        gp("1", { name: "Café “Roy”" }),
        gp("2", { name: "Orléans" }),
        gp("3", { name: "Birch" }),
      );
      assertPublished(await lines("c80", reference));
      // A column that is not used cannot be at fault.
      const western = Buffer.from(
        "Id,Name,City\n1,Caf\xe9 \x93Roy\x94,Reno\n2,Orl\xe9ans,\n3,Birch,Orl\xe9ans\n",
        "latin1",
      );
      const refused = await table("c80", western, gpTable());
      assert.deepEqual(rejectedLines(refused), ["2 Name", "3 Name"]);
      for (const { reason } of refused.report.rejections)
        assert.match(reason, /^is not UTF-8 at byte 4 \(0xE9\)/);
      assertSame(await table("c80", western, gpTable(), "--encoding", "windows-1252"));
      const latin = linesOf(gp("1", { name: "Café" }));
      assertPublished(await lines("c80-latin", latin));
      const latinBytes = Buffer.from(latin, "latin1");
      const unsaid = await lines("c80-latin", latinBytes);
      assert.deepEqual(rejectedLines(unsaid), ["1 line"]);
      assert.equal(
        unsaid.report.rejections[0].reason,
        "is not UTF-8 at byte 36 (0xE9); say --encoding windows-1252 if the file is in that",
      );
      assertSame(await lines("c80-latin", latinBytes, "--encoding", "iso-8859-1"));
      // Half a character, one too long, half a pair, beyond Unicode, and a byte that is none.
      for (const bytes of ["\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xff"]) {
        const line = `{"record":"gp","id":"2","name":"B${bytes}"}\n`;
        const outcome = await lines("c80", Buffer.from(linesOf(gp("1")) + line, "latin1"));
        assert.deepEqual(rejectedLines(outcome), ["2 line"]);
        assert.match(outcome.report.rejections[0].reason, /^is not UTF-8 at byte 34 \(0x/);
      }
      for (const [encoding, byte] of [
        ["iso-8859-1", 0x93],
        ["windows-1252", 0x81],
      ] as const) {
        const name = Buffer.of(byte).toString("latin1");
        const cells = Buffer.from(`Id,Name\n1,\xe9\n2,${name}\n`, "latin1");
        const record = Buffer.from(linesOf(gp("1"), gp("2", { name: `B${name}` })), "latin1");
        const reason = `holds no character of ${encoding} at byte`;
        const hex = `(0x${byte.toString(16)})`;
        for (const [outcome, place, words] of [
          [
            await table("c80", cells, gpTable(), "--encoding", encoding),
            "3 Name",
            `${reason} 1 ${hex}`,
          ],
          [await lines("c80", record, "--encoding", encoding), "2 line", `${reason} 34 ${hex}`],
        ] as const) {
          assert.deepEqual(rejectedLines(outcome), [place]);
          assert.equal(outcome.report.rejections[0].reason, words);
        }
      }
    },
  );
}

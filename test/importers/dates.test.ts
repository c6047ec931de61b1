import assert from "node:assert/strict";
import { test } from "node:test";
import { dateFormats, isoFormats, readDate, type DateFormat } from "#importers/dates.ts";
import { Unreadable } from "#importers/import-fault.ts";

const read: [text: string, formats: readonly DateFormat[], date: string][] = [
  ["2031-03-09", isoFormats, "2031-03-09"],
  ["2031-03", isoFormats, "2031-03"],
  ["2031", isoFormats, "2031"],
  ["20310309", ["YYYYMMDD"], "2031-03-09"],
  ["03/09/2031", ["MM/DD/YYYY"], "2031-03-09"],
  ["3/9/2031", ["MM/DD/YYYY"], "2031-03-09"],
  ["03/09/2031", ["DD/MM/YYYY"], "2031-09-03"],
  ["9/2012", ["MM/YYYY"], "2012-09"],
  ["22-JAN-2026", ["DD-MON-YYYY"], "2026-01-22"],
  ["1-Dec-2026", ["DD-MON-YYYY"], "2026-12-01"],
  ["02/29/2032", ["MM/DD/YYYY"], "2032-02-29"],
  ["07/10/2026 04:20:33 PM", ["MM/DD/YYYY"], "2026-07-10"],
  ["2026-07-10T00:00:00.000", isoFormats, "2026-07-10"],
  ["2016", ["MM/DD/YYYY", "YYYY"], "2016"],
];
for (const [text, formats, date] of read)
  test(`${text} as ${formats.join(" or ")} is ${date}, as precise as it was`, () => {
    assert.equal(readDate(text, formats), date);
  });

const refused: [text: string, formats: readonly DateFormat[], reason: RegExp][] = [
  ["2024-02-30", isoFormats, /exists/],
  ["02/29/2031", ["MM/DD/YYYY"], /exists/],
  ["13/01/2031", ["MM/DD/YYYY"], /exists/],
  ["2031-00", isoFormats, /exists/],
  ["22-XXX-2026", ["DD-MON-YYYY"], /exists/],
  ["0000-00-00", isoFormats, /from the year 1600 to 2200/],
  ["9999", isoFormats, /from the year 1600 to 2200/],
  ["12/31/99", ["MM/DD/YYYY"], /must be a date written MM\/DD\/YYYY/],
  ["22-JAN-26", ["DD-MON-YYYY"], /must be a date written/],
  ["03/09/2031", isoFormats, /must be a date written YYYY-MM-DD or YYYY-MM or YYYY/],
  ["soon", dateFormats, /must be a date written/],
];
for (const [text, formats, reason] of refused)
  test(`${text} as ${formats.join(" or ")} is refused and not guessed`, () => {
    const found = readDate(text, formats);
    assert.ok(found instanceof Unreadable);
    assert.match(found.reason, reason);
  });

import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidArgumentError } from "commander";
import { parseMoment } from "#cli/option-values.ts";
import { day, noon } from "../support/control.ts";

const parse = (text: string) => parseMoment(text)(noon);

test("a moment is a day, a time of UTC, or how long ago", () => {
  for (const [text, iso] of [
    ["2026-11-21", "2026-11-21T00:00:00.000Z"],
    ["2026-11-21T09:30Z", "2026-11-21T09:30:00.000Z"],
    ["2026-11-21T09:30:15Z", "2026-11-21T09:30:15.000Z"],
    ["2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999Z"],
    ["24h", new Date(noon - day).toISOString()],
    ["30m", "2026-11-21T11:30:00.000Z"],
  ] as const)
    assert.equal(new Date(parse(text)).toISOString(), iso, text);
});

test("a moment that there is not, or of no certain zone, is refused with what one looks like", () => {
  for (const text of [
    "",
    "yesterday",
    "2026-11-31",
    "2026-02-29",
    "2026-13-01",
    "2026-11-21T09:30",
    "2026-11-21T24:00Z",
    "2026-11-21T09:60Z",
    "2026-11-21T09:30+01:00",
    "21.11.2026",
    "-1d",
    "1w",
  ])
    assert.throws(
      () => parse(text),
      (error) => error instanceof InvalidArgumentError && error.message.includes("2026-11-21"),
      text,
    );
});

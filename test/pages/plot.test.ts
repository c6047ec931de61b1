import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  axisEnd,
  columnPlot,
  hueOf,
  periodsUntil,
  signalGroups,
  sparkline,
  timeline,
} from "#pages/plot.ts";
import { signalTypes } from "#records/vocabulary.ts";
import { textOf } from "../support/record-pages.ts";

const words = { finding: "A & B", measure: "Signals by month" };

/** Attributes of each element of a kind, as a browser reads them. */
const elements = (markup: string, name: string) =>
  Array.from(markup.matchAll(new RegExp(`<${name}\\b([^>]*)>`, "g")), ([, attributes]) =>
    Object.fromEntries(
      Array.from(attributes!.matchAll(/([\w-]+)="([^"]*)"/g), ([, key, value]) => [key, value]),
    ),
  );

/** Cells of a table's rows, as they are read. */
const rowsOf = (markup: string) =>
  Array.from(/<tbody>(.*)<\/tbody>/s.exec(markup)![1]!.matchAll(/<tr>(.*?)<\/tr>/gs), ([, row]) =>
    Array.from(row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs), ([, cell]) => textOf(cell!).trim()),
  );

test("an axis ends at a round number of at most five times the highest value, which can be halved", () => {
  const ends = [1, 2, 3, 4, 5, 7, 9, 10, 11, 20, 99, 100, 101, 782].map(axisEnd);
  assert.deepEqual(ends, [1, 2, 4, 4, 6, 8, 10, 10, 20, 20, 100, 100, 200, 800]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e12 }), (highest) => {
      const end = axisEnd(highest);
      assert.ok(Number.isInteger(end) && end >= highest && end < 5 * highest + 1);
      assert.ok(end === 1 || end % 2 === 0);
    }),
  );
});

test("every type of signal has one hue, and hues are stacked in one order", () => {
  const all = signalGroups.flatMap(({ types }): string[] => [...types]);
  assert.deepEqual(all.toSorted(), signalTypes.toSorted());
  for (const type of signalTypes) assert.ok(signalGroups.some(({ hue }) => hue === hueOf(type)));
  assert.deepEqual(
    signalGroups.map(({ hue }) => hue),
    ["offerings", "deals", "funds", "people", "building", "news"],
  );
});

test("columns are as high as their numbers, and the table has every number but those of empty columns", () => {
  const { markup } = columnPlot({
    ...words,
    head: "Month",
    series: signalGroups,
    columns: [
      { label: "Oct", values: [2, 1, 0, 0, 0, 1], tick: "2026" },
      { label: "Nov", values: [0, 0, 0, 0, 0, 0] },
    ],
  });
  assert.match(markup, /<title>Nov: none<\/title>/);
  const drawn = elements(/<svg\s+class="chart.*?<\/svg>/s.exec(markup)![0], "rect");
  assert.deepEqual(
    drawn.flatMap((one) =>
      one["fill"] === "transparent"
        ? []
        : [[one["fill"], one["x"], one["width"], Number(one["y"]), Number(one["height"])]],
    ),
    [
      ["var(--offerings)", "0%", "50%", 66, 66],
      ["var(--deals)", "0%", "50%", 33, 33],
      ["var(--news)", "0%", "50%", 0, 33],
    ],
  );
  assert.deepEqual(rowsOf(markup), [["Oct", "2", "1", "0", "0", "0", "1"]]);
  assert.match(markup, /<h2>A &amp; B<\/h2>/);
  assert.match(markup, /role="img"\s+aria-label="A &amp; B. Signals by month."/);
  assert.match(markup, />4<.*>2026</s);
});

test("columns that lead on are links, and the chosen one is not pale", () => {
  const { markup } = columnPlot({
    ...words,
    head: "Month",
    series: [{ label: "Price", hue: "deals" }],
    columns: [
      { label: "Oct", values: [2], href: "/a?b=1&c=2" },
      { label: "Nov", values: [1], href: "/b", isChosen: true },
    ],
  });
  assert.deepEqual(
    elements(markup, "a").map((one) => one["href"]),
    ["/a?b=1&amp;c=2", "/b"],
  );
  assert.equal(markup.split("Oct: 2").length, 2, "its title names the link, once");
  assert.deepEqual(
    elements(markup, "g").map((one) => Number(one["opacity"])),
    [0.35, 1],
  );
  // Links inside an image could not be reached.
  assert.match(markup, /role="group"/);
});

test("a sparkline is two shapes, the last column apart, for a page has one in each row", () => {
  const paths = elements(sparkline([0, 4, 8]).markup, "path").map(({ fill, d }) => `${fill} ${d}`);
  assert.deepEqual(paths, [
    "var(--news) M0 17v-1h7v1M8 17v-8h7v8",
    "var(--accent) M16 17v-16h7v16",
  ]);
});

test("periods end with that of the day", () => {
  assert.deepEqual(
    periodsUntil("2026-11-23", "quarter", 3).map(({ from, until, tick }) => [from, until, tick]),
    [
      ["2026-04", "2026-06", undefined],
      ["2026-07", "2026-09", undefined],
      ["2026-10", "2026-12", undefined],
    ],
  );
  assert.deepEqual(
    periodsUntil("2026-01-31", "month", 2).map(({ label, tick }) => [label, tick]),
    [
      ["Dec 2025", undefined],
      ["Jan 2026", "2026"],
    ],
  );
  assert.deepEqual(periodsUntil("2026-06", "year", 1), [
    { from: "2026", until: "2026", label: "2026", tick: "2026" },
  ]);
});

test("a timeline places days true to scale and says each in its table", () => {
  const { markup } = timeline({
    ...words,
    rows: [
      { label: "Named", bars: [{ from: "2025-01-01", until: "2025-12-31" }], marks: [] },
      {
        label: "Northwind",
        marks: [{ day: "2026-01-01", hue: "deals", label: "Buys <b>", isRinged: true }],
      },
    ],
    until: "2027-01-01",
  });
  const [bar] = elements(markup, "rect");
  assert.deepEqual([bar!["x"], bar!["width"]], ["0%", "49.86%"]);
  assert.deepEqual(
    elements(markup, "circle").map((one) => [one["fill"], one["cx"]]),
    [
      ["var(--card)", "50%"],
      ["var(--deals)", "50%"],
    ],
  );
  assert.deepEqual(rowsOf(markup), [
    ["1 Jan 2025 to 31 Dec 2025", "Named", ""],
    ["1 Jan 2026", "Northwind", "Buys <b>"],
  ]);
});

test("no plot holds a style, a number that is none, or markup from a label", () => {
  const label = fc.string({ unit: fc.constantFrom(..."<>\"'&ab ") });
  const value = fc.integer({ min: 0, max: 1e12 });
  fc.assert(
    fc.property(label, fc.array(value, { minLength: 1, maxLength: 30 }), (text, values) => {
      const about = { finding: text, measure: text };
      const day = "2026-11-23";
      const plots = [
        columnPlot({
          ...about,
          head: text,
          series: [{ label: text, hue: "accent" }],
          columns: values.map((one) => ({ label: text, tick: text, values: [one] })),
        }),
        timeline({
          ...about,
          rows: [{ label: text, marks: [{ day, hue: "news", label: text }] }],
          until: day,
          today: day,
        }),
        sparkline(values),
      ];
      for (const { markup } of plots) {
        assert.doesNotMatch(markup, /NaN|Infinity|undefined|style=|<b|<a/);
        for (const [tag] of markup.matchAll(/<[^>]*>/g)) assert.doesNotMatch(tag, /'|&(?!#?\w+;)/);
      }
    }),
  );
});

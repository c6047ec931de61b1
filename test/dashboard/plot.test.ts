import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  axisEnd,
  axisLines,
  plot,
  type PlotBar,
  shortNumber,
  spread,
} from "#dashboard/components/plot.ts";

test("an axis ends at a round number of at most five times the highest bar, which can be halved", () => {
  const ends = [1, 2, 3, 4, 5, 7, 9, 10, 11, 20, 99, 100, 101, 782].map(axisEnd);
  assert.deepEqual(ends, [1, 2, 4, 4, 6, 8, 10, 10, 20, 20, 100, 100, 200, 800]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e12 }), (highest) => {
      const end = axisEnd(highest);
      assert.ok(end >= highest && end < 5 * highest + 1);
      assert.ok(axisLines(end).every(Number.isInteger));
    }),
  );
});

test("labels keep their order, never overlap, and stay near the heights they belong to", () => {
  assert.deepEqual(spread([10, 100], 18, 190), [10, 100]);
  assert.deepEqual(spread([10, 12, 13], 18, 190), [10, 28, 46]);
  assert.deepEqual(spread([180, 185, 199], 18, 190), [154, 172, 190]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 4 }), (heights) => {
      const places = spread(
        heights.toSorted((one, other) => one - other),
        18,
        190,
      );
      for (const [i, place] of places.entries())
        assert.ok(place >= 0 && place <= 190 && (i === 0 || place - places[i - 1]! >= 18));
    }),
  );
});

const bar = (name: string, answered: number, refused: number): PlotBar => ({
  name,
  tick: null,
  requests: answered + refused,
  byClass: { "2xx": answered, "3xx": 0, "4xx": refused, "5xx": 0 },
});

test("bars are as high as their numbers, classes are stacked, and the highest bar carries its number", () => {
  const bars = [bar("08:00", 100, 0), bar("09:00", 25, 25), bar("10:00", 0, 0)];
  const { markup } = plot({ label: "a & b", upward: "requests", onward: "hour", bars });
  const rects = [
    ...markup.matchAll(
      /<rect\s+x="[^"]*%"\s+y="(.*?)"[^>]*?height="(.*?)"\s+fill="url\(#of-(.*?)\)"/g,
    ),
  ];
  assert.deepEqual(
    rects.map(([, y, height, name]) => [Number(y), Number(height), name]),
    [
      [0, 200, "2xx"],
      [150, 50, "2xx"],
      [100, 50, "4xx"],
    ],
  );
  assert.match(markup, /aria-label="a &amp; b"/);
  assert.match(markup, /<title>09:00: 25 × 2xx, 25 × 4xx<\/title>/);
  assert.match(markup, /y="-5"\s*>\s*100\s*<\/text>/);
  assert.match(markup, /2xx 125\s*<\/text>.*4xx 25\s*<\/text>/s);
  assert.doesNotMatch(markup, /3xx|5xx|NaN|style=/);
});

test("long numbers are shortened to fit a label", () => {
  const texts = [0, 999, 1000, 12_345, 1_000_000].map(shortNumber);
  assert.deepEqual(texts, ["0", "999", "1K", "12.3K", "1M"]);
});

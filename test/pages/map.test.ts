import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { usMap } from "#pages/map.ts";
import { drawMap, mapPath } from "../../packaging/draw-map.ts";

const place = (label: string, latitude: number, longitude: number, count = 1) => ({
  label,
  latitude,
  longitude,
  count,
});
const dallas = place("Dallas", 32.81, -96.87, 4);
const london = place("London", 51.5, -0.12);

const drawn = (places: Parameters<typeof usMap>[0]["places"], more = {}) => {
  const given = { label: "a & b", places, width: 600, height: 380, namesMax: 5, radiusMax: 20 };
  return String((usMap({ ...given, ...more }) as { markup: string } | null)?.markup);
};

test("the outlines are those that packaging/draw-map.ts draws, in at most 25 KB", () => {
  const file = readFileSync(mapPath, "utf8");
  assert.equal(file, drawMap(), "run node packaging/draw-map.ts");
  assert.ok(Buffer.byteLength(file) <= 25_000, `${Buffer.byteLength(file)} bytes`);
});

test("places are projected as the outlines are: four states meet where they do", () => {
  // The whole drawing is 9,750 wide.
  const markup = drawn([place("Four Corners", 36.9991, -109.0452)], { width: 9750, height: 6100 });
  const [, x0, y0] = /cx="([\d.]+)"\s+cy="([\d.]+)"/.exec(markup)!.map(Number);
  const lines = /id="lines"[^>]* d="([^"]*)"/.exec(readFileSync(mapPath, "utf8"))![1]!;
  const ends = lines
    .split("M")
    .slice(1)
    .flatMap((line) => {
      const [x, y, ...moves] = Array.from(line.matchAll(/-?\d+/g), Number) as [number, number];
      const points: [number, number][] = [[x, y]];
      for (let i = 0; i < moves.length; i += 2) {
        const [fromX, fromY] = points.at(-1)!;
        points.push([fromX + moves[i]!, fromY + moves[i + 1]!]);
      }
      return points;
    });
  const distance = Math.min(...ends.map(([x, y]) => Math.hypot(x - x0!, y - y0!)));
  assert.ok(distance < 10, String(distance));
});

test("Alaska and Hawaii are on the map, and places abroad are not", () => {
  const anchorage = place("Anchorage", 61.2, -149.9);
  const markup = drawn([dallas, london, anchorage, place("Honolulu", 21.3, -157.9)]);
  assert.deepEqual(
    Array.from(markup.matchAll(/<title>(\w+)/g), ([, label]) => label),
    ["Dallas", "Anchorage", "Honolulu"],
  );
  assert.equal(
    usMap({ label: "", places: [london], width: 1, height: 1, namesMax: 1, radiusMax: 1 }),
    null,
  );
});

test("circles are in proportion by area", () => {
  const markup = drawn([dallas, place("Chicago", 41.88, -87.68, 1)]);
  const radii = Array.from(markup.matchAll(/\sr="([\d.]+)"/g), ([, radius]) => Number(radius));
  assert.deepEqual(radii, [20, 10]);
  assert.match(markup, /<title>Dallas: 4<\/title>/);
  assert.match(markup, /aria-label="a &amp; b"/);
  assert.doesNotMatch(markup, /style=|NaN/);
});

test("names never cover each other, and the largest places have theirs first", () => {
  const near = Array.from({ length: 9 }, (_, i) =>
    place(`Dallas ${i}`, 32.8 + i / 100, -96.9, 9 - i),
  );
  const names = Array.from(
    drawn([...near, place("Boston", 42.36, -71.06)]).matchAll(/class="name"[^>]*>([^<]*)</g),
    ([, name]) => name,
  );
  assert.deepEqual(names, ["Dallas 0 9", "Dallas 1 8", "Boston"]);
});

test("a near view holds every place, with room around it", () => {
  const markup = drawn([dallas, place("Fort Worth", 32.75, -97.33)], { isClose: true });
  for (const [, x, y] of markup.matchAll(/cx="([\d.]+)"\s+cy="([\d.]+)"/g))
    assert.ok(Number(x) > 20 && Number(x) < 580 && Number(y) > 20 && Number(y) < 360, `${x} ${y}`);
  assert.match(markup, />Dallas 4<\/text/);
});

/** Draws the outlines of the United States that maps show: `node packaging/draw-map.ts`. A test keeps the file true. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";

export const mapPath = join(import.meta.dirname, "..", "src", "pages", "assets", "us-map.svg");

type Point = [x: number, y: number];

/** Units of the drawing in one of the atlas, which is 975 wide: so that whole numbers are precise enough. */
const scale = 10;
/** Distance below which a bend is left out, and area below which an island is, in units of the atlas. */
const tolerance = 0.45;
const islandMin = 4;

/** Returns the drawing: the land, and the lines between states. The atlas is projected as src/pages/map.ts does it. */
export function drawMap(): string {
  const atlas = createRequire(import.meta.url).resolve("us-atlas/states-albers-10m.json");
  const us = JSON.parse(readFileSync(atlas, "utf8")) as Topology<{
    states: GeometryCollection;
    nation: GeometryCollection;
  }>;
  const land = feature(us, us.objects.nation).features.flatMap(({ geometry }) =>
    geometry.type === "MultiPolygon" ? geometry.coordinates.flat() : [],
  ) as Point[][];
  const lines = mesh(us, us.objects.states, (one, other) => one !== other).coordinates as Point[][];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9750 6100">
<path id="land" d="${pathOf(land.filter((ring) => areaOf(ring) >= islandMin)).join("z")}z"/>
<path id="lines" fill="none" vector-effect="non-scaling-stroke" d="${pathOf(lines).join("")}"/>
</svg>
`;
}

const pathOf = (lines: readonly Point[][]): string[] =>
  lines
    .map((line) => simplified(line))
    .filter((line) => line.length > 1)
    .map((line) => {
      const points = line.map((point) => point.map((part) => Math.round(part * scale)) as Point);
      const [start, ...moves] = points.map(([x, y], i) => {
        const [fromX, fromY] = points[i - 1] ?? [0, 0];
        return `${x - fromX} ${y - fromY}`;
      });
      return `M${start}l${moves.join(" ")}`.replaceAll(" -", "-");
    });

/** Leaves out points that lie nearer to the line between those that are kept (Douglas and Peucker 1973). */
function simplified(line: readonly Point[]): Point[] {
  const [first, last] = [line[0]!, line.at(-1)!];
  const distances = line.map((point) => distance(point, first, last));
  const farthest = distances.indexOf(Math.max(...distances));
  if (distances[farthest]! <= tolerance) return [first, last];
  const [before, after] = [line.slice(0, farthest + 1), line.slice(farthest)];
  return [...simplified(before), ...simplified(after).slice(1)];
}

/** Returns the distance of a point from the line through two others, or from the first if they are one. */
function distance([x, y]: Point, [fromX, fromY]: Point, [toX, toY]: Point): number {
  const [width, depth] = [toX - fromX, toY - fromY];
  const length = Math.hypot(width, depth);
  if (length === 0) return Math.hypot(x - fromX, y - fromY);
  return Math.abs(width * (fromY - y) - depth * (fromX - x)) / length;
}

const areaOf = (ring: readonly Point[]): number =>
  Math.abs(
    ring.reduce((sum, [x, y], i) => {
      const [nextX, nextY] = ring[(i + 1) % ring.length]!;
      return sum + x * nextY - nextX * y;
    }, 0),
  ) / 2;

if (import.meta.main) writeFileSync(mapPath, drawMap());

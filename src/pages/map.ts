/** Maps of the United States: places as circles over the projected outlines that packaging/draw-map.ts draws. */
import { geoAlbersUsa } from "d3-geo";
import { assetPath } from "./assets.ts";
import { html, type Part } from "./html.ts";
import { grouped } from "./prose.ts";

interface Place {
  label: string;
  /** Full name, for titles and links; by default the label. */
  name?: string;
  latitude: number;
  longitude: number;
  /** Number of records at the place. */
  count: number;
  href?: string | undefined;
  /** True to fill the circle of the place and to name the place before others. */
  isChosen?: boolean;
}

interface UsMap {
  /** Finding that the map shows, for people who cannot see it. */
  label: string;
  places: readonly Place[];
  width: number;
  height: number;
  /** True to show only the part of the country with the places. */
  isClose?: boolean;
  /** Maximum number of places that are named: chosen ones first, then the largest. */
  namesMax: number;
  /** Radius of the largest circle, in pixels. */
  radiusMax: number;
}

/** The projection of the outlines. packaging/draw-map.ts takes them from an atlas that is projected like this. */
const projection = geoAlbersUsa().scale(13_000).translate([4875, 3050]);
const corners = [
  { x: 0, y: 0 },
  { x: 9750, y: 6100 },
];
/** Minimum width shown, in units of the projection: about 1000 km. A closer view would often show no border. */
const closest = 2000;

/** Returns a map of places. Leaves out places outside the country. Returns null if none are left. */
export function usMap(map: UsMap): Part {
  const { label, width, height, radiusMax } = map;
  const on = map.places.flatMap((place) => {
    const point = projection([place.longitude, place.latitude]);
    return point === null ? [] : { ...place, x: point[0], y: point[1] };
  });
  if (on.length === 0) return null;
  const frame = frameOf(on, map);
  const scale = width / frame.width;
  const highest = Math.max(...on.map(({ count }) => count));
  const circles = on
    .toSorted((a, b) => b.count - a.count)
    .map((place) => ({
      ...place,
      x: (place.x - frame.left) * scale,
      y: (place.y - frame.top) * scale,
      radius: Math.max(2.5, radiusMax * Math.sqrt(place.count / highest)),
    }));
  const outlines = assetPath("us-map.svg");
  const moved = `scale(${rounded(scale, 5)}) translate(${rounded(-frame.left)} ${rounded(-frame.top)})`;
  return html`<svg
    class="map"
    viewBox="0 0 ${width} ${height}"
    fill="var(--ink-3)"
    font-size="11"
    role="${on.some(({ href }) => href !== undefined) ? "group" : "img"}"
    aria-label="${label}"
  >
    <g transform="${moved}">
      <use fill="var(--land)" href="${outlines}#land" />
      <use stroke="var(--borders)" href="${outlines}#lines" />
    </g>
    <g fill="var(--accent)" stroke="var(--accent)">${circles.map(drawn)}</g>
    ${namesOf(circles, map)}
  </svg>`;
}

type Circle = Place & { x: number; y: number; radius: number };

function drawn({ x, y, radius, label, name = label, count, href, isChosen }: Circle): Part {
  const [left, top] = [rounded(x), rounded(y)];
  const opacity = isChosen === true ? 1 : 0.22;
  const shape = html`<title>${name}${count > 1 && `: ${grouped(count)}`}</title>
    <circle fill-opacity="${opacity}" cx="${left}" cy="${top}" r="${rounded(radius)}" />`;
  return href === undefined ? html`<g>${shape}</g>` : html`<a href="${href}">${shape}</a>`;
}

/** Estimate of a letter's width, in pixels. */
const letter = 6.5;

/** Returns up to `namesMax` names that fit beside their circles without overlapping, those of chosen places first. */
function namesOf(circles: readonly Circle[], { namesMax, width }: UsMap): Part {
  const taken: { left: number; right: number; y: number }[] = [];
  const names: Part[] = [];
  const isFree = (left: number, right: number, y: number) =>
    left >= 0 &&
    right <= width &&
    taken.every((one) => left > one.right || right < one.left || Math.abs(y - one.y) > 15);
  const chosen = circles.filter(({ isChosen }) => isChosen === true);
  for (const { x, y, radius, label, count } of new Set([...chosen, ...circles])) {
    if (names.length === namesMax) break;
    const text = count === 1 ? label : `${label} ${grouped(count)}`;
    const length = text.length * letter;
    const sides = [x + radius + 4, x - radius - 4 - length];
    const left = sides.find((side) => isFree(side, side + length, y));
    if (left === undefined) continue;
    taken.push({ left, right: left + length, y });
    const [anchor, at] = left > x ? ["start", left] : ["end", left + length];
    names.push(
      html`<text class="name" x="${rounded(at)}" y="${rounded(y + 4)}" text-anchor="${anchor}"
        >${text}</text
      >`,
    );
  }
  return names;
}

/** Returns the area to show, with the map's aspect ratio: the whole country, or the places if `isClose` is true. */
function frameOf(places: typeof corners, { isClose = false, width, height }: UsMap) {
  const points = isClose ? places : corners;
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const margin = isClose ? Math.max(closest, right - left, bottom - top) * 0.2 : 0;
  const ratio = width / height;
  const shown = Math.max(closest, right - left + 2 * margin, (bottom - top + 2 * margin) * ratio);
  return {
    left: (left + right - shown) / 2,
    top: (top + bottom - shown / ratio) / 2,
    width: shown,
  };
}

const rounded = (value: number, digits = 1): number => Number(value.toFixed(digits));

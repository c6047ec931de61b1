/** Maps of the United States: places as circles over outlines that were projected when the project was built. */
import { geoAlbersUsa } from "d3-geo";
import { assetPath } from "./assets.ts";
import { html, type Part } from "./html.ts";
import { grouped } from "./prose.ts";

interface Place {
  label: string;
  latitude: number;
  longitude: number;
  /** Number of records at the place. */
  count: number;
  href?: string | undefined;
  /** True for a place that is filled, and named wherever there is room. */
  isChosen?: boolean;
}

interface UsMap {
  /** The finding, for people who cannot see the map. */
  label: string;
  places: readonly Place[];
  width: number;
  height: number;
  /** True to show only the part of the country with the places. */
  isClose?: boolean;
  /** Number of places that are named, the largest first. */
  namesMax: number;
  /** Radius of the largest circle, in pixels. */
  radiusMax: number;
  /** True to write the number of records into circles of two or more, instead of beside the name. */
  isCounted?: boolean;
}

/** The projection of the outlines. packaging/draw-map.ts takes them from an atlas that is projected like this. */
const projection = geoAlbersUsa().scale(13_000).translate([4875, 3050]);
const country = { left: 0, top: 0, width: 9750, height: 6100 };
/** Least part of the country that is shown, about 65 km: nearer the outlines would be untrue. */
const closest = 140;

/** A place with its position on the drawing. */
interface Placed extends Place {
  x: number;
  y: number;
}

/** Returns the places that are on the map, and those that are not, such as places abroad. */
export function placesOn(places: readonly Place[]): { on: Placed[]; off: Place[] } {
  const placed = places.map((place) => {
    const point = projection([place.longitude, place.latitude]);
    return point === null ? place : { ...place, x: point[0], y: point[1] };
  });
  const isOn = (place: Place): place is Placed => "x" in place;
  return { on: placed.filter(isOn), off: placed.filter((place) => !isOn(place)) };
}

/** Returns a map of the places that are on it. Returns null if there are none. */
export function usMap({
  label,
  places,
  namesMax,
  radiusMax,
  isCounted,
  isClose,
  ...size
}: UsMap): Part {
  const { on } = placesOn(places);
  if (on.length === 0) return null;
  const frame = frameOf(isClose === true ? around(on) : country, size);
  const scale = size.width / frame.width;
  const highest = Math.max(...on.map(({ count }) => count));
  const circles = on
    .toSorted((a, b) => b.count - a.count)
    .map((place) => ({
      ...place,
      x: (place.x - frame.left) * scale,
      y: (place.y - frame.top) * scale,
      // In proportion by area. A circle with a number in it has room for the number.
      radius: Math.max(
        isCounted === true && place.count > 1 ? 8 : 2.5,
        radiusMax * Math.sqrt(place.count / highest),
      ),
    }));
  const named = nameable(circles, namesMax, size.width, isCounted === true);
  return html`<svg
    class="map"
    viewBox="0 0 ${size.width} ${size.height}"
    role="${on.some(({ href }) => href !== undefined) ? "group" : "img"}"
    aria-label="${label}"
  >
    <g
      transform="scale(${rounded(scale, 5)}) translate(${rounded(-frame.left)} ${rounded(-frame.top)})"
    >
      <use class="land" href="${assetPath("us-map.svg")}#land" />
      <use class="borders" href="${assetPath("us-map.svg")}#lines" />
    </g>
    ${circles.map((circle) => drawn(circle, isCounted === true))}
    ${named.map(
      ({ x, y, anchor, text }) =>
        html`<text class="name" x="${rounded(x)}" y="${rounded(y)}" text-anchor="${anchor}"
          >${text}</text
        >`,
    )}
  </svg>`;
}

interface Circle extends Placed {
  radius: number;
}

function drawn({ x, y, radius, label, count, href, isChosen }: Circle, isCounted: boolean): Part {
  const title = count > 1 ? `${label}: ${grouped(count)}` : label;
  const shape = html`<title>${title}</title>
    <circle
      ${isChosen === true && html`class="chosen"`}
      cx="${rounded(x)}"
      cy="${rounded(y)}"
      r="${rounded(radius)}"
    />
    ${isCounted && count > 1 && html`<text x="${rounded(x)}" y="${rounded(y + 4)}" text-anchor="middle">${count}</text>`}`;
  return href === undefined
    ? html`<g>${shape}</g>`
    : html`<a href="${href}" aria-label="${title}">${shape}</a>`;
}

/** Estimate of a letter's width, in pixels. */
const letter = 6.5;

/** Returns the names that can stand beside their circles without covering each other, the largest place first. */
function nameable(circles: readonly Circle[], max: number, width: number, isCounted: boolean) {
  const taken: { left: number; right: number; y: number }[] = [];
  const chosenFirst = circles.toSorted(
    (a, b) => Number(b.isChosen === true) - Number(a.isChosen === true),
  );
  return chosenFirst.flatMap(({ x, y, radius, label, count }) => {
    if (taken.length === max) return [];
    const text = isCounted || count === 1 ? label : `${label} ${grouped(count)}`;
    const length = text.length * letter;
    const sides = [
      { anchor: "start", x: x + radius + 4, left: x + radius + 4 },
      { anchor: "end", x: x - radius - 4, left: x - radius - 4 - length },
    ];
    const side = sides.find(
      ({ left }) =>
        left >= 0 &&
        left + length <= width &&
        taken.every(
          (one) => left > one.right || left + length < one.left || Math.abs(y - one.y) > 15,
        ) &&
        // Numbers in circles stay legible.
        (!isCounted ||
          circles.every(
            (one) =>
              left > one.x + one.radius ||
              left + length < one.x - one.radius ||
              Math.abs(y - one.y) > one.radius + 6,
          )),
    );
    if (side === undefined) return [];
    taken.push({ left: side.left, right: side.left + length, y });
    return [{ text, anchor: side.anchor, x: side.x, y: y + 4 }];
  });
}

interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Returns the part of the country that the places take up, with a margin. */
function around(places: readonly Placed[]): Frame {
  const [left, right] = [least(places.map(({ x }) => x)), -least(places.map(({ x }) => -x))];
  const [top, bottom] = [least(places.map(({ y }) => y)), -least(places.map(({ y }) => -y))];
  const margin = Math.max(closest, right - left, bottom - top) * 0.2;
  return {
    left: left - margin,
    top: top - margin,
    width: Math.max(closest, right - left + 2 * margin),
    height: bottom - top + 2 * margin,
  };
}

/** Widens a part of the country around its middle to the proportions of the map. */
function frameOf(part: Frame, size: { width: number; height: number }): Frame {
  const ratio = size.width / size.height;
  const width = Math.max(part.width, part.height * ratio);
  const height = width / ratio;
  return {
    left: part.left - (width - part.width) / 2,
    top: part.top - (height - part.height) / 2,
    width,
    height,
  };
}

const least = (values: readonly number[]): number => Math.min(...values);

const rounded = (value: number, digits = 1): number => Number(value.toFixed(digits));

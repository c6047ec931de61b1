/** A bar chart over time, stacked by status class: an SVG as wide as the page, readable without colour. */
import { html, type Html, type Part } from "#pages/html.ts";
import { type StatusClass, statusClasses, type Totals } from "#usage/totals.ts";

export interface PlotBar extends Pick<Totals, "requests" | "byClass"> {
  /** Its full name. */
  name: string;
  /** Its label on the axis; most have none. */
  tick: string | null;
}

interface PlotView {
  /** The finding, for people who cannot see the plot. */
  label: string;
  /** Labels of the two axes. */
  upward: string;
  onward: string;
  /** Oldest first. */
  bars: readonly PlotBar[];
}

const height = 200;
const labelHeight = 18;

// Widths are percentages and heights pixels, so that bars fill the width and text keeps its size.
export function plot({ label, upward, onward, bars }: PlotView): Html {
  const end = axisEnd(Math.max(1, ...bars.map(({ requests }) => requests)));
  const scale = height / end;
  return html`<svg class="plot" width="100%" height="${height}" role="img" aria-label="${label}">
    ${axisLines(end).map((number) => axisLine(number, number * scale))}
    <text class="axis" x="-44" y="-26">${upward}</text>
    <text class="axis" text-anchor="end" x="100%" y="${height + 40}">${onward}</text>
    ${bars.map((bar, i) => column(bar, i / bars.length, 1 / bars.length, scale))}
    ${peakLabel(bars, scale)} ${classLabels(bars, scale)}
  </svg>`;
}

const share = (part: number): string => `${Math.round(part * 10_000) / 100}%`;
const down = (up: number): number => Math.round((height - up) * 10) / 10;

const axisLine = (number: number, up: number): Html =>
  html`<line x2="100%" y1="${down(up)}" y2="${down(up)}" /><text
      class="axis"
      text-anchor="end"
      x="-8"
      y="${down(up) + 5}"
    >
      ${shortNumber(number)}
    </text>`;

function column(bar: PlotBar, left: number, width: number, scale: number): Html {
  let below = 0;
  const segments = statusClasses
    .filter((name) => bar.byClass[name] > 0)
    .map((name) => {
      const size = bar.byClass[name] * scale;
      below += size;
      return html`<rect
        x="${share(left + width * 0.12)}"
        y="${down(below)}"
        width="${share(width * 0.76)}"
        height="${Math.round(size * 10) / 10}"
        fill="url(#of-${name})"
      />`;
    });
  return html`${segments.length > 0 && html`<g><title>${titleOf(bar)}</title>${segments}</g>`}
  ${
    bar.tick !== null &&
    html`<text class="axis" text-anchor="middle" x="${share(left + width / 2)}" y="${height + 20}"
      >${bar.tick}</text
    >`
  }`;
}

const titleOf = ({ name, byClass }: PlotBar): string =>
  `${name}: ${statusClasses
    .filter((one) => byClass[one] > 0)
    .map((one) => `${byClass[one]} × ${one}`)
    .join(", ")}`;

/** Labels the highest bar with its number. */
function peakLabel(bars: readonly PlotBar[], scale: number): Part {
  const highest = Math.max(...bars.map(({ requests }) => requests));
  if (highest === 0) return null;
  const i = bars.findIndex(({ requests }) => requests === highest);
  return html`<text
    text-anchor="middle"
    x="${share((i + 0.5) / bars.length)}"
    y="${down(highest * scale) - 5}"
  >
    ${shortNumber(highest)}
  </text>`;
}

/** Names the classes on the right, level with the segments of the last bar that has requests. */
function classLabels(bars: readonly PlotBar[], scale: number): readonly Part[] {
  const last = bars.findLast(({ requests }) => requests > 0);
  if (last === undefined) return [];
  const named = statusClasses.filter((name) => bars.some(({ byClass }) => byClass[name] > 0));
  let below = 0;
  const middles = named.map((name) => {
    const middle = below + last.byClass[name] / 2;
    below += last.byClass[name];
    return middle * scale;
  });
  const places = spread(middles, labelHeight, height - labelHeight / 2);
  return named.map((name, i) => {
    const total = bars.reduce((sum, { byClass }) => sum + byClass[name], 0);
    return html`<svg x="100%" y="${down(places[i]!)}" overflow="visible">
      <rect x="8" y="-10" width="10" height="10" fill="url(#of-${name})" />
      <text x="22">${name} ${shortNumber(total)}</text>
    </svg>`;
  });
}

/** Fill patterns of the classes, needed once on a page. */
export const plotPatterns: Html = html`<svg class="unseen" width="0" height="0" aria-hidden="true">
  ${pattern("2xx", html`<rect class="accent" width="6" height="6" />`)}
  ${pattern(
    "3xx",
    html`<rect class="ground" width="6" height="6" />
      <circle class="accent" cx="3" cy="3" r="1.5" />`,
  )}
  ${pattern(
    "4xx",
    html`<rect class="ground" width="6" height="6" />
      <path class="stroke" d="M-1 7 7 -1M-1 1 1 -1M5 7 7 5" />`,
  )}
  ${pattern("5xx", html`<rect class="ink" width="6" height="6" />`)}
</svg>`;

function pattern(name: StatusClass, content: Html): Html {
  return html`<pattern id="of-${name}" width="6" height="6" patternUnits="userSpaceOnUse">
    ${content}
  </pattern>`;
}

/** An axis ends at one of these times a power of ten; all but the first can be halved. */
const steps = [1, 2, 4, 6, 8, 10];

/** Returns the lowest round number that is not below the highest bar. @param highest a whole number. */
export function axisEnd(highest: number): number {
  let unit = 1;
  while (highest > 10 * unit) unit *= 10;
  return unit * steps.find((step) => step * unit >= highest)!;
}

/** Returns the numbers with a grid line. */
export const axisLines = (end: number): readonly number[] =>
  end % 2 === 0 ? [0, end / 2, end] : [0, end];

/**
 * Moves labels apart, so that none overlaps another and each stays near the height it wants.
 * @param wanted lowest first. @param room of one label. @param top no label is higher, as long as all fit below.
 */
export function spread(wanted: readonly number[], room: number, top: number): number[] {
  const places: number[] = [];
  for (const height of wanted) places.push(Math.max(height, (places.at(-1) ?? -room) + room));
  let above = top + room;
  for (let i = places.length - 1; i >= 0; i--) {
    places[i] = Math.max(i * room, Math.min(places[i]!, above - room));
    above = places[i]!;
  }
  return places;
}

const compact = new Intl.NumberFormat("en-US", {
  notation: "compact",
  maximumFractionDigits: 1,
});

/** Returns a short number, such as `980` or `12.4K`. */
export const shortNumber = (number: number): string => compact.format(number);

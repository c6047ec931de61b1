/**
 * Plots of numbers as SVG, each with a title, a caption and a table of the numbers. Widths are percentages and heights
 * are pixels, so that plots fill their place and text keeps its size. A sparkline has no title, caption or table.
 */
import { html, type Html, type Part, table, type TableContent } from "./html.ts";
import { dayText, grouped } from "./prose.ts";

/** Types of signals by hue. The hues are in the order in which plots stack them. */
const typesByHue = {
  offerings: [
    "new_offering",
    "offering_amended",
    "capital_raised",
    "first_sale",
    "fully_subscribed",
    "general_solicitation",
  ],
  deals: ["acquisition", "disposition", "financing"],
  funds: ["new_vehicle", "aum_change", "fund_reported", "fund_close"],
  people: ["new_principal", "leadership_change"],
  building: ["project_announced", "permit_issued", "construction_started", "project_completed"],
  news: ["news", "other"],
} as const;

type SignalHue = keyof typeof typesByHue;

/** Kinds of signals, in the order in which they are stacked. */
export const signalGroups = (Object.keys(typesByHue) as SignalHue[]).map((hue) => ({
  hue,
  label: hue.charAt(0).toUpperCase() + hue.slice(1),
  types: typesByHue[hue] as readonly string[],
}));

export const hueOf = (type: string): SignalHue =>
  signalGroups.find(({ types }) => types.includes(type))?.hue ?? "news";

/** Hue of a series. Refused requests and removed records are hatched; a page with them must contain `hatching`. */
type Hue = SignalHue | "accent" | "ink" | "line-2" | "hatched";

const paint = (hue: Hue): string => (hue === "hatched" ? "url(#hatch)" : `var(--${hue})`);

/** Returns a small square in a hue, to put before a word. */
export const mark = (hue: Hue): Html =>
  html`<svg width="14" height="8" fill="${paint(hue)}" aria-hidden="true">
    <rect width="8" height="8" rx="2" />
  </svg>`;

interface Words {
  /** Title: what the numbers show. */
  finding: string;
  /** Caption: what is measured, and in which unit. */
  measure: string;
}

type Format = (value: number) => string;

interface Series {
  label: string;
  hue: Hue;
}

interface Column {
  label: string;
  /** Short label below the column; undefined for none. */
  tick?: string | undefined;
  /** Numbers, one for each series. */
  values: readonly number[];
  href?: string;
  /** True if the column is chosen. The other columns are then paler. */
  isChosen?: boolean;
}

export interface ColumnPlot extends Words {
  /** Heading of the columns' labels in the table, such as `Month`. */
  head: string;
  series: readonly Series[];
  columns: readonly Column[];
  /** Minimum number of columns to leave room for. Fewer columns are aligned to the right. */
  columnsMin?: number;
  format?: Format;
}

/** Height of a drawing with an axis, in pixels, without the labels below it. */
const height = 132;

/** Returns stacked columns. One series makes plain columns or a histogram. The table leaves out empty columns. */
export function columnPlot(given: ColumnPlot): Html {
  const { head, series, columns, columnsMin = 0, format = grouped, ...words } = given;
  const end = axisEnd(Math.max(1, ...columns.map(({ values }) => sumOf(values))));
  const hasChoice = columns.some(({ isChosen }) => isChosen === true);
  const hasLinks = columns.some(({ href }) => href !== undefined);
  const places = Math.max(columns.length, columnsMin);
  const drawn = columns.map(({ label, tick, values, href, isChosen = false }, i) => {
    const left = (places - columns.length + i) / places;
    const place = html`x="${percent(left)}" width="${percent(1 / places)}"`;
    let top = height;
    const stack = values.map((value, at) => {
      const size = (value / end) * height;
      top -= size;
      const span = html`y="${pixels(top)}" height="${pixels(size)}"`;
      return value > 0 && html`<rect fill="${paint(series[at]!.hue)}" ${place} ${span} />`;
    });
    const shape = html`<title>${label}: ${wordsOf(values, series, format)}</title>
      <rect fill="${isChosen ? "var(--tint)" : "transparent"}" ${place} height="${height}" />
      <g stroke="var(--card)" opacity="${hasChoice && !isChosen ? 0.35 : 1}">${stack}</g>`;
    return [
      href === undefined ? html`<g>${shape}</g>` : html`<a href="${href}">${shape}</a>`,
      tick !== undefined && labelAt(left + 0.5 / places, height, tick),
    ];
  });
  const content = [axis(end, format), drawn];
  return figure(words, drawing(words, content, { hasLinks }), legend(series), {
    columns: [head, ...series.map(({ label }) => ({ label, isNumber: true }))],
    rows: columns
      .filter(({ values }) => sumOf(values) > 0)
      .map(({ label, values }) => [label, ...values.map(format)]),
  });
}

const wordsOf = (values: readonly number[], series: readonly Series[], format: Format): string =>
  series.length === 1
    ? format(values[0]!)
    : values.flatMap((n, i) => (n > 0 ? [`${format(n)} ${series[i]!.label}`] : [])).join(", ") ||
      "none";

/** Pattern of the hue `hatched`, for all plots of a page. */
export const hatching = html`<svg class="unseen" width="0" height="0" aria-hidden="true">
  <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse">
    <path d="M0 5L5 0" stroke="var(--ink-3)" />
  </pattern>
</svg>`;

interface TimelineRow {
  label: string;
  /** Periods, drawn as bars. */
  bars?: readonly { from: string; until: string; isDashed?: boolean }[];
  marks: readonly { day: string; hue: SignalHue; label: string; isRinged?: boolean }[];
}

interface Timeline extends Words {
  rows: readonly TimelineRow[];
  /** Last day that is shown. */
  until: string;
  /** Day to mark; by default none. */
  today?: string;
}

const rowHeight = 40;

/** Returns a timeline to scale, with a line for each row. */
export function timeline({ rows, until, today, ...words }: Timeline): Html {
  const marks = rows.flatMap((row) => row.marks);
  const bars = rows.flatMap((row) => row.bars ?? []);
  const days = [...bars.map(({ from }) => from), ...marks.map(({ day }) => day), until];
  const { at, ticks } = timeScale(days.toSorted()[0]!, until);
  const bottom = rows.length * rowHeight;
  const years = ticks.map(({ left, label }) => {
    const x = percent(left);
    return html`<line stroke="var(--line)" x1="${x}" x2="${x}" y2="${bottom}" />
      ${labelAt(left, bottom, label)}`;
  });
  const drawn = rows.map((row, i) => {
    const y = i * rowHeight + 27;
    const periods = (row.bars ?? []).map((bar) => {
      const width = percent(Math.max(0.004, at(bar.until) - at(bar.from)));
      const look =
        bar.isDashed === true
          ? html`fill="none" stroke="var(--ink-2)" stroke-dasharray="3 3"`
          : html`fill="var(--accent)"`;
      const place = html`x="${percent(at(bar.from))}" y="${y - 4}" width="${width}"`;
      return html`<rect ${look} ${place} height="8" rx="2" />`;
    });
    const points = row.marks.map(({ day, hue, label, isRinged }) => {
      const place = html`cx="${percent(at(day))}" cy="${y}"`;
      return html`<g>
        <title>${dayText(day)}: ${label}</title>
        ${isRinged === true && html`<circle fill="var(--card)" stroke="var(--ink-2)" ${place} r="7" />`}
        <circle fill="${paint(hue)}" ${place} r="3.5" />
      </g>`;
    });
    return html`<text class="name" y="${y - 12}">${row.label}</text>
      <line stroke="var(--line)" x2="100%" y1="${y}" y2="${y}" />
      ${periods} ${points}`;
  });
  const series = signalGroups.filter(({ hue }) => marks.some((one) => one.hue === hue));
  const x = today !== undefined && percent(at(today));
  const now = x && html`<line stroke="var(--ink)" x1="${x}" x2="${x}" y2="${bottom}" />`;
  const content = [years, now, drawn];
  return figure(words, drawing(words, content, { drawn: bottom }), legend(series), {
    columns: ["Day", "Subject", "Event"],
    rows: rows.flatMap(({ label, bars: periods = [], marks: points }) => [
      ...periods.map(({ from, until: to }) => [`${dayText(from)} to ${dayText(to)}`, label, ""]),
      ...points.map((one) => [dayText(one.day), label, one.label]),
    ]),
  });
}

/** Returns small columns to put before a number. The last column has the accent colour. */
export function sparkline(values: readonly number[]): Html {
  const scale = 16 / Math.max(1, ...values);
  const columns = values.map((value, i) => {
    const size = pixels(Math.max(1, value * scale));
    return `M${i * 8} 17v-${size}h7v${size}`;
  });
  return html`<svg width="${values.length * 8}" height="17" aria-hidden="true">
    <path fill="${paint("news")}" d="${columns.slice(0, -1).join("")}" />
    <path fill="${paint("accent")}" d="${columns.slice(-1).join("")}" />
  </svg>`;
}

const unitMonths = { month: 1, quarter: 3, year: 12 } as const;

/**
 * Returns `count` periods, oldest first. The last one contains `day`. `from` and `until` are a period's first and last
 * month as `YYYY-MM`. For years, both are the year, so that dates without a month fall in the period.
 * `tick` is the year if the period is the first of a labelled year; otherwise undefined.
 */
export function periodsUntil(day: string, unit: keyof typeof unitMonths, count: number) {
  const months = unitMonths[unit];
  const thisYear = Number(day.slice(0, 4));
  const index = thisYear * 12 + Number(day.slice(5, 7)) - 1;
  const last = index - (index % months);
  const yearStep = Math.ceil((count * months) / 12 / yearsMax);
  return Array.from({ length: count }, (_, i) => {
    const first = last - (count - 1 - i) * months;
    const year = String(Math.floor(first / 12));
    const from = monthText(first);
    const quarter = `Q${(first % 12) / 3 + 1} ${year}`;
    const hasTick = first % 12 === 0 && (thisYear - Number(year)) % yearStep === 0;
    const ends =
      unit === "year"
        ? { from: year, until: year }
        : { from, until: monthText(first + months - 1) };
    return {
      ...ends,
      label: { month: dayText(from), quarter, year }[unit],
      tick: hasTick ? year : undefined,
    };
  });
}

const monthText = (index: number): string =>
  `${Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, "0")}`;

/** Returns the end of an axis: the smallest of 1, 2, 4, 6, 8 and 10 times a power of ten that reaches `highest`. */
export function axisEnd(highest: number): number {
  const unit = 10 ** (String(highest).length - 1);
  return unit * [1, 2, 4, 6, 8, 10].find((step) => step * unit >= highest)!;
}

const axis = (end: number, format: Format): Part =>
  [0, end / 2, end].filter(Number.isInteger).map((value) => {
    const y = pixels(height - (value / end) * height);
    return html`<line stroke="var(--line)" x2="100%" y1="${y}" y2="${y}" />
      <text text-anchor="end" x="-8" y="${y + 4}">${format(value)}</text>`;
  });

/** Maximum number of years that have a label. */
const yearsMax = 7;

/** Returns the years to label, each with its place, and a function from a day to its place. Places are from 0 to 1. */
function timeScale(from: string, until: string) {
  const [begin, end] = [Date.parse(from), Date.parse(until)];
  const length = Math.max(1, end - begin);
  const at = (day: string) => Math.min(1, Math.max(0, (Date.parse(day) - begin) / length));
  const first = Number(from.slice(0, 4)) + (Date.parse(from.slice(0, 4)) < begin ? 1 : 0);
  const count = Number(until.slice(0, 4)) - first + 1;
  const step = Math.ceil(count / yearsMax);
  const years = Array.from({ length: Math.max(0, count) }, (_, i) => String(first + i));
  const ticks = years
    .filter((_, i) => (count - 1 - i) % step === 0)
    .map((label) => ({ left: at(label), label }));
  return { at, ticks };
}

const labelAt = (left: number, bottom: number, label: string): Html =>
  html`<text x="${percent(left)}" y="${bottom + 18}" text-anchor="middle">${label}</text>`;

/**
 * Returns a drawing. One with links is a group, because links inside an image cannot be reached.
 * @param drawn height in pixels, without the labels below; omitted for a drawing with an axis at its left.
 */
const drawing = (
  { finding, measure }: Words,
  content: Part,
  { drawn, hasLinks = false }: { drawn?: number; hasLinks?: boolean } = {},
): Html =>
  html`<svg
    class="chart ${drawn === undefined && "scaled"}"
    fill="var(--ink-3)"
    font-size="11"
    height="${(drawn ?? height) + 24}"
    role="${hasLinks ? "group" : "img"}"
    aria-label="${finding}. ${measure}."
  >
    ${content}
  </svg>`;

/** Returns a drawing with its title, caption, key and numbers. */
export const figure = (
  words: Words,
  drawn: Html,
  key: Part,
  numbers: Omit<TableContent, "label">,
): Html =>
  html`<figure class="plot">
    <figcaption>
      <h2>${words.finding}</h2>
      <p class="muted">${words.measure}</p>
    </figcaption>
    ${drawn} ${key}
    <details>
      <summary>Show table</summary>
      <div class="wide" tabindex="0" role="region" aria-label="${words.measure}">
        ${table({ ...numbers, label: words.measure })}
      </div>
    </details>
  </figure>`;

const legend = (series: readonly Series[]): Part =>
  series.length > 1 &&
  html`<ul class="legend">
    ${series.map(({ label, hue }) => html`<li>${mark(hue)}${label}</li>`)}
  </ul>`;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const percent = (part: number): string => `${Math.round(part * 10_000) / 100}%`;
const pixels = (value: number): number => Math.round(value * 10) / 10;

/**
 * Plots: SVG from numbers, each with its finding, what it measures, and its numbers in a table. Widths are percentages
 * and heights are pixels, so that plots fill their place and text keeps its size.
 */
import { html, type Html, type Part } from "./html.ts";
import { dayText, grouped } from "./prose.ts";
import { table, type TableContent } from "./table.ts";

/** Kinds of signals, each with a hue, in the order in which they are stacked. */
export const signalGroups = [
  {
    hue: "offerings",
    label: "Offerings",
    types: [
      "new_offering",
      "offering_amended",
      "capital_raised",
      "first_sale",
      "fully_subscribed",
      "general_solicitation",
    ],
  },
  { hue: "deals", label: "Deals", types: ["acquisition", "disposition", "financing"] },
  {
    hue: "funds",
    label: "Funds",
    types: ["new_vehicle", "aum_change", "fund_reported", "fund_close"],
  },
  { hue: "people", label: "People", types: ["new_principal", "leadership_change"] },
  {
    hue: "building",
    label: "Building",
    types: ["project_announced", "permit_issued", "construction_started", "project_completed"],
  },
  { hue: "news", label: "News", types: ["news", "other"] },
] as const;

/** Colours of a plot: those of kinds of signals, the accent, greys, and hatching for what is refused or removed. */
type Hue = (typeof signalGroups)[number]["hue"] | "accent" | "muted" | "ink" | "hatched";

/** Returns the hue of a type of signal. */
export const hueOf = (type: string): Hue =>
  signalGroups.find(({ types }) => types.some((one) => one === type))?.hue ?? "news";

interface Words {
  /** Title: what the numbers show. */
  finding: string;
  /** Caption: what is measured, and in which unit. */
  measure: string;
}

interface Series {
  label: string;
  hue: Hue;
}

interface Column {
  label: string;
  /** Short label below the column; columns without one have no label. */
  tick?: string | undefined;
  /** A number for each series. */
  values: readonly number[];
  /** Page that the column leads to. */
  href?: string;
  /** True if the column is chosen. The columns that are not are then paler. */
  isChosen?: boolean;
}

interface ColumnPlot extends Words {
  /** Head of the columns' labels in the table, such as `Month`. */
  head: string;
  series: readonly Series[];
  columns: readonly Column[];
  format?: (value: number) => string;
}

const height = 132;

/** Returns stacked columns. One series makes plain columns or a histogram. Its table leaves out empty columns. */
export function columnPlot({ head, series, columns, format = grouped, ...words }: ColumnPlot) {
  const end = axisEnd(Math.max(1, ...columns.map(({ values }) => sumOf(values))));
  const hasChoice = columns.some(({ isChosen }) => isChosen === true);
  const hasLinks = columns.some(({ href }) => href !== undefined);
  const hasHatch = series.some(({ hue }) => hue === "hatched");
  const content = html`${hasHatch && hatch} ${axis(end, format)}
  ${columns.map((column, i) => {
    const place = { left: i / columns.length, width: 1 / columns.length };
    const isPale = hasChoice && column.isChosen !== true;
    const stack = stackOf(column, series, place, height / end);
    const title = `${column.label}: ${partsOf(column, series, format)}`;
    const shape = html`<title>${title}</title>
      <rect
        class="${column.isChosen === true ? "chosen" : "hit"}"
        x="${percent(place.left)}"
        width="${percent(place.width)}"
        height="${height}"
      />
      <g ${isPale && html`class="pale"`}>${stack}</g>`;
    return [
      column.href === undefined
        ? html`<g>${shape}</g>`
        : html`<a href="${column.href}" aria-label="${title}">${shape}</a>`,
      column.tick !== undefined && tick(place.left + place.width / 2, column.tick, "middle"),
    ];
  })}`;
  const numbers = {
    label: words.measure,
    columns: [head, ...series.map(({ label }) => ({ label, isNumber: true }))],
    rows: columns
      .filter(({ values }) => sumOf(values) > 0)
      .map(({ label, values }) => [label, ...values.map(format)]),
  };
  return figure(
    words,
    chart(words, { content, hasLinks, isScaled: true }),
    legend(series),
    numbers,
  );
}

/** Pattern of the hue `hatched`. */
const hatch = html`<defs>
  <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse">
    <path d="M0 5L5 0" />
  </pattern>
</defs>`;

/** Returns a column's rectangles, from below. */
function stackOf(
  { values }: Column,
  series: readonly Series[],
  { left, width }: { left: number; width: number },
  scale: number,
): Part[] {
  let below = 0;
  return values.map((value, i) => {
    if (value <= 0) return null;
    below += value;
    return html`<rect
      class="of-${series[i]!.hue}"
      ${series[i]!.hue === "hatched" && html`fill="url(#hatch)"`}
      x="${percent(left)}"
      y="${pixels(height - below * scale)}"
      width="${percent(width)}"
      height="${pixels(value * scale)}"
    />`;
  });
}

const partsOf = ({ values }: Column, series: readonly Series[], format: (n: number) => string) =>
  series.length === 1
    ? format(values[0]!)
    : values.flatMap((n, i) => (n > 0 ? [`${format(n)} ${series[i]!.label}`] : [])).join(", ");

interface StepPlot extends Words {
  /** Values that hold from a day on, by day. */
  steps: readonly { day: string; value: number }[];
  /** Last day that is shown. */
  until: string;
  /** Value that is drawn as a dashed line. */
  compared?: number | null;
  format: (value: number) => string;
}

/** Returns a line of steps, such as a sum as it grew. @param plot at least one step, the first at least a day old. */
export function stepPlot({ steps, until, compared = null, format, ...words }: StepPlot): Html {
  const { at, ticks } = timeScale(steps[0]!.day, until);
  const end = axisEnd(Math.max(1, compared ?? 0, ...steps.map(({ value }) => value)));
  const y = (value: number) => pixels(height - (value / end) * height);
  const last = steps.at(-1)!.value;
  const path = steps.map(({ day, value }) => `H${pixels(at(day) * 1000)}V${y(value)}`).join("");
  const content = html`${axis(end, format)}
    <svg viewBox="0 0 1000 ${height}" width="100%" height="${height}" preserveAspectRatio="none">
      <path class="area" d="M0 ${height}${path}H1000V${height}Z" />
      <path class="steps" d="M0 ${height}${path}H1000" />
    </svg>
    ${compared !== null && html`<line class="compared" x2="100%" y1="${y(compared)}" y2="${y(compared)}" />`}
    <circle class="of-accent" cx="100%" cy="${y(last)}" r="4" />
    ${ticks.map(({ left, label }) => tick(left, label, "middle"))}`;
  const numbers = {
    label: words.measure,
    columns: ["From", { label: "Sum", isNumber: true }],
    rows: steps.map(({ day, value }) => [dayText(day), format(value)]),
  };
  return figure(words, chart(words, { content, isScaled: true }), null, numbers);
}

interface TimelineRow {
  label: string;
  /** Periods, drawn as bars. */
  bars?: readonly { from: string; until: string; isDashed?: boolean }[];
  marks: readonly { day: string; hue: Hue; label: string; isRinged?: boolean }[];
}

interface Timeline extends Words {
  rows: readonly TimelineRow[];
  /** Last day that is shown. */
  until: string;
}

const rowHeight = 40;

/** Returns what happened when, one line a row, true to scale. */
export function timeline({ rows, until, ...words }: Timeline): Html {
  const days = rows.flatMap(({ bars = [], marks }) => [
    ...bars.map(({ from }) => from),
    ...marks.map(({ day }) => day),
  ]);
  const { at, ticks } = timeScale(days.toSorted()[0] ?? until, until);
  const bottom = rows.length * rowHeight;
  const content = html`${ticks.map(
    ({ left, label }) =>
      html`<line x1="${percent(left)}" x2="${percent(left)}" y2="${bottom}" />
        <text x="${percent(left)}" y="${bottom + 18}" text-anchor="middle">${label}</text>`,
  )}
  ${rows.map(({ label, bars = [], marks }, i) => {
    const y = i * rowHeight + 27;
    return html`<text class="name" y="${y - 12}">${label}</text> ${bars.map(
        ({ from, until: to, isDashed }) =>
          html`<rect
            class="${isDashed === true ? "dashed" : "of-accent"}"
            x="${percent(at(from))}"
            y="${y - 4}"
            width="${percent(Math.max(0.004, at(to) - at(from)))}"
            height="8"
            rx="2"
          />`,
      )}
      ${marks.map(
        (mark) =>
          html`<g>
            <title>${dayText(mark.day)}: ${mark.label}</title>
            ${mark.isRinged === true && html`<circle class="ring" cx="${percent(at(mark.day))}" cy="${y}" r="7" />`}
            <circle class="of-${mark.hue}" cx="${percent(at(mark.day))}" cy="${y}" r="3.5" />
          </g>`,
      )}`;
  })}`;
  const numbers = {
    label: words.measure,
    columns: ["Day", "Of", "What"],
    rows: rows.flatMap(({ label, bars = [], marks }) => [
      ...bars.map(({ from, until: to }) => [`${dayText(from)} to ${dayText(to)}`, label, ""]),
      ...marks.map((mark) => [dayText(mark.day), label, mark.label]),
    ]),
  };
  const isUsed = (hue: Hue) => rows.some(({ marks }) => marks.some((mark) => mark.hue === hue));
  const series = signalGroups.filter(({ hue }) => isUsed(hue));
  return figure(words, chart(words, { content, drawn: bottom }), legend(series), numbers);
}

interface Milestones extends Words {
  /** Events by day. */
  events: readonly { day: string; label: string; isPlanned?: boolean }[];
  today: string;
}

/** Width of a milestone's label as a part of the line, on the narrowest screen. */
const labelShare = 0.36;

/** Returns the events of one project on a line true to scale. @param plot at least one event. */
export function milestones({ events, today, ...words }: Milestones): Html {
  const days = [...events.map(({ day }) => day), today].toSorted();
  const { at } = timeScale(days[0]!, days.at(-1)!);
  // A label moves down a line where it would cover the one before it.
  const ends: number[] = [];
  const places = events.map(({ day }) => {
    const left = at(day);
    const begin = left - anchors(left).share * labelShare;
    const found = ends.findIndex((end) => end <= begin);
    const level = found === -1 ? ends.length : found;
    ends[level] = begin + labelShare;
    return { left, level };
  });
  const now = at(today);
  const content = html`<line class="done" x1="0" x2="${percent(now)}" y1="24" y2="24" />
    <line class="planned" x1="${percent(now)}" x2="100%" y1="24" y2="24" />
    <line class="today" x1="${percent(now)}" x2="${percent(now)}" y1="15" y2="33" />
    <text x="${percent(now)}" y="10" text-anchor="${anchors(now).name}">today</text>
    ${events.map(({ day, label, isPlanned }, i) => {
      const { left, level } = places[i]!;
      const x = percent(left);
      const anchor = anchors(left).name;
      return html`<circle
          class="${isPlanned === true ? "open" : "of-accent"}"
          cx="${x}"
          cy="24"
          r="5"
        />
        <text class="name" x="${x}" y="${52 + level * 40}" text-anchor="${anchor}">${label}</text>
        <text x="${x}" y="${67 + level * 40}" text-anchor="${anchor}">${dayText(day)}</text>`;
    })}`;
  const numbers = {
    label: words.measure,
    columns: ["What", "Day"],
    rows: events.map(({ day, label }) => [label, dayText(day)]),
  };
  const drawn = 8 + ends.length * 40;
  return figure(words, chart(words, { content, drawn }), null, numbers);
}

/** Returns where a label is anchored so that it stays on the plot, and the part of it that is left of its place. */
const anchors = (left: number): { name: "start" | "middle" | "end"; share: number } =>
  left < 0.18
    ? { name: "start", share: 0 }
    : left > 0.82
      ? { name: "end", share: 1 }
      : { name: "middle", share: 0.5 };

interface Amounts extends Words {
  /** Amounts that are compared and never added, each with its day or another note. */
  amounts: readonly { label: string; value: number; note: Part; isMain?: boolean }[];
  format: (value: number) => string;
}

/** Returns bars for amounts, in a table that has their numbers already. */
export function amountBars({ amounts, format, ...words }: Amounts): Html {
  const highest = Math.max(1, ...amounts.map(({ value }) => value));
  const bars = table({
    label: words.measure,
    columns: ["Amount", "Bar", { label: "US dollars", isNumber: true }, "Named"],
    rows: amounts.map(({ label, value, note, isMain }) => [
      label,
      html`<svg width="100%" height="12" aria-hidden="true">
        <rect
          class="of-accent ${isMain !== true && "pale"}"
          width="${percent(value / highest)}"
          height="12"
          rx="2"
        />
      </svg>`,
      format(value),
      note,
    ]),
  });
  return html`<figure class="plot amounts">${caption(words)}${bars}</figure>`;
}

/** Returns small columns to stand in a line beside their sum, the last in the accent. */
export function sparkline(values: readonly number[]): Html {
  const scale = 16 / Math.max(1, ...values);
  return html`<svg class="spark" width="${values.length * 8}" height="17" aria-hidden="true">
    ${values.map((value, i) => {
      const size = Math.max(1, value * scale);
      return html`<rect
        class="${i === values.length - 1 && "of-accent"}"
        x="${i * 8}"
        y="${pixels(17 - size)}"
        width="7"
        height="${pixels(size)}"
      />`;
    })}
  </svg>`;
}

type Unit = "month" | "quarter" | "year";

/** A month, quarter or year. */
interface Period {
  /** First and last month, `YYYY-MM`. */
  from: string;
  until: string;
  label: string;
  /** Year to show below the period that begins it. */
  tick: string | undefined;
}

const unitMonths: Readonly<Record<Unit, number>> = { month: 1, quarter: 3, year: 12 };

/** Returns the last `count` periods up to and including that of a day, oldest first. */
export function periodsUntil(day: string, unit: Unit, count: number): Period[] {
  const months = unitMonths[unit];
  const thisYear = Number(day.slice(0, 4));
  const index = thisYear * 12 + Number(day.slice(5, 7)) - 1;
  const last = index - (index % months);
  const yearStep = Math.ceil((count * months) / 12 / yearsMax);
  return Array.from({ length: count }, (_, i) => {
    const first = last - (count - 1 - i) * months;
    const year = String(Math.floor(first / 12));
    const from = monthText(first);
    const quarter = (first % 12) / 3 + 1;
    const label = { month: dayText(from), quarter: `${year}, quarter ${quarter}`, year }[unit];
    return {
      from,
      until: monthText(first + months - 1),
      label,
      tick: first % 12 === 0 && (thisYear - Number(year)) % yearStep === 0 ? year : undefined,
    };
  });
}

const monthText = (index: number): string =>
  `${Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, "0")}`;

/** Returns columns of signals by period and kind. @param countOf counts the signals of types in a period. */
export const signalColumns = (
  periods: readonly Period[],
  countOf: (types: readonly string[], period: Period) => number,
): Column[] =>
  periods.map((period) => ({
    label: period.label,
    tick: period.tick,
    values: signalGroups.map(({ types }) => countOf(types, period)),
  }));

/** Returns the smallest of 1, 2, 4, 6, 8 and 10 times a power of ten that reaches `highest`: an axis's end. */
export function axisEnd(highest: number): number {
  const unit = 10 ** (String(highest).length - 1);
  return unit * [1, 2, 4, 6, 8, 10].find((step) => step * unit >= highest)!;
}

const axis = (end: number, format: (value: number) => string): Part =>
  [0, end / 2, end].filter(Number.isInteger).map((value) => {
    const y = pixels(height - (value / end) * height);
    return html`<line x2="100%" y1="${y}" y2="${y}" />
      <text text-anchor="end" x="-8" y="${y + 4}">${format(value)}</text>`;
  });

const tick = (left: number, label: string, anchor: "start" | "middle" | "end"): Html =>
  html`<text x="${percent(left)}" y="${height + 18}" text-anchor="${anchor}">${label}</text>`;

/** Maximum number of years that have a label. */
const yearsMax = 7;

/** Returns the place of each day between two, from 0 to 1, and the years that have a label. */
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

interface Drawing {
  content: Html;
  /** Height without the labels below. */
  drawn?: number;
  /** True for a drawing with a scale at its left. */
  isScaled?: boolean;
  hasLinks?: boolean;
}

/** Returns the drawing. One with links is a group, because links inside an image cannot be reached. */
const chart = ({ finding, measure }: Words, { content, drawn = height, ...is }: Drawing): Html =>
  html`<svg
    class="chart ${is.isScaled === true && "scaled"}"
    height="${drawn + 24}"
    role="${is.hasLinks === true ? "group" : "img"}"
    aria-label="${finding}. ${measure}."
  >
    ${content}
  </svg>`;

const caption = ({ finding, measure }: Words): Html =>
  html`<figcaption>
    <h2>${finding}</h2>
    <p>${measure}</p>
  </figcaption>`;

/** Returns a drawing with its title, caption, key and numbers. */
export const figure = (words: Words, drawing: Html, key: Part, numbers: TableContent): Html =>
  html`<figure class="plot">
    ${caption(words)} ${drawing} ${key}
    <details>
      <summary>Show table</summary>
      <div class="wide" tabindex="0" role="region" aria-label="${words.measure}">
        ${table(numbers)}
      </div>
    </details>
  </figure>`;

const legend = (series: readonly Series[]): Part =>
  series.length > 1 &&
  html`<ul class="legend">
    ${series.map(({ label, hue }) => html`<li><span class="mark of-${hue}"></span>${label}</li>`)}
  </ul>`;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const percent = (part: number): string => `${Math.round(part * 10_000) / 100}%`;
const pixels = (value: number): number => Math.round(value * 10) / 10;

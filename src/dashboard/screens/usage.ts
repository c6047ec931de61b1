/** The usage of an account: its quota now, the last 24 hours and 30 days as plots, and totals by key and operation. */
import { type Account, findAccount } from "#accounts/accounts.ts";
import { mayReadChanges } from "#accounts/plans.ts";
import { gauges, gaugeWords, readWindows } from "#dashboard/components/gauges.ts";
import { accountPage } from "#dashboard/components/page.ts";
import { plot, type PlotBar, plotPatterns } from "#dashboard/components/plot.ts";
import { json, type MemberRequest, type Reply, type Route, route } from "#dashboard/screen.ts";
import { listKeys } from "#keys/keys.ts";
import type { WindowStatus } from "#limits/counters.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted, grouped } from "#pages/prose.ts";
import { type Column, table } from "#pages/table.ts";
import { dayMilliseconds } from "#store/durations.ts";
import {
  statusClasses,
  type Bar,
  readBars,
  readTotalsBy,
  type Span,
  type Totals,
} from "#usage/totals.ts";

export const usageRoutes: readonly Route[] = [
  route("/account/usage", "member", {
    GET: showUsage,
    link: { group: "API", label: "Usage" },
  }),
  route("/account/usage/quota", "member", { GET: showGauges, isBackground: true }),
];

const hoursShown = 24;
const daysShown = 30;
const rowsMax = 40;

async function showUsage(request: MemberRequest): Promise<string> {
  const { services, now } = request;
  const { id, number } = request.account;
  const { database } = services.control;
  const days = await readBars(services.usage, {
    account: number,
    unit: "day",
    count: daysShown,
    now,
  });
  const span = { account: number, since: Date.parse(days[0]!.at), until: now + dayMilliseconds };
  const account = (await findAccount(database, id))!;
  const plan = planWords(account, await mayReadChanges(database, number));
  const windows = await readWindows(services, number);
  const hours = await readBars(services.usage, {
    account: number,
    unit: "hour",
    count: hoursShown,
    now,
  });
  return accountPage(request, {
    title: "Usage",
    scripts: ["account.js"],
    main: html`<h1>${headline(windows)}</h1>
      <p>${plan}</p>
      ${gauges(windows)} ${whatCounts} ${plotPatterns} ${hourPlot(hours)}
      ${isUsed(days) && dayPlot(days)} ${rowsTable("By key", "Key", await keyRows(request, span))}
      ${rowsTable("By operation", "Operation", await operationRows(request, span))}`,
  });
}

function planWords({ plan, quotas }: Account, mayRead: boolean): string {
  const words = plan === null ? "Your account is on the usual plan" : `Your plan is ${plan}`;
  const hasOwn = Object.values(quotas).some((quota) => quota !== null);
  const numbers = hasOwn ? ", with numbers of its own from the operator." : ".";
  return `${words}${numbers}${mayRead ? "" : " It does not include /changes."}`;
}

async function keyRows({ services, account, now }: MemberRequest, span: Span): Promise<UsageRow[]> {
  const keys = await listKeys(services.control, { accountNumber: account.number, now });
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const rows = await readTotalsBy(services.usage, span, "key");
  return rows.slice(0, rowsMax).map(([key, totals]) => {
    return { name: names.get(key) ?? key, href: `/account/requests?key=${key}`, totals };
  });
}

async function operationRows({ services }: MemberRequest, span: Span): Promise<UsageRow[]> {
  const rows = await readTotalsBy(services.usage, span, "operation");
  return rows.map(([operation, totals]) => ({
    name: operation,
    href: `/account/requests?operation=${encodeURIComponent(operation)}`,
    totals,
  }));
}

/** Returns the gauges for the script that refreshes them. */
async function showGauges({ services, account }: MemberRequest): Promise<Reply> {
  const windows = await readWindows(services, account.number);
  return json(windows.map((window) => ({ name: window.name, ...gaugeWords(window) })));
}

interface UsageRow {
  name: string;
  /** Leads to the requests themselves. */
  href: string;
  totals: Totals;
}

const whatCounts = html`<p class="muted">
  Requests with a key count; viewing pages does not. The figures below include requests that were
  refused with 429, which used up nothing.
</p>`;

const spans = { minute: "this minute", hour: "this hour", day: "today" } as const;

/** Names the window with the least quota left. */
function headline(windows: readonly WindowStatus[]): string {
  const full = windows.filter(({ waitSeconds }) => waitSeconds > 0);
  if (full.length > 0) return `Your quota is used up for ${spans[full.at(-1)!.name]}`;
  const shares = windows.map(({ quota, remaining }) =>
    Math.floor((100 * (quota - remaining)) / quota),
  );
  const highest = Math.max(...shares);
  if (highest === 0) return "Your quota is free";
  return `You use ${highest} % of your quota for ${spans[windows[shares.indexOf(highest)]!.name]}`;
}

function rowsTable(heading: string, column: string, rows: readonly UsageRow[]): Part {
  if (rows.length === 0) return null;
  return html`<h2>${heading}, in 30 days</h2>
    ${table({
      label: `${heading}, in the last 30 days`,
      columns: [
        column,
        ...["Requests", ...statusClasses, "Over quota", "Mean ms", "Bytes"].map(numeric),
      ],
      rows: rows.map(({ name, href, totals }) => [
        html`<a class="name" href="${href}">${name}</a>`,
        grouped(totals.requests),
        ...statusClasses.map((one) => grouped(totals.byClass[one])),
        grouped(totals.overQuota),
        totals.requests === 0 ? "0" : (totals.milliseconds / totals.requests).toFixed(1),
        grouped(totals.bytes),
      ]),
    })}`;
}

const hourPlot = (bars: readonly Bar[]): Html =>
  measured({
    span: "in the last 24 hours",
    unit: "hour",
    bars: bars.map((bar) => {
      const hour = bar.at.slice(11, 16);
      const tick = Number(hour.slice(0, 2)) % 6 === 0 ? hour : null;
      return { ...bar, name: hour, tick };
    }),
  });

const dayPlot = (bars: readonly Bar[]): Html =>
  measured({
    span: "in the last 30 days",
    unit: "day",
    bars: bars.map((bar, i) => {
      const tick = (bars.length - 1 - i) % 10 === 0 ? shortDay(bar.at) : null;
      return { ...bar, name: bar.at.slice(0, 10), tick };
    }),
  });

const shortDay = (at: string): string =>
  new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

interface Measured {
  span: string;
  unit: "hour" | "day";
  bars: readonly (Bar & PlotBar)[];
}

/** Returns the finding, its plot and its numbers; the last bar is still growing. */
function measured({ span, unit, bars }: Measured): Html {
  const finding = findingOf(bars, span);
  if (!isUsed(bars))
    return html`<h2>${finding}</h2>
      <p>Send one with <a href="/account/keys">a key of yours</a>; it is here within seconds.</p>`;
  const label = `${finding}. The table beside it has the numbers.`;
  return html`<h2>${finding}</h2>
    <div class="measured">
      <div class="plot-room">
        ${plot({ label, upward: `requests each ${unit}`, onward: `${unit}, UTC`, bars })}
      </div>
      <div class="figures" tabindex="0" role="group" aria-label="The numbers of each ${unit}">
        ${figures(unit, bars)}
      </div>
    </div>`;
}

const isUsed = (bars: readonly Totals[]): boolean => bars.some(({ requests }) => requests > 0);

/** Returns the most important fact about the bars, the worst first. */
function findingOf(bars: readonly (Bar & PlotBar)[], span: string): string {
  const sum = (of: (totals: Totals) => number) => bars.reduce((all, bar) => all + of(bar), 0);
  const requests = sum((bar) => bar.requests);
  if (requests === 0) return `No request ${span}`;
  const words = `${counted(requests, "request")} ${span}`;
  const failed = sum(({ byClass }) => byClass["5xx"]);
  if (failed > 0) return `${words}, ${grouped(failed)} of them failed on our side`;
  const overQuota = sum((bar) => bar.overQuota);
  if (overQuota > 0) return `${words}, ${grouped(overQuota)} of them beyond the quota`;
  const refused = sum(({ byClass }) => byClass["4xx"]);
  if (refused > 0) return `${words}, ${grouped(refused)} of them refused`;
  return `${words}, all answered`;
}

/** Returns the numbers of the bars, newest first. */
const figures = (unit: "hour" | "day", bars: readonly PlotBar[]): Html =>
  table({
    label: `Requests by ${unit} and status class`,
    columns: [unit === "hour" ? "Hour" : "Day", ...["All", ...statusClasses].map(numeric)],
    rows: bars
      .toReversed()
      .map(({ name, requests, byClass }) => [
        unit === "hour" ? name : name.slice(5),
        grouped(requests),
        ...statusClasses.map((one) => byClass[one] > 0 && grouped(byClass[one])),
      ]),
  });

const numeric = (label: string): Column => ({ label, isNumber: true });

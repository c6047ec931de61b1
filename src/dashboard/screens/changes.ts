/** The page of changes since a day or a dataset. Lists each record once. */
import { mayReadChanges } from "#accounts/plans.ts";
import {
  inView,
  partOf,
  removedText,
  tellChanges,
  type ToldChange,
} from "#dashboard/components/changes.ts";
import { capital, type View, viewOf, viewTitle } from "#dashboard/components/view.ts";
import { accountPage, hidden, wordReply } from "#dashboard/components/page.ts";
import { apiCall, card, figures } from "#dashboard/components/record-page.ts";
import { pageSteps, readRecords } from "#dashboard/components/records.ts";
import { type Given, isSignedIn, type ReaderRequest, route } from "#dashboard/screen.ts";
import { type JoinedChange, publicationsSince } from "#datasets/joined-steps.ts";
import { html, type Html, type Part, table } from "#pages/html.ts";
import { columnPlot, hatching } from "#pages/plot.ts";
import { counted, dayElement, dayText, exactTime, grouped } from "#pages/prose.ts";
import { Problem } from "#problems.ts";
import { existsInCalendar } from "#records/fields.ts";
import { kinds, type RecordKind, recordKinds } from "#records/kinds.ts";
import { changeKinds, type Publication } from "#records/publication.ts";
import type { ReadModel } from "#search/read-model.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { followForm } from "./feeds.ts";

export const changesRoutes = [
  route("/browse/changes", "reader", { GET: readRecords(showChanges) }),
];

const path = "/browse/changes";
const rowsOfPage = 25;
const plottedMax = 20;

/** Choices in the page's address, and the publications that they select. */
type ChangesQuery = Exclude<ReturnType<typeof readAsked>, string>;

async function showChanges(request: ReaderRequest, model: ReadModel): Promise<Given> {
  const { control, changes: reader } = request.services;
  const isMember = isSignedIn(request);
  if (isMember && !(await mayReadChanges(control.database, request.account.number))) {
    const text =
      "The plan of this account does not include changes. Ask the operator of this service for a plan that includes them.";
    return wordReply(request, 403, "No changes", text);
  }
  const listed = reader.list(model.parts.version);
  if (listed.length === 0) {
    const text =
      "This service has no record of earlier publications, so it cannot show what changed. Ask its operator.";
    return wordReply(request, 200, "No changes are kept", text);
  }
  const asked = readAsked(request, model, listed);
  if (typeof asked === "string") {
    const again = { href: path, label: "Show the latest changes" };
    return wordReply(request, 400, "This selection is not valid", asked, again);
  }
  const { view, offset, publications } = asked;
  const { changes: all, gaps } = await reader.join(publications, (id) => partOf(model, id));
  const { changes, unknown } = await inView(view, all);
  const page = changes.slice(offset, offset + rowsOfPage);
  const told = await tellChanges(model, reader, page, isMember);
  const columns = columnsOf(asked, listed);
  const chosen = columns.filter(({ isChosen }) => isChosen);
  return accountPage(request, {
    title: "Changes",
    main: html`<div class="record changes">
      <h1>
        ${counted(changes.length, ...nounsOf(view))} changed
        <span>since ${dayElement(asked.day)}</span>
      </h1>
      ${hatching} ${sinceForm(request.now, asked)} ${notes(gaps, unknown)} ${plot(view, columns)}
      ${figures(figuresOf(view, changes))}
      <div class="beside">
        <div>
          ${card({
            title: "What changed",
            aside: view && viewTitle(view),
            body: html`${kindTabs(asked, changes, all)} ${changeTable(told)}
            ${pageSteps({ offset, limit: rowsOfPage, total: changes.length }, (to) => hrefWith(asked, { offset: String(to) }))}`,
          })}
        </div>
        <div>
          ${card({
            title: "Publications",
            aside: `${view === null ? "" : `all ${kinds[view.kind].nouns[1]}, `}${chosen.length < publications.length ? `the latest ${chosen.length}` : "newest first"}`,
            body: publicationTable(chosen),
          })}
          ${isMember && followCard(asked)} ${apiCall(request, "/changes?limit=5")}
        </div>
      </div>
    </div>`,
  });
}

/**
 * Reads the address. Returns an error message if it is invalid. `since` is a day or the version of a dataset. `day` is
 * that day, or the day on which the version was published. `view` is null for all records.
 */
function readAsked({ query, now }: ReaderRequest, model: ReadModel, all: readonly Publication[]) {
  const { since: given, kind: named, offset: start, ...filters } = Object.fromEntries(query);
  // By default, changes since Monday, or since the last publication if that was earlier.
  const [monday, last] = [mondayBefore(now), all.at(-1)!.published_at.slice(0, 10)];
  const since = given?.trim() || (last < monday ? last : monday);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(since) && existsInCalendar(since);
  const publications = publicationsSince(all, isDay ? Date.parse(since) : since);
  if (publications === null)
    return `'since' must be a day such as 2026-11-20 or the version of a dataset that is still listed, not '${since.slice(0, 60)}'.`;
  const version = all.findLast((one) => one.version === since);
  const day = version?.published_at.slice(0, 10) ?? since;
  const kind = recordKinds.find((one) => one === named);
  if (kind === undefined && named)
    return `'kind' must be one of ${recordKinds.join(", ")}, not '${named.slice(0, 60)}'.`;
  const [filter] = Object.keys(filters);
  if (filter !== undefined && kind === undefined)
    return `The filter '${filter.slice(0, 60)}' needs a kind of record. Add the parameter 'kind', such as kind=gp.`;
  const offset = Number(/^\d{1,9}$/.exec(start ?? "")?.[0] ?? 0);
  const pairs = [...query].filter(([name]) => name in filters);
  const view = kind === undefined ? null : viewOf(model, kind, new URLSearchParams(pairs));
  if (view instanceof Problem) return view.message;
  return { query, since, day, publications, view, offset };
}

function mondayBefore(now: number): string {
  const daysSince = (new Date(now).getUTCDay() + 6) % 7;
  return dayOf(now - daysSince * dayMilliseconds);
}

const dayOf = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10);

const nounsOf = (view: View | null): readonly [one: string, many: string] =>
  view === null ? ["record", "records"] : kinds[view.kind].nouns;

/** Returns the address of the page with other choices, at its first row unless `choices` has an offset. */
function hrefWith({ query }: ChangesQuery, choices: Readonly<Record<string, string>>): string {
  const pairs = new URLSearchParams(query);
  pairs.delete("offset");
  for (const [name, value] of Object.entries(choices)) pairs.set(name, value);
  return `${path}?${pairs.toString()}`;
}

function sinceForm(now: number, asked: ChangesQuery): Html {
  const { query, publications } = asked;
  const choices = {
    Today: dayOf(now),
    "Since Monday": mondayBefore(now),
    "30 days": dayOf(now - 30 * dayMilliseconds),
  };
  const last = publications.at(-1);
  const kept = [...query].filter(([name]) => name !== "since" && name !== "offset");
  return html`<form method="get" action="${path}" class="actions">
    <nav class="tabs" aria-label="Time">
      ${Object.entries(choices).map(([label, since]) => {
        const isChosen = since === asked.since && html`aria-current="true"`;
        return html`<a href="${hrefWith(asked, { since })}" ${isChosen}>${label}</a> `;
      })}
    </nav>
    <input type="date" name="since" value="${asked.day}" aria-label="Since" required />
    ${kept.map(([name, value]) => hidden(name, value))}
    <button class="quiet">Show</button>
    <span class="muted">
      ${counted(publications.length, "publication")}${last && `, the last on ${exactTime(last.published_at)}`}
    </span>
  </form>`;
}

const notes = (gaps: readonly Publication[], unknown: readonly JoinedChange[]): Part => [
  gaps.length > 0 &&
    html`<p class="fault">
      The changes of ${counted(gaps.length, "publication")} are not known, so they are not counted
      here: ${gaps.map(({ published_at }) => exactTime(published_at)).join(", ")}.
    </p>`,
  unknown.length > 0 &&
    html`<p class="muted">
      ${removedText(unknown)} may have belonged to this view. This cannot be checked, because the
      dataset that last had them is not kept.
    </p>`,
];

/**
 * Returns the numbers of records that a publication added, changed (or merged) and removed; zeros if these are unknown.
 * Counts only the chosen kind, if there is one.
 */
function countsOf(view: View | null, { step }: Publication): readonly [number, number, number] {
  const kinds = view === null ? recordKinds : [view.kind];
  const sum = (change: (typeof changeKinds)[number]) =>
    kinds.reduce((total, kind) => total + (step?.counts[kind][change] ?? 0), 0);
  return [sum("added"), sum("changed") + sum("merged"), sum("removed")];
}

/** Returns the last `plottedMax` publications that followed another, oldest first, for the plot and the table. */
const columnsOf = (asked: ChangesQuery, all: readonly Publication[]) =>
  all
    .filter(({ from }) => from !== null)
    .slice(-plottedMax)
    .map((one) => ({
      label: exactTime(one.published_at),
      day: dayText(one.published_at.slice(0, 10)).slice(0, -5),
      values: countsOf(asked.view, one),
      isKnown: one.step !== null,
      href: hrefWith(asked, { since: one.from! }),
      isChosen: asked.publications.includes(one),
    }));
type Column = ReturnType<typeof columnsOf>[number];

const series = [
  { label: "Added", hue: "accent" },
  { label: "Changed", hue: "deals" },
  { label: "Removed", hue: "hatched" },
] as const;

function plot(view: View | null, columns: readonly Column[]): Html {
  const { day, values } = columns.at(-1) ?? {};
  return columnPlot({
    finding:
      values === undefined
        ? "One publication, so nothing changed yet"
        : `${day}: ${counted(values[0] + values[1], ...nounsOf(view))} added or changed in all`,
    measure: `All ${nounsOf(view)[1]} by publication; choose a bar to see what changed from that publication on`,
    head: "Publication",
    series,
    columns: columns.map((one, i) => {
      return { ...one, tick: (columns.length - i) % 5 === 1 ? one.day : undefined };
    }),
    columnsMin: plottedMax,
  });
}

/** Counts changes: by kind of record or, in a view, by kind of change. */
const figuresOf = (view: View | null, changes: readonly JoinedChange[]) =>
  view === null
    ? recordKinds.map((kind) => figureOf(kind, changes))
    : changeKinds.map((change) => {
        const { length } = changes.filter((one) => one.change === change);
        const isSaid = length > 0 || change !== "merged";
        return [capital(change), isSaid ? grouped(length) : null, null] as const;
      });

function figureOf(kind: RecordKind, changes: readonly JoinedChange[]) {
  const ofKind = changes.filter((one) => one.kind === kind);
  const notes = changeKinds.flatMap((change) => {
    const count = ofKind.filter((one) => one.change === change).length;
    return count === 0 ? [] : [`${grouped(count)} ${change}`];
  });
  return [kinds[kind].label, grouped(ofKind.length), notes.join(", ") || "none"] as const;
}

/** Returns links to each kind of record, with the numbers of changes there. Only the chosen kind keeps its filters. */
function kindTabs(asked: ChangesQuery, mine: readonly JoinedChange[], all: typeof mine): Html {
  const tab = (label: string, kind?: RecordKind) => {
    const isChosen = kind === asked.view?.kind;
    const other = `${path}?since=${asked.since}${kind === undefined ? "" : `&kind=${kind}`}`;
    const href = isChosen ? hrefWith(asked, {}) : other;
    const found = isChosen ? mine : all.filter((one) => kind === undefined || one.kind === kind);
    return html`<a href="${href}" ${isChosen && html`aria-current="page"`}
      >${label} <span class="muted">${grouped(found.length)}</span></a
    > `;
  };
  return html`<nav class="tabs" aria-label="Kinds of records">
    ${tab("All")} ${recordKinds.map((one) => tab(kinds[one].label, one))}
  </nav>`;
}

const changeTable = (told: readonly ToldChange[]): Part =>
  told.length === 0
    ? html`<p>No change to show since then.</p>`
    : table({
        label: "Records that changed, the latest first",
        columns: ["Record", "Change", "Details", { label: "Published", isNumber: true }],
        rows: told.map(({ change, name, href, facts }) => [
          href === null ? name : html`<a href="${href}" title="${name}">${name}</a>`,
          html`<span class="change ${change.change}">${change.change}</span>
            ${kinds[change.kind].nouns[0]}`,
          facts.map(({ label, values }, i) => [
            i > 0 && "; ",
            label,
            values !== null && html` <del>${values[0]}</del> → <ins>${values[1]}</ins>`,
          ]),
          dayElement(change.places.at(-1)!.publication.published_at.slice(0, 10)),
        ]),
      });

const publicationTable = (columns: readonly Column[]): Part =>
  columns.length === 0
    ? html`<p>Nothing was published since then.</p>`
    : table({
        label: "Publications, newest first",
        columns: ["Published", ...series.map(({ label }) => ({ label, isNumber: true }))],
        rows: columns
          .toReversed()
          .map(({ label, href, values, isKnown }) => [
            html`<a href="${href}">${label.slice(0, 16)}</a>`,
            ...values.map((count) => (isKnown ? grouped(count) : "unknown")),
          ]),
      });

const followCard = ({ view }: ChangesQuery): Html =>
  card({
    title: "Follow",
    body:
      view === null
        ? html`<p>Choose a kind of record to follow its changes in a private feed.</p>`
        : followForm(view),
    more: { href: "/account/feeds", label: "Followed views of this account" },
  });

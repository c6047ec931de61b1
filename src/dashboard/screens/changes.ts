/** The page of changes: what publications since a moment added, changed and removed, each record once. */
import { listFollowedViews } from "#accounts/followed-views.ts";
import { mayReadChanges } from "#accounts/plans.ts";
import {
  inView,
  kindNamed,
  partOf,
  queryOf,
  tellChanges,
  type ToldChange,
} from "#dashboard/components/changes.ts";
import {
  askedPairs,
  capital,
  keptFields,
  nouns,
  readView,
  type View,
  viewWords,
} from "#dashboard/components/view.ts";
import { accountPage, hidden, wordReply } from "#dashboard/components/page.ts";
import { apiCall, card, figures } from "#dashboard/components/record-page.ts";
import { readRecords } from "#dashboard/components/records.ts";
import {
  type Given,
  isSignedIn,
  type ReaderRequest,
  type Route,
  route,
} from "#dashboard/screen.ts";
import { type JoinedChange, type Stretch, stretchSince } from "#datasets/joined-steps.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { columnPlot } from "#pages/plot.ts";
import { counted, dayElement, dayText, exactTime, grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { Problem } from "#problems.ts";
import { existsInCalendar } from "#records/fields.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { changeKinds, type Publication } from "#records/publication.ts";
import type { ReadModel } from "#search/read-model.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { followForm, labelOf, pageQuery } from "./feeds.ts";

export const changesRoutes: readonly Route[] = [
  route("/browse/changes", "reader", {
    GET: (request) => readRecords(request, (model) => showChanges(request, model)),
  }),
];

const path = "/browse/changes";
const rowsOfPage = 25;
const plottedMax = 20;

/** Choices in the address. */
interface Asked {
  since: string;
  stretch: Stretch;
  kind: RecordKind | undefined;
  view: View | null;
  offset: number;
}

async function showChanges(request: ReaderRequest, model: ReadModel): Promise<Given> {
  const { services } = request;
  if (
    isSignedIn(request) &&
    !(await mayReadChanges(services.control.database, request.account.number))
  )
    return wordReply(
      request,
      403,
      "No changes",
      "The plan of this account does not include changes.",
    );
  const publications = services.changes.list(model.parts.version);
  if (publications.length === 0)
    return wordReply(
      request,
      200,
      "No changes are kept",
      "This service keeps no list of publications.",
    );
  const asked = readAsked(request, model, publications);
  if (typeof asked === "string") {
    const again = { href: path, label: "Show the latest changes" };
    return wordReply(request, 400, "This selection is not valid", asked, again);
  }
  const { view, kind, offset, stretch } = asked;
  const joined = await services.changes.join(stretch, (id) => partOf(model, id));
  const filtered = view === null ? null : await inView(view, joined.changes);
  const ofAll = filtered?.changes ?? joined.changes;
  const changes = kind === undefined ? ofAll : ofAll.filter((one) => one.kind === kind);
  const page = changes.slice(offset, offset + rowsOfPage);
  const told = await tellChanges(model, services.changes, page, isSignedIn(request));
  const followed = isSignedIn(request)
    ? await listFollowedViews(services.control.database, request.account.number)
    : [];
  return accountPage(request, {
    title: "Changes",
    main: html`<div class="record changes">
      <h1>
        ${counted(changes.length, "record")} changed <span class="muted">${sinceWords(asked)}</span>
      </h1>
      ${sinceLinks(request, asked)} ${notes(joined.gaps, filtered?.unknown ?? [], view)}
      ${plot(publications, asked)} ${figures(recordKinds.map((one) => figureOf(one, ofAll)))}
      <div class="beside">
        <div>
          ${card({
            title: view === null ? "What changed" : `What changed in this view`,
            aside: view && viewWords(view),
            body: html`${kindTabs(asked, ofAll, view)} ${changeTable(told)}
            ${pageLinks(asked, changes.length)}`,
          })}
        </div>
        <div>
          ${card({
            title: "Publications",
            aside: "newest first",
            body: publicationTable(stretch.publications),
          })}
          ${isSignedIn(request) && followCard(model, asked, followed)}
          ${apiCall(request, "/changes?limit=5")}
        </div>
      </div>
    </div>`,
  });
}

/** Reads the address. Returns what is wrong with it, if anything is. */
function readAsked(
  { query, now }: ReaderRequest,
  model: ReadModel,
  publications: readonly Publication[],
): Asked | string {
  const since = query.get("since")?.trim() || usualSince(publications, now);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(since) && existsInCalendar(since);
  const stretch = stretchSince(publications, isDay ? Date.parse(since) : since);
  if (stretch === null)
    return `'since' must be a day such as 2026-11-20, or a version that was published; '${since.slice(0, 60)}' is neither, or is no longer listed.`;
  const kind = kindNamed(query.get("kind"));
  if (kind === undefined && (query.get("kind") ?? "") !== "")
    return `'kind' must be one of ${recordKinds.join(", ")}.`;
  const offset = Number(/^\d{1,9}$/.exec(query.get("offset") ?? "")?.[0] ?? 0);
  const rest = new URLSearchParams([...query].filter(([name]) => !ownNames.includes(name)));
  if (rest.size > 0 && kind === undefined)
    return `'${[...rest.keys()][0]!.slice(0, 60)}' needs a kind of record: add 'kind', such as kind=gp.`;
  try {
    const view = rest.size === 0 ? null : readView(model, kind!, askedPairs(kind!, rest));
    return { since, stretch, kind, view, offset };
  } catch (fault) {
    if (fault instanceof Problem) return fault.message;
    throw fault;
  }
}

const ownNames: readonly string[] = ["since", "kind", "offset"];

/** Returns Monday, or the day of the last publication if that is earlier. */
function usualSince(publications: readonly Publication[], now: number): string {
  const monday = mondayBefore(now);
  const last = publications.at(-1)!.published_at.slice(0, 10);
  return last < monday ? last : monday;
}

function mondayBefore(now: number): string {
  const daysSince = (new Date(now).getUTCDay() + 6) % 7;
  return dayOf(now - daysSince * dayMilliseconds);
}

const dayOf = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10);

/** Returns the address of the page with changes. */
function hrefOf({ since, kind, view }: Asked, other: Partial<Asked> = {}): string {
  const asked = { since, kind, view, offset: 0, ...other };
  const pairs = new URLSearchParams({ since: asked.since });
  if (asked.kind !== undefined) pairs.set("kind", asked.kind);
  for (const [name, value] of new URLSearchParams(asked.view === null ? "" : queryOf(asked.view)))
    pairs.append(name, value);
  if (asked.offset > 0) pairs.set("offset", String(asked.offset));
  return `${path}?${pairs.toString()}`;
}

const isVersion = (since: string) => since.includes("T");

const sinceWords = ({ since, stretch }: Asked): Part =>
  isVersion(since)
    ? `since the publication of ${dayText(stretch.base!.published_at.slice(0, 10))}`
    : html`since ${dayElement(since)}`;

function sinceLinks({ now }: ReaderRequest, asked: Asked): Html {
  const choices = [
    ["Today", dayOf(now)],
    ["Since Monday", mondayBefore(now)],
    ["30 days", dayOf(now - 30 * dayMilliseconds)],
  ] as const;
  const { since, kind, view, stretch } = asked;
  const last = stretch.publications.at(-1) ?? stretch.base;
  return html`<form method="get" action="${path}" class="actions">
    <nav class="tabs" aria-label="Time">
      ${choices.map(
        ([label, day]) =>
          html`<a
            href="${hrefOf(asked, { since: day })}"
            ${day === since && html`aria-current="true"`}
            >${label}</a
          > `,
      )}
    </nav>
    <label
      >Since <input type="date" name="since" value="${isVersion(since) ? "" : since}" required
    /></label>
    ${kind !== undefined && hidden("kind", kind)} ${view !== null && keptFields(view, ["sort"])}
    <button class="quiet">Show</button>
    <span class="muted">
      ${counted(stretch.publications.length, "publication")}${last && html`, the last on ${exactTime(last.published_at)}`}
    </span>
  </form>`;
}

const notes = (
  gaps: readonly Publication[],
  unknown: readonly JoinedChange[],
  view: View | null,
): Part => [
  gaps.length > 0 &&
    html`<p class="fault">
      What ${counted(gaps.length, "publication")} changed is not known, and is not counted here:
      ${gaps.map(({ published_at }, i) => [i > 0 && ", ", exactTime(published_at)])}.
    </p>`,
  unknown.length > 0 &&
    html`<p class="muted">
      ${counted(unknown.length, ...(nouns[view!.kind].map((noun) => `removed ${noun}`) as [string, string]))}
      may have belonged to this view: the dataset that last had them is not kept.
    </p>`,
];

/** Returns how many records a publication added, changed (or merged) and removed. */
function countsOf({ step }: Publication): [added: number, changed: number, removed: number] {
  const sum = (change: (typeof changeKinds)[number]) =>
    recordKinds.reduce((total, kind) => total + (step?.counts[kind][change] ?? 0), 0);
  return [sum("added"), sum("changed") + sum("merged"), sum("removed")];
}

function plot(publications: readonly Publication[], { stretch }: Asked): Html {
  const shown = publications.filter(({ from }) => from !== null).slice(-plottedMax);
  const [last] = shown.slice(-1);
  const [added = 0, changed = 0] = last === undefined ? [] : countsOf(last);
  const day = last === undefined ? "" : dayText(last.published_at.slice(0, 10));
  return columnPlot({
    finding:
      last === undefined
        ? "One publication, so nothing changed yet"
        : `${day}: ${counted(added + changed, "record")} added or changed`,
    measure: "Records by publication; choose a bar to see what changed since the one before",
    head: "Publication",
    series: [
      { label: "Added", hue: "accent" },
      { label: "Changed", hue: "deals" },
      { label: "Removed", hue: "hatched" },
    ],
    columns: shown.map((one) => ({
      label: exactTime(one.published_at),
      tick: shown.length <= 8 ? dayText(one.published_at.slice(0, 10)) : undefined,
      values: countsOf(one),
      href: `${path}?since=${one.from}`,
      isChosen: stretch.publications.includes(one),
    })),
  });
}

function figureOf(kind: RecordKind, changes: readonly JoinedChange[]) {
  const ofKind = changes.filter((one) => one.kind === kind);
  const notes = changeKinds.flatMap((change) => {
    const count = ofKind.filter((one) => one.change === change).length;
    return count === 0 ? [] : [`${grouped(count)} ${change}`];
  });
  return [capital(nouns[kind][1]), grouped(ofKind.length), notes.join(", ") || "none"] as const;
}

function kindTabs(asked: Asked, changes: readonly JoinedChange[], view: View | null): Html {
  const countOf = (kind: RecordKind) => changes.filter((one) => one.kind === kind).length;
  const all = [undefined, ...recordKinds] as const;
  return html`<nav class="tabs" aria-label="Kinds of records">
    ${all.map((kind) => {
      const href = hrefOf(asked, { kind, view: view?.kind === kind ? view : null });
      const count =
        view !== null && kind !== view.kind ? null : kind ? countOf(kind) : changes.length;
      return html`<a href="${href}" ${kind === asked.kind && html`aria-current="page"`}
        >${kind === undefined ? "All" : capital(nouns[kind][1])}
        ${count !== null && html`<span class="muted">${grouped(count)}</span>`}</a
      > `;
    })}
  </nav>`;
}

const changeTable = (told: readonly ToldChange[]): Part =>
  told.length === 0
    ? html`<p>Nothing changed.</p>`
    : table({
        label: "Records that changed, the latest first",
        columns: ["Record", "Change", "What", { label: "Published", isNumber: true }],
        rows: told.map(({ change, name, href, facts }) => [
          href === null ? name : html`<a href="${href}" title="${name}">${name}</a>`,
          html`<span class="change ${change.change}">${change.change}</span>
            ${nouns[change.kind][0]}`,
          facts.map(({ label, values }, i) => [
            i > 0 && "; ",
            label,
            values !== null && html` <del>${values[0]}</del> → <ins>${values[1]}</ins>`,
          ]),
          dayElement(change.places.at(-1)!.step.publication.published_at.slice(0, 10)),
        ]),
      });

function pageLinks(asked: Asked, total: number): Part {
  const { offset } = asked;
  if (total === 0) return null;
  const to = (at: number, label: string) =>
    html`<a class="button quiet" href="${hrefOf(asked, { offset: at })}">${label}</a>`;
  return html`<p class="pages">
    ${grouped(Math.min(total, offset + 1))}–${grouped(Math.min(total, offset + rowsOfPage))} of
    ${grouped(total)} ${offset > 0 && to(Math.max(0, offset - rowsOfPage), "Previous")}
    ${offset + rowsOfPage < total && to(offset + rowsOfPage, "Next")}
  </p>`;
}

const publicationTable = (publications: readonly Publication[]): Part =>
  publications.length === 0
    ? html`<p>Nothing was published.</p>`
    : table({
        label: "Publications, newest first",
        columns: [
          "Published",
          ...["Added", "Changed", "Removed"].map((label) => ({ label, isNumber: true })),
        ],
        rows: publications
          .toReversed()
          .slice(0, plottedMax)
          .map((one) => [
            html`<a href="${path}?since=${one.from}"
              >${exactTime(one.published_at).slice(0, 16)}</a
            >`,
            ...countsOf(one).map((count) => (one.step === null ? "unknown" : grouped(count))),
          ]),
      });

function followCard(
  model: ReadModel,
  { since, kind, view }: Asked,
  followed: readonly { id: string; kind: string; query: string }[],
): Html {
  const shown = kind === undefined ? null : view === null ? "" : queryOf(view);
  const isFollowed = followed.some((one) => one.kind === kind && one.query === shown);
  const links = followed.map(
    ({ kind: of, query }) =>
      html`<li>
        <a href="${path}?since=${since}&${pageQuery(of, query)}"
          >${labelOf(model, of as RecordKind, query)}</a
        >
      </li>`,
  );
  return card({
    title: "Followed views",
    body: html`${
      links.length > 0 &&
      html`<ul>
        ${links}
      </ul>`
    }
    ${shown === null ? html`<p>Choose a kind of record to follow its changes by a private feed.</p>` : isFollowed ? null : followForm(kind!, shown)}`,
    more: { href: "/account/feeds", label: "Feeds of this account" },
  });
}

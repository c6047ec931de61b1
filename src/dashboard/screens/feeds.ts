/** Followed views: the page that lists them, and private feeds of their changes. */
import {
  findFollowedView,
  followView,
  listFollowedViews,
  unfollowView,
} from "#accounts/followed-views.ts";
import { listMembers } from "#accounts/members.ts";
import {
  inView,
  partOf,
  queryOf,
  removedText,
  tellChanges,
} from "#dashboard/components/changes.ts";
import { type View, viewOf, viewTitle } from "#dashboard/components/view.ts";
import { headedPage, hidden, laterReply, postForm, wordPage } from "#dashboard/components/page.ts";
import {
  type AccountRequest,
  acting,
  type MemberRequest,
  page,
  posting,
  type Reply,
  route,
  seeOther,
} from "#dashboard/screen.ts";
import { changesOfSteps, type JoinedChange, publicationsSince } from "#datasets/joined-steps.ts";
import { atomFeed, atomType, type Entry, urnOf } from "#pages/atom.ts";
import { copyBlock } from "#pages/code-block.ts";
import { html, type Html, table } from "#pages/html.ts";
import { counted, relativeTime } from "#pages/prose.ts";
import { Problem } from "#problems.ts";
import { recordKinds } from "#records/kinds.ts";
import type { ReadModel } from "#search/read-model.ts";
import { DomainError } from "#store/store-fault.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { makeToken } from "#store/random-text.ts";

export const feedRoutes = [
  route("/account/feeds", "member", {
    GET: (request) => showViews(request),
    link: { group: "Account", label: "Followed views" },
  }),
  route("/account/feeds/follow", "member", { POST: posting(showViews, follow) }),
  route("/account/feeds/unfollow", "member", { POST: posting(showViews, unfollow) }),
  route("/feeds/{secret}", "anyone", { GET: showFeed }),
];

export const followForm = (view: View): Html =>
  postForm(
    "/account/feeds/follow",
    "Follow this view",
    [hidden("kind", view.kind), hidden("query", queryOf(view)), hidden("form", makeToken())],
    "quiet",
  );

async function follow(request: MemberRequest): Promise<Reply> {
  const { services, form, own } = request;
  const view = readStored(services.model(), form.get("kind"), form.get("query") ?? "");
  if (view === null)
    throw new DomainError(
      "invalid",
      "This view cannot be followed: its filters are not valid, or no records can be read at the moment. Open Changes, choose a kind of record, and follow that view.",
    );
  const once = form.get("form") || makeToken();
  const order = { kind: view.kind, query: queryOf(view), form: once, ...acting(request) };
  const { secret } = await followView(services.control, order);
  const made = html`<section class="done" role="status">
    <p>
      This account now follows ${viewTitle(view)}. Copy the address of the feed now: it is not
      stored, so no other page shows it. Anyone with the address can read the feed.
    </p>
    ${copyBlock("Address of the feed", `${own.base}/feeds/${secret}`)}
  </section>`;
  return page(await showViews(request, undefined, made));
}

async function unfollow(request: MemberRequest): Promise<Reply> {
  const id = request.form.get("id") ?? "";
  await unfollowView(request.services.control, { id, ...acting(request) });
  return seeOther("/account/feeds?done=unfollowed");
}

async function showViews(request: MemberRequest, fault?: string, made?: Html): Promise<string> {
  const { services, account, now } = request;
  const views = await listFollowedViews(services.control.database, account.number);
  const model = services.model();
  const members = await listMembers(services.control.database, account.number);
  return headedPage(request, {
    title: "Followed views",
    done: {
      unfollowed:
        "The account no longer follows that view. The address of its feed no longer works.",
    },
    fault,
    main: html`${made}
      <p>
        Each followed view has a private Atom feed of its changes in the last 30 days. To follow a
        view, open <a href="/browse/changes">Changes</a>. A feed can be read once a minute.
      </p>
      ${
        views.length === 0
          ? html`<p>This account follows no view.</p>`
          : table({
              label: "Followed views, oldest first",
              columns: ["View", "Follower", "Since", { label: "Action", isPlain: true }],
              rows: views.map(({ id, kind, query, made_by, created_at }) => {
                const view = readStored(model, kind, query);
                const asked = `kind=${kind}&${query}`;
                return [
                  html`<a href="/browse/changes?${asked}"
                    >${view === null ? asked : viewTitle(view)}</a
                  >`,
                  members.find(({ person }) => person === made_by)?.email ?? "a former member",
                  relativeTime(created_at, now),
                  postForm("/account/feeds/unfollow", "Stop following", hidden("id", id), "danger"),
                ];
              }),
            })
      }`,
  });
}

/**
 * Reads a view that was stored or sent. Returns null if no records can be shown, if the kind is unknown, or if the
 * query is not valid for the kind.
 */
function readStored(model: ReadModel | null, kindName: string | null, query: string): View | null {
  const kind = recordKinds.find((one) => one === kindName);
  if (model === null || kind === undefined) return null;
  const view = viewOf(model, kind, new URLSearchParams(query));
  return view instanceof Problem ? null : view;
}

const noSuchFeed =
  "The address may be incomplete, the account may have stopped following the view, or the account may be suspended or have a plan without changes. For a new address, follow the view again.";

async function showFeed(request: AccountRequest): Promise<Reply> {
  const { services, names, monotonicMicroseconds } = request;
  const followed = await findFollowedView(services.control.database, names["secret"]!);
  if (followed === null) return page(wordPage(request, "There is no such feed", noSuchFeed), 404);
  const tooMany = services.personLimiter.take(followed.id, "feed", monotonicMicroseconds);
  if (tooMany !== null) {
    const { retryAfterSeconds: seconds } = tooMany;
    const text = `A feed can be read once a minute. Try again in ${counted(seconds, "second")}.`;
    return laterReply(wordPage(request, "Too soon", text), 429, seconds);
  }
  const view = readStored(services.model(), followed.kind, followed.query);
  if (view === null)
    return laterReply(wordPage(request, "No records to show", "Try again in a minute."), 503, 60);
  const { serviceName } = services.settings;
  const feed = {
    id: urnOf(followed.id),
    title: `${serviceName}: ${viewTitle(view)}`,
    self: null,
    updatedAt: view.model.parts.updatedAt,
    entries: await entriesOf(request, view),
  };
  return { status: 200, headers: [["content-type", atomType]], body: atomFeed(feed, serviceName) };
}

const feedDays = 30;
/** Maximum number of changes that a feed lists one by one. */
const entriesMax = 1000;

/** Returns entries for a view's changes in the last 30 days: one for each listed change, and others for the rest. */
async function entriesOf({ services, own, now }: AccountRequest, view: View): Promise<Entry[]> {
  const { changes: reader } = services;
  const { kind, model } = view;
  const listed = reader.list(model.parts.version);
  const publications = publicationsSince(listed, now - feedDays * dayMilliseconds)!;
  const { changes, gaps } = await reader.gather(publications, (id) => partOf(model, id));
  // A record's latest state decides whether all of its changes belong to the view.
  const { changes: mine, unknown } = await inView(view, changes);
  const byPublication = Map.groupBy(mine.flatMap(changesOfSteps), publicationOf);
  const entries: Entry[] = [];
  for (const publication of publications.toReversed()) {
    const { version, published_at: updatedAt, from } = publication;
    const add = (what: string, title: string, text: string, href: string | null) => {
      const link = href && `${own.base}${href}`;
      entries.push({ id: urnOf(`${version} ${updatedAt} ${what}`), title, updatedAt, link, text });
    };
    const page = `/browse/changes?since=${from ?? version}&kind=${kind}&${queryOf(view)}`;
    const all = byPublication.get(publication) ?? [];
    const fitting = all.slice(0, Math.max(0, entriesMax - entries.length));
    for (const told of await tellChanges(model, reader, fitting, false)) {
      const { change, id } = told.change;
      const facts = told.facts.map(({ label, values }) =>
        values === null ? label : `${label}: ${values.join(" → ")}`,
      );
      add(`${change} ${id}`, `${told.name} ${change}`, facts.join("; "), told.href);
    }
    const more = all.length - fitting.length;
    if (more > 0)
      add("more", counted(more, "further change"), "The page of changes lists all changes.", page);
    const gone = unknown.filter((one) => publicationOf(one) === publication);
    if (gone.length > 0) add("removed", removedText(gone), unknownText, page);
    if (gaps.includes(publication)) add("unknown", "Unknown changes", unknownStep, page);
  }
  return entries;
}

const unknownStep =
  "The changes of this publication are not known. To be up to date, read all records of the view again.";
const unknownText =
  "These records may have belonged to this view. This cannot be checked, because the dataset that had them is not kept.";

const publicationOf = ({ places }: JoinedChange) => places.at(-1)!.publication;

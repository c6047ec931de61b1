/** Followed views: private feeds of what changed in them, and the page that lists them. */
import {
  findFollowedView,
  followView,
  listFollowedViews,
  unfollowView,
} from "#accounts/followed-views.ts";
import {
  factText,
  inView,
  kindNamed,
  partOf,
  queryOf,
  readQueryOf,
  tellChanges,
} from "#dashboard/components/changes.ts";
import { capital, nouns, type View, viewWords } from "#dashboard/components/view.ts";
import { accountPage, doneNote, faultNote, hidden, wordReply } from "#dashboard/components/page.ts";
import {
  type AccountRequest,
  acting,
  actionRoute,
  type Given,
  type MemberRequest,
  page,
  type Reply,
  type Route,
  route,
  seeOther,
  withHeader,
} from "#dashboard/screen.ts";
import type { JoinedChange } from "#datasets/joined-steps.ts";
import { atomFeed, atomType, type Feed, urnOf } from "#pages/atom.ts";
import { copyBlock } from "#pages/code-block.ts";
import { html, type Html } from "#pages/html.ts";
import { counted, relativeTime } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import type { RecordKind } from "#records/kinds.ts";
import type { Publication } from "#records/publication.ts";
import type { ReadModel } from "#search/read-model.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds } from "#store/durations.ts";

export const feedRoutes: readonly Route[] = [
  route("/account/feeds", "member", {
    GET: (request) => showViews(request),
    link: { group: "Account", label: "Followed views" },
  }),
  actionRoute("/account/feeds/follow", "member", { page: showViews, act: follow }),
  actionRoute("/account/feeds/unfollow", "member", { page: showViews, act: unfollow }),
  route("/feeds/{secret}", "anyone", { GET: showFeed }),
];

/** Returns a form that follows a view. */
export const followForm = (kind: RecordKind, query: string): Html =>
  html`<form method="post" action="/account/feeds/follow">
    ${hidden("kind", kind)}${hidden("query", query)}<button class="quiet">Follow this view</button>
  </form>`;

async function follow(request: MemberRequest): Promise<Given> {
  const { services, form, own } = request;
  const kind = kindNamed(form.get("kind"));
  const model = services.model();
  if (kind === undefined || model === null)
    throw new DomainError("invalid", "Choose records on Browse or Changes, and follow them there.");
  const view = readQueryOf(model, kind, form.get("query") ?? "");
  const order = { kind, query: queryOf(view), ...acting(request) };
  const { secret } = await followView(services.control, order);
  const made = html`<section class="done" role="status">
    <p>
      ${titleOf(view)} is followed. This is the address of its feed, shown only now. Whoever has it
      can read the feed.
    </p>
    ${copyBlock("Address of the feed", `${own.base}/feeds/${secret}`)}
  </section>`;
  return page(await showViews(request, undefined, made));
}

async function unfollow(request: MemberRequest): Promise<Given> {
  const id = request.form.get("id") ?? "";
  await unfollowView(request.services.control, { id, ...acting(request) });
  return seeOther("/account/feeds?done=unfollowed");
}

const sentences = {
  unfollowed: "That view is no longer followed. Its feed answers 404 from now on.",
};

async function showViews(request: MemberRequest, fault?: string, made?: Html): Promise<string> {
  const { services, account, query, now } = request;
  const views = await listFollowedViews(services.control.database, account.number);
  const model = services.model();
  return accountPage(request, {
    title: "Followed views",
    main: html`<h1>Followed views</h1>
      ${made} ${faultNote(fault)} ${doneNote(sentences, query.get("done"))}
      <p>
        A followed view has a private Atom feed with what changed in it in the last 30 days. Follow
        one on <a href="/browse/changes">Changes</a>. A feed can be read once a minute.
      </p>
      ${
        views.length === 0
          ? html`<p>This account follows no view.</p>`
          : table({
              label: "Followed views, oldest first",
              columns: ["View", "Since", { label: "Action", isPlain: true }],
              rows: views.map(({ id, kind, query, created_at }) => [
                html`<a href="/browse/changes?${pageQuery(kind, query)}"
                  >${labelOf(model, kind as RecordKind, query)}</a
                >`,
                relativeTime(created_at, now),
                html`<form method="post" action="/account/feeds/unfollow">
                  ${hidden("id", id)}<button class="danger quiet">Stop its feed</button>
                </form>`,
              ]),
            })
      }`,
  });
}

/** Returns a view as the query of the page of changes. */
export const pageQuery = (kind: string, query: string): string =>
  `kind=${kind}${query === "" ? "" : `&${query}`}`;

/** Returns the name of a view, such as `GPs in Dallas with multifamily`. */
const titleOf = (view: View): string => `${capital(nouns[view.kind][1])}${viewWords(view)}`;

/** Returns the name of a stored view. Its query stands for it if it cannot be read at the moment. */
export function labelOf(model: ReadModel | null, kind: RecordKind, query: string): string {
  const view = model === null ? null : readStored(model, { kind, query });
  return view === null ? `${capital(nouns[kind][1])}, ${query}` : titleOf(view);
}

/** Reads a stored view. Returns null if this program no longer takes its query. */
function readStored(model: ReadModel, { kind, query }: { kind: string; query: string }) {
  try {
    return readQueryOf(model, kind as RecordKind, query);
  } catch {
    return null;
  }
}

async function showFeed(request: AccountRequest): Promise<Reply> {
  const { services, names, monotonicMicroseconds } = request;
  const followed = await findFollowedView(services.control.database, names["secret"]!);
  if (followed === null)
    return wordReply(request, 404, "There is no such feed", "Perhaps nobody follows it any more.");
  const tooMany = services.personLimiter.takeFeed(followed.id, monotonicMicroseconds);
  if (tooMany !== null) {
    const reply = wordReply(request, 429, "Too soon", "A feed can be read once a minute.");
    return withHeader(reply, "retry-after", String(tooMany.retryAfterSeconds));
  }
  const model = services.model();
  const view = model === null ? null : readStored(model, followed);
  if (model === null || view === null) {
    const reply = wordReply(request, 503, "No records yet", "Ask again in a minute.");
    return withHeader(reply, "retry-after", "60");
  }
  const feed = await makeFeed(request, view, followed.id);
  const body = atomFeed(feed, services.settings.serviceName);
  return { status: 200, headers: [["content-type", atomType]], body };
}

const feedDays = 30;
/** Maximum number of changes that a feed tells one by one. */
const entriesMax = 1000;

async function makeFeed(
  { services, own, now }: AccountRequest,
  view: View,
  id: string,
): Promise<Feed> {
  const { changes: reader } = services;
  const { kind, model } = view;
  const since = now - feedDays * dayMilliseconds;
  const published = reader
    .list(model.parts.version)
    .filter(({ published_at }) => Date.parse(published_at) >= since);
  const steps: { publication: Publication; changes: JoinedChange[] | null }[] = [];
  const last = new Map<string, JoinedChange>();
  for (const publication of published) {
    const step = await reader.readStep(publication);
    const changes = step?.changes.map((one, number): JoinedChange => {
      const into = one.change === "merged" ? partOf(model, one.id) : null;
      const change = one.change === "merged" && into === null ? "removed" : one.change;
      return { ...one, change, into, places: [{ step, number }], base: null };
    });
    for (const one of changes ?? []) last.set(one.id, one);
    // The first publication replaced nothing.
    if (publication.from !== null) steps.unshift({ publication, changes: changes ?? null });
  }
  const lastOf = ({ id: of }: JoinedChange) => last.get(of)!;
  // Each record belongs to the view, or does not, by its last state.
  const told = await inView(view, [...last.values()]);
  const [isTold, isUnknown] = [told.changes, told.unknown].map((some) => idsOf(some));
  const entries: Feed["entries"][number][] = [];
  for (const { publication, changes } of steps) {
    const { version, published_at: updatedAt, from } = publication;
    const add = (what: string, title: string, text: string, href: string | null) => {
      const link = href === null ? null : `${own.base}${href}`;
      entries.push({ id: urnOf(`${version} ${updatedAt} ${what}`), title, updatedAt, link, text });
    };
    const shown = changes?.filter((one) => isTold!.has(one.id)) ?? [];
    const fitting = shown.slice(0, Math.max(0, entriesMax - entries.length));
    for (const { change, name, href, facts } of await tellChanges(
      model,
      reader,
      fitting,
      false,
      lastOf,
    ))
      add(
        `${change.change} ${change.id}`,
        `${name} ${change.change}`,
        facts.map(factText).join("; "),
        href,
      );
    const page = `/browse/changes?since=${from}&${pageQuery(kind, queryOf(view))}`;
    const more = shown.length - fitting.length;
    if (more > 0)
      add("more", counted(more, "further change"), "They are on the page of changes.", page);
    const gone = changes?.filter((one) => isUnknown!.has(one.id)).length ?? 0;
    if (gone > 0)
      add(
        "removed",
        counted(gone, ...(nouns[kind].map((noun) => `removed ${noun}`) as [string, string])),
        "Whether they belonged to this view is not known: the dataset that had them is not kept.",
        page,
      );
    if (changes === null)
      add("unknown", "Changes that are not known", "Read all records of the view again.", page);
  }
  const title = `${services.settings.serviceName}: ${titleOf(view)}`;
  return { id: urnOf(id), title, self: null, updatedAt: model.parts.updatedAt, entries };
}

const idsOf = (changes: readonly JoinedChange[]): Set<string> =>
  new Set(changes.map(({ id }) => id));

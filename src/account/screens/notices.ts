/** Notices: what needs somebody's attention now, and what happened in the account in the last 30 days. */
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import { readGauges } from "#account/components/gauges.ts";
import { relativeTime } from "#account/components/relative.ts";
import { page, type Reply } from "#account/reply.ts";
import type { MemberRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { dueNotice, isQuotaNear } from "#account/watch-notices.ts";
import { type AuditEntry, listAudit } from "#accounts/list-audit.ts";
import { listMembers } from "#accounts/members.ts";
import { listSessions } from "#accounts/sessions.ts";
import { type ListedKey, listKeys } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { table } from "#pages/table.ts";
import { operator, service } from "#store/audit.ts";
import { dayMilliseconds } from "#store/durations.ts";

export const noticesRoutes: readonly Route[] = [
  route("/account/notices", "member", { GET: showNotices }),
];

const expiredMilliseconds = 14 * dayMilliseconds;
const activityMilliseconds = 30 * dayMilliseconds;
const entriesRead = 300;
const activityShown = 50;

async function showNotices(request: MemberRequest): Promise<Reply> {
  const { services, account, now } = request;
  const keys = await listKeys(services.control, { accountNumber: account.number, now });
  return page(
    noticesPage({
      frame: framed(request),
      needs: [
        ...suspension(request),
        ...keys.flatMap((key) => keyNeeds(key, now)),
        ...(await quotaNeeds(request)),
      ],
      activity: await readActivity(request, keys),
      now,
    }),
  );
}

const suspension = ({ account: { suspendedAt } }: MemberRequest): Need[] =>
  suspendedAt === null ? [] : [{ what: "suspended", since: suspendedAt }];

/** A rotated key needs nothing. */
function keyNeeds(key: ListedKey, now: number): Need[] {
  const { expiresAt: at, state, replacedBy } = key;
  if (at === null || replacedBy !== null) return [];
  if (state === "expired")
    return now - Date.parse(at) < expiredMilliseconds ? [{ what: "key-expired", key, at }] : [];
  return dueNotice(key, now) === null ? [] : [{ what: "key-expires", key, at }];
}

async function quotaNeeds({ services, account }: MemberRequest): Promise<Need[]> {
  const gauges = await readGauges(services, account.number);
  const { used, quota } = gauges.find(({ name }) => name === "day")!;
  return isQuotaNear({ used, quota })
    ? [{ what: "quota-near", percent: Math.floor((100 * used) / quota) }]
    : [];
}

interface KeyName {
  id: string;
  name: string;
}

/** Something that needs an action. */
type Need =
  | { what: "suspended"; since: string }
  | { what: "key-expires"; key: KeyName; at: string }
  | { what: "key-expired"; key: KeyName; at: string }
  | { what: "quota-near"; percent: number };

interface Activity {
  at: string;
  /** One of `activityWords`. */
  action: string;
  key: KeyName | null;
  /** More about it, such as the browser of a sign-in. */
  detail: string | null;
  /** Who did it. */
  by: string;
}

interface NoticesView {
  frame: Frame | null;
  needs: readonly Need[];
  /** Newest first. */
  activity: readonly Activity[];
  /** Milliseconds since 1970. */
  now: number;
}

/** The actions of the audit log that are shown. */
const activityWords: Readonly<Record<string, string>> = {
  "account.closed": "Account closed",
  "account.limits_changed": "Quota changed",
  "account.plan_changed": "Plan changed",
  "account.resumed": "Account resumed",
  "account.suspended": "Account suspended",
  "key.created": "Key created",
  "key.revoked": "Key revoked",
  "key.rotated": "Key rotated",
  "member.joined": "Member joined",
  "member.left": "Member left",
  "member.removed": "Member removed",
  "member.role_changed": "Role changed",
  "person.signed_in": "You signed in",
};

function noticesPage({ frame, needs, activity, now }: NoticesView): string {
  return accountPage({
    title: "Notices",
    frame,
    main: html`<h1>${headline(needs.length)}</h1>
      ${
        needs.length > 0 &&
        html`<ul class="needs">
          ${needs.map((need) => needItem(need, now))}
        </ul>`
      }
      <h2>In the last 30 days</h2>
      ${activity.length > 0 ? activityTable(activity, now) : html`<p>Nothing happened.</p>`}
      <p class="muted">
        Where the service sends mail, owners get a message 14 and 3 days before a key expires, and
        when 80 % of the quota of a day is used.
      </p>`,
  });
}

function headline(count: number): string {
  if (count === 0) return "Nothing needs you now";
  return count === 1 ? "One thing needs you" : `${count} things need you`;
}

const keyLink = ({ id, name }: KeyName): Html =>
  html`<a class="name" href="/account/keys/${id}">${name}</a>`;

const needItem = (need: Need, now: number): Html => html`<li>${needWords(need, now)}</li>`;

function needWords(need: Need, now: number): Html {
  switch (need.what) {
    case "suspended":
      return html`The account is suspended since ${relativeTime(need.since, now)}: all its keys are
      refused. Ask the operator.`;
    case "key-expires":
      return html`The key ${keyLink(need.key)}
        <span class="expires">expires ${relativeTime(need.at, now)}</span>. Rotate it before that.`;
    case "key-expired":
      return html`The key ${keyLink(need.key)} expired ${relativeTime(need.at, now)} and is refused.
        <a href="/account/keys#new">Create another</a>`;
    case "quota-near":
      return html`${need.percent} % of the quota of 24 hours are used.
        <a href="/account/usage">By which keys</a>`;
  }
}

const activityTable = (activity: readonly Activity[], now: number): Html =>
  table({
    label: "What happened, newest first",
    columns: ["What", "When", "By", { label: "More", isPlain: true }],
    rows: activity.map(({ at, action, key, detail, by }): Part[] => [
      activityWords[action],
      relativeTime(at, now),
      html`<span class="name">${by}</span>`,
      key === null ? detail : keyLink(key),
    ]),
  });

/** From the audit log, newest first; sign-ins are the person's own only. */
async function readActivity(
  request: MemberRequest,
  keys: readonly ListedKey[],
): Promise<Activity[]> {
  const { services, account, signedIn, now } = request;
  const { database } = services.control;
  const since = now - activityMilliseconds;
  const person = signedIn.person.id;
  const ofAccount = await listAudit(database, {
    account: account.number,
    since,
    limit: entriesRead,
  });
  const signIns = {
    actor: person,
    action: "person.signed_in",
    since,
    limit: activityShown,
  } as const;
  const entries = [
    ...ofAccount.filter(({ action }) => Object.hasOwn(activityWords, action)),
    ...(await listAudit(database, signIns)),
  ].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  const sessions = await listSessions(database, person, now);
  const browsers = new Map(
    sessions.map(({ id, browser, network }) => [id, `${browser}, ${network}`]),
  );
  const nameOf = namesOf(person, await listMembers(database, account.number));
  const keyOf = keysById(keys);
  return entries.slice(0, activityShown).map((entry) => ({
    at: entry.at,
    action: entry.action,
    key: keyOf(entry),
    detail: browsers.get(entry.subject ?? "") ?? null,
    by: nameOf(entry.actor),
  }));
}

const keysById = (keys: readonly ListedKey[]) => {
  const byId = new Map(keys.map((key) => [key.id, key]));
  return ({ subject }: AuditEntry) => byId.get(subject ?? "") ?? null;
};

function namesOf(person: string, members: readonly { person: string; email: string }[]) {
  const names = new Map([
    ...members.map((member) => [member.person, member.email] as const),
    [person, "you"] as const,
    [operator, "the operator"] as const,
    [service, "the service"] as const,
  ]);
  return (actor: string): string => names.get(actor) ?? "a former member";
}

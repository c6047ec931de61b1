/** Notices: what needs somebody's attention now, and what happened in the account in the last 30 days. */
import { accountPage } from "#account/components/frame.ts";
import { readGauges } from "#account/components/gauges.ts";
import { relativeTime } from "#account/components/relative.ts";
import { page, type Reply } from "#account/reply.ts";
import type { MemberRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { dueNotice, isQuotaNear } from "#account/watch-notices.ts";
import { listMembers } from "#accounts/members.ts";
import { listSessions } from "#accounts/sessions.ts";
import { type ListedKey, listKeys } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { table } from "#pages/table.ts";
import { type AuditEntry, listAudit, operator, service } from "#store/audit.ts";
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
  const needs = [
    suspension(request),
    ...keys.map((key) => keyNeed(key, now)),
    await quotaNeed(request),
  ].filter((need) => need !== null);
  const activity = await readActivity(request, keys);
  const markup = accountPage(request, {
    title: "Notices",
    main: html`<h1>${headline(needs.length)}</h1>
      ${
        needs.length > 0 &&
        html`<ul class="needs">
          ${needs.map((need) => html`<li>${need}</li>`)}
        </ul>`
      }
      <h2>In the last 30 days</h2>
      ${activity.length > 0 ? activityTable(activity, now) : html`<p>Nothing happened.</p>`}
      <p class="muted">
        Where the service sends mail, owners get a message 14 and 3 days before a key expires, and
        when 80 % of the quota of a day is used.
      </p>`,
  });
  return page(markup);
}

function suspension({ account: { suspendedAt }, now }: MemberRequest): Html | null {
  if (suspendedAt === null) return null;
  return html`The account is suspended since ${relativeTime(suspendedAt, now)}: all its keys are
  refused. Ask the operator.`;
}

/** A rotated key needs nothing. */
function keyNeed(key: ListedKey, now: number): Html | null {
  const { expiresAt: at, state, replacedBy } = key;
  if (at === null || replacedBy !== null) return null;
  if (state === "expired")
    return now - Date.parse(at) >= expiredMilliseconds
      ? null
      : html`The key ${keyLink(key)} expired ${relativeTime(at, now)} and is refused.
          <a href="/account/keys#new">Create another</a>`;
  return dueNotice(key, now) === null
    ? null
    : html`The key ${keyLink(key)} <span class="expires">expires ${relativeTime(at, now)}</span>.
        Rotate it before that.`;
}

async function quotaNeed({ services, account }: MemberRequest): Promise<Html | null> {
  const gauges = await readGauges(services, account.number);
  const { used, quota } = gauges.find(({ name }) => name === "day")!;
  if (!isQuotaNear({ used, quota })) return null;
  return html`${Math.floor((100 * used) / quota)} % of the quota of 24 hours are used.
    <a href="/account/usage">By which keys</a>`;
}

const keyLink = ({ id, name }: ListedKey): Html =>
  html`<a class="name" href="/account/keys/${id}">${name}</a>`;

interface Activity {
  at: string;
  /** One of `activityWords`. */
  action: string;
  key: ListedKey | null;
  /** More about it, such as the browser of a sign-in. */
  detail: string | null;
  /** Who did it. */
  by: string;
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

function headline(count: number): string {
  if (count === 0) return "Nothing needs you now";
  return count === 1 ? "One thing needs you" : `${count} things need you`;
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

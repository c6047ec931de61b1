/** Notices: what needs attention now, and what happened in the account in the last 30 days. */
import { listAudit, type AuditAction, operator, service } from "#store/audit.ts";
import { listMembers } from "#accounts/members.ts";
import { listSessions } from "#accounts/sessions.ts";
import { accountPage } from "#dashboard/components/page.ts";
import { type MemberRequest, type Route, route } from "#dashboard/screen.ts";
import { dueNotice, isQuotaNear, readUseOfDay } from "#dashboard/watch-notices.ts";
import { type ListedKey, listKeys } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { relativeTime } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { keyLink } from "./keys.ts";

export const noticesRoutes: readonly Route[] = [
  route("/account/notices", "member", {
    GET: showNotices,
    link: { group: "Account", label: "Notices" },
  }),
];

const expiredMilliseconds = 14 * dayMilliseconds;
const activityMilliseconds = 30 * dayMilliseconds;
const entriesRead = 300;
const activityShown = 50;

async function showNotices(request: MemberRequest): Promise<string> {
  const { services, account, now } = request;
  const keys = await listKeys(services.control, { accountNumber: account.number, now });
  const needs = [
    suspension(request),
    ...keys.map((key) => keyNeed(key, now)),
    await quotaNeed(request),
  ].filter((need) => need !== null);
  const activity = await readActivity(request, keys);
  return accountPage(request, {
    title: "Notices",
    main: html`<h1>${headline(needs.length)}</h1>
      ${
        needs.length > 0 &&
        html`<ul class="needs">
          ${needs.map((need) => html`<li>${need}</li>`)}
        </ul>`
      }
      <h2>In the last 30 days</h2>
      ${
        activity.length === 0
          ? html`<p>Nothing happened.</p>`
          : table({
              label: "What happened, newest first",
              columns: ["What", "When", "By", { label: "More", isPlain: true }],
              rows: activity,
            })
      }
      <p class="muted">
        If the service sends mail, owners get a message 14 and 3 days before a key expires, and when
        80% of the daily quota is used.
      </p>`,
  });
}

function suspension({ account: { suspendedAt }, now }: MemberRequest): Html | null {
  if (suspendedAt === null) return null;
  return html`The account was suspended ${relativeTime(suspendedAt, now)}: all its keys are refused.
  Ask the operator.`;
}

/** Returns a note that a key expired in the last 14 days or expires soon. Returns null for others and rotated keys. */
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
        Rotate it before then.`;
}

async function quotaNeed({ services, account }: MemberRequest): Promise<Html | null> {
  const { used, quota } = await readUseOfDay(services, account.number);
  if (!isQuotaNear({ used, quota })) return null;
  return html`${Math.floor((100 * used) / quota)}% of the 24-hour quota has been used.
    <a href="/account/usage">See usage by key</a>`;
}

/** Labels for the actions in the audit log that are shown. */
const activityWords: Readonly<Partial<Record<string, string>>> = {
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
} satisfies Partial<Record<AuditAction, string>>;

function headline(count: number): string {
  if (count === 0) return "Nothing needs attention";
  return count === 1 ? "One thing needs attention" : `${count} things need attention`;
}

/** Reads table rows from the audit log, newest first. Sign-ins are those of the person alone, not of other members. */
async function readActivity(request: MemberRequest, keys: readonly ListedKey[]): Promise<Part[][]> {
  const { services, account, signedIn, now } = request;
  const { database } = services.control;
  const since = now - activityMilliseconds;
  const person = signedIn.person.id;
  const ofAccount = { account: account.number, since, limit: entriesRead };
  const signIns = {
    actor: person,
    action: "person.signed_in",
    since,
    limit: activityShown,
  } as const;
  const entries = [
    ...(await listAudit(database, ofAccount)).filter(({ action }) =>
      Object.hasOwn(activityWords, action),
    ),
    ...(await listAudit(database, signIns)),
  ].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  const sessions = await listSessions(database, person, now);
  const browsers = new Map(
    sessions.map(({ id, browser, network }) => [id, `${browser}, ${network}`]),
  );
  const names = new Map([
    ...(await listMembers(database, account.number)).map((one) => [one.person, one.email] as const),
    [person, "you"],
    [operator, "the operator"],
    [service, "the service"],
  ]);
  const keyOf = new Map(keys.map((key) => [key.id, key]));
  return entries.slice(0, activityShown).map(({ at, action, subject, actor }) => {
    const key = keyOf.get(subject ?? "");
    return [
      activityWords[action],
      relativeTime(at, now),
      html`<span class="name">${names.get(actor) ?? "a former member"}</span>`,
      key === undefined ? browsers.get(subject ?? "") : keyLink(key),
    ];
  });
}

/** Notices: what happened in the account in the last 30 days. */
import { listAudit, type AuditAction, operator, service } from "#store/audit.ts";
import { listMembers } from "#accounts/members.ts";
import { headedPage } from "#dashboard/components/page.ts";
import { type MemberRequest, route } from "#dashboard/screen.ts";
import { html, type Part, table } from "#pages/html.ts";
import { relativeTime } from "#pages/prose.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { keyLink, listOwn } from "./keys.ts";

export const noticesRoutes = [
  route("/account/notices", "member", {
    GET: showNotices,
    link: { group: "Account", label: "Notices" },
  }),
];

const activityMilliseconds = 30 * dayMilliseconds;
const entriesRead = 300;
const activityShown = 50;

async function showNotices(request: MemberRequest): Promise<string> {
  const rows = await readActivity(request);
  return headedPage(request, {
    title: "Notices",
    heading: rows.length === 0 ? "No notices in the last 30 days" : "Notices of the last 30 days",
    main: html`${rows.length > 0 && table({ label: "What happened, newest first", columns, rows })}
      <p class="muted">
        If the service sends mail, owners get a message 14 and 3 days before a key expires, and when
        80% of the daily quota is used.
      </p>`,
  });
}

const columns = ["What", "When", "By", { label: "Key", isPlain: true }];

/** Labels for the audit log's actions. Actions without a label are not shown. */
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

/** Reads at most 50 table rows from the audit log, newest first. Leaves out other people's sign-ins. */
async function readActivity(request: MemberRequest): Promise<Part[][]> {
  const { services, signedIn, now } = request;
  const { database } = services.control;
  const account = request.account.number;
  const person = signedIn.person.id;
  const since = now - activityMilliseconds;
  const ofAccount = await listAudit(database, { account, since, limit: entriesRead });
  const signIns = await listAudit(database, {
    actor: person,
    action: "person.signed_in",
    since,
    limit: activityShown,
  });
  const entries = [
    ...ofAccount.filter(({ action }) => Object.hasOwn(activityWords, action)),
    ...signIns,
  ].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  const names = new Map([
    ...(await listMembers(database, account)).map((one) => [one.person, one.email] as const),
    [person, "you"],
    [operator, "the operator"],
    [service, "the service"],
  ]);
  const keys = await listOwn(request);
  return entries.slice(0, activityShown).map(({ at, action, subject, actor }) => {
    const key = keys.find(({ id }) => id === subject);
    return [
      activityWords[action],
      relativeTime(at, now),
      html`<span class="name">${names.get(actor) ?? "a former member"}</span>`,
      key && keyLink(key),
    ];
  });
}

/** The page of what an account should know: what needs somebody now, and what happened in the last 30 days. */
import { html, type Html, type Part } from "#pages/html.ts";
import { table } from "#pages/table.ts";
import { accountPage, type Frame } from "./frame.ts";
import { relativeTime } from "./relative.ts";

interface KeyName {
  id: string;
  name: string;
}

/** Something that somebody should do something about. */
export type Need =
  | { what: "suspended"; since: string }
  | { what: "key-expires"; key: KeyName; at: string }
  | { what: "key-expired"; key: KeyName; at: string }
  | { what: "quota-near"; percent: number };

export interface Happening {
  at: string;
  /** One of `happeningWords`. */
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
  happenings: readonly Happening[];
  /** Milliseconds since 1970. */
  now: number;
}

/** What is worth a line, by its action in the audit log. */
export const happeningWords: Readonly<Record<string, string>> = {
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

export function noticesPage({ frame, needs, happenings, now }: NoticesView): string {
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
      ${happenings.length > 0 ? happeningTable(happenings, now) : html`<p>Nothing happened.</p>`}
      <p class="muted">
        Where the service sends mail, owners get a letter 14 and 3 days before a key expires, and
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

const happeningTable = (happenings: readonly Happening[], now: number): Html =>
  table({
    label: "What happened, newest first",
    columns: ["What", "When", "By", { label: "More", isPlain: true }],
    rows: happenings.map(({ at, action, key, detail, by }): Part[] => [
      happeningWords[action],
      relativeTime(at, now),
      html`<span class="name">${by}</span>`,
      key === null ? detail : keyLink(key),
    ]),
  });

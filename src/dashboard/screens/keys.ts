/** All keys of an account, and the form that makes one. */
import {
  type KeyView,
  lastUseWords,
  listOwn,
  oneTimeValue,
  ownKeys,
  shownBefore,
  shownOnce,
  stateWords,
  withUse,
} from "#dashboard/components/keys.ts";
import { accountPage, choice, faultNote, field, hidden } from "#dashboard/components/page.ts";
import { formRoute, type Given, type MemberRequest, type Route } from "#dashboard/screen.ts";
import { createOwnKey, isLive, type ListedKey, liveKeysMax, newForm } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped, relativeTime } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { existsInCalendar } from "#records/fields.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds } from "#store/durations.ts";

export const keysRoutes: readonly Route[] = [
  formRoute("/account/keys", "member", {
    page: keysPage,
    act: createKey,
    link: { group: "API", label: "Keys" },
  }),
];

async function createKey(request: MemberRequest): Promise<Given> {
  const { services, form, now } = request;
  const made = await createOwnKey(services.control, {
    ...ownKeys(request),
    name: form.get("name") ?? "",
    expiresAt: readExpiry(form.get("expiry") ?? "", form.get("lastDay") ?? "", now),
    form: oneTimeValue(request),
  });
  return "key" in made ? shownOnce(request, made) : shownBefore(request, made.repeatedId);
}

const expiryDays = ["30", "90", "365"];
const expiries = [
  ...expiryDays.map((days) => ({ value: days, label: `in ${days} days` })),
  { value: "date", label: "after a day I choose" },
  { value: "never", label: "never" },
];

const yearsMax = 10;

/**
 * Reads the end of a key from the fields of a form.
 * @param expiry days, `never` or `date`. @param lastDay for `date`: the last day on which the key works, in UTC.
 * @returns milliseconds since 1970; null for never.
 * @throws DomainError `invalid`.
 */
export function readExpiry(expiry: string, lastDay: string, now: number): number | null {
  if (expiry === "never") return null;
  if (expiryDays.includes(expiry)) return now + Number(expiry) * dayMilliseconds;
  if (expiry !== "date") throw new DomainError("invalid", "Choose when the key expires.");
  const end = endOf(lastDay);
  if (Number.isNaN(end))
    throw new DomainError("invalid", "Choose the last day of the key, such as 2027-01-31.");
  if (end <= now) throw new DomainError("invalid", `${lastDay} is over. Choose a day to come.`);
  if (end > now + yearsMax * 366 * dayMilliseconds)
    throw new DomainError(
      "invalid",
      `A key lives ${yearsMax} years at most, unless it never expires. Choose an earlier day.`,
    );
  return end;
}

/** Returns the end of a day, or NaN if there is no such day. */
function endOf(day: string): number {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && existsInCalendar(day);
  return isDay ? Date.parse(day) + dayMilliseconds : Number.NaN;
}

async function keysPage(request: MemberRequest, fault?: string): Promise<string> {
  const { form, now } = request;
  const keys = await listOwn(request);
  const live = await withUse(request, keys.filter(isLive));
  const isFull = live.filter(({ replacedBy }) => replacedBy === null).length >= liveKeysMax;
  const ended = keys.filter((key) => !isLive(key));
  return accountPage(request, {
    title: "Keys",
    main: html`<h1>${headline(live.length)}</h1>
      ${live.length > 0 ? liveTable(live, now) : firstWords}
      <h2 id="new">Create a key</h2>
      ${faultNote(fault)}
      ${
        isFull
          ? html`<p>An account may have ${liveKeysMax} keys that work. Revoke one first.</p>`
          : newKeyForm(form)
      }
      ${await endedKeys(request, ended)}`,
  });
}

function headline(live: number): string {
  if (live === 0) return "No key yet";
  return live === 1 ? "One key" : `${live} keys`;
}

const firstWords = html`<p>
  Create one below, it takes ten seconds. A program sends it in the header
  <code>x-api-key</code> with every request.
</p>`;

const liveTable = (keys: readonly KeyView[], now: number): Html =>
  html`${keyTable("Keys that work", keys, now)}
    <p class="muted">
      Last use may be a minute late. Today began at 00:00 UTC. All keys of the account share one
      <a href="/account/usage">quota</a>.
    </p>`;

const keyTable = (label: string, keys: readonly KeyView[], now: number): Html =>
  table({
    label,
    columns: [
      "Key",
      "Begins with",
      "State",
      "Created",
      "Last used",
      { label: "Requests today", isNumber: true },
    ],
    rows: keys.map((key) => [
      html`<a class="name" href="/account/keys/${key.id}">${key.name}</a>`,
      html`<code>${key.hint}…</code>`,
      stateWords(key, now),
      relativeTime(key.createdAt, now),
      lastUseWords(key, now),
      grouped(key.requestsToday),
    ]),
  });

/** Returns the form that makes a key. @param typed fields of the form as they were sent. */
const newKeyForm = (typed: URLSearchParams): Html =>
  html`<form class="form" method="post" action="/account/keys">
    ${hidden("form", newForm())}
    ${field({
      name: "name",
      label: "Name",
      hint: "what it is for, such as the program that will use it",
      value: typed.get("name") ?? "",
      lengthMax: 100,
    })}
    ${choice("expiry", "It expires", expiries, typed.get("expiry") ?? "90")}
    <div class="only-with-date">
      ${field({
        name: "lastDay",
        label: "Last day",
        hint: "it works through this day, UTC",
        type: "date",
        value: typed.get("lastDay") ?? "",
        isOptional: true,
      })}
    </div>
    <p class="muted">The whole key is shown once, on the next page. Have a safe place ready.</p>
    <button>Create key</button>
  </form>`;

const endedShown = 20;

/** Returns a page of the keys that are expired or revoked, newest first. */
async function endedKeys(request: MemberRequest, ended: readonly ListedKey[]): Promise<Part> {
  const from = Number(/^\d{1,6}$/.exec(request.query.get("ended") ?? "")?.[0] ?? 0);
  const shown = await withUse(request, ended.slice(from, from + endedShown));
  if (shown.length === 0) return null;
  const next = from + shown.length;
  return html`<h2>Keys that have ended</h2>
    <details ${from > 0 && html`open`}>
      <summary>${grouped(ended.length)} expired or revoked</summary>
      ${keyTable("Keys that have ended", shown, request.now)}
      ${next < ended.length && html`<p><a href="/account/keys?ended=${next}">Older ones</a></p>`}
    </details>`;
}

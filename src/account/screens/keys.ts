/** All keys of an account, and the form that makes one. */
import { choice, faultNote, field, hidden } from "#account/components/form-fields.ts";
import { accountPage } from "#account/components/frame.ts";
import {
  type KeyView,
  lastUseWords,
  listOwn,
  ownKeys,
  readExpiry,
  stateWords,
  withUse,
} from "#account/components/key-views.ts";
import { oneTimeValue, shownBefore, shownOnce } from "#account/components/new-key.ts";
import { relativeTime } from "#account/components/relative.ts";
import { refusal } from "#account/refusal-reply.ts";
import { page, type Reply } from "#account/reply.ts";
import type { MemberRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { isLive, type ListedKey } from "#keys/keys.ts";
import { liveKeysMax, createOwnKey, newForm } from "#keys/own-keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { DomainError } from "#store/domain-error.ts";

export const keysRoutes: readonly Route[] = [
  route("/account/keys", "member", { GET: showKeys, POST: createKey }),
];

async function showKeys(request: MemberRequest): Promise<Reply> {
  return page(await keysPage(request, emptyKeyForm));
}

async function createKey(request: MemberRequest): Promise<Reply> {
  const { services, form, now } = request;
  const typed: KeyForm = {
    name: form.get("name") ?? "",
    expiry: form.get("expiry") ?? "",
    lastDay: form.get("lastDay") ?? "",
  };
  try {
    const made = await createOwnKey(services.control, {
      ...ownKeys(request),
      name: typed.name,
      expiresAt: readExpiry(typed.expiry, typed.lastDay, now),
      form: oneTimeValue(request),
    });
    return "issued" in made
      ? shownOnce(request, made.issued)
      : shownBefore(request, made.repeatedId);
  } catch (fault) {
    if (!(fault instanceof DomainError)) throw fault;
    return refusal(fault, await keysPage(request, typed, fault.message));
  }
}

/** The fields of the form. */
interface KeyForm {
  name: string;
  /** A number of days, `date` or `never`. */
  expiry: string;
  /** The last day, as the browser sends it; empty where none is chosen. */
  lastDay: string;
}

const expiries = [
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in 365 days" },
  { value: "date", label: "after a day I choose" },
  { value: "never", label: "never" },
] as const;

const emptyKeyForm: KeyForm = { name: "", expiry: "90", lastDay: "" };

async function keysPage(request: MemberRequest, typed: KeyForm, fault?: string): Promise<string> {
  const { now } = request;
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
          : newKeyForm(typed)
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

const newKeyForm = (typed: KeyForm): Html =>
  html`<form class="form" method="post" action="/account/keys">
    ${hidden("form", newForm())}
    ${field({
      name: "name",
      label: "Name",
      hint: "what it is for, such as the program that will use it",
      value: typed.name,
      lengthMax: 100,
    })}
    ${choice("expiry", "It expires", expiries, typed.expiry)}
    <div class="only-with-date">
      ${field({
        name: "lastDay",
        label: "Last day",
        hint: "it works through this day, UTC",
        type: "date",
        value: typed.lastDay,
        isOptional: true,
      })}
    </div>
    <p class="muted">The whole key is shown once, on the next page. Have a safe place ready.</p>
    <button>Create key</button>
  </form>`;

const endedShown = 20;

/** A page of the keys that are expired or revoked, newest first. */
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

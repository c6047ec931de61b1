/** All keys of an account, and the making of one. */
import { callLines } from "#account/components/call-lines.ts";
import { choice, faultNote, field, hidden } from "#account/components/fields.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import {
  type KeyView,
  lastUseWords,
  listOwn,
  ownKeys,
  readExpiry,
  stateWords,
  withUse,
} from "#account/components/key-views.ts";
import { exactTime, relativeTime } from "#account/components/relative.ts";
import { wordPage } from "#account/components/word.ts";
import { refusal } from "#account/refusal.ts";
import { page, type Reply } from "#account/reply.ts";
import type { MemberRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { liveKeysMax } from "#keys/caps.ts";
import { isLive, type IssuedKey } from "#keys/keys.ts";
import { createOwnKey, newForm } from "#keys/own-keys.ts";
import { operations } from "#operations/index.ts";
import { copyBlock } from "#pages/code-block.ts";
import { exampleTarget } from "#pages/example-query.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { DomainError } from "#store/domain-error.ts";

async function showKeys(request: MemberRequest): Promise<Reply> {
  return page(await keysMarkup(request, emptyKeyForm));
}

const endedShown = 20;

async function keysMarkup(request: MemberRequest, typed: KeyForm, fault?: string): Promise<string> {
  const keys = await listOwn(request);
  const live = keys.filter(isLive);
  const ended = keys.filter((key) => !isLive(key));
  const endedFrom = Number(/^\d{1,6}$/.exec(request.query.get("ended") ?? "")?.[0] ?? 0);
  return keysPage({
    frame: framed(request),
    live: await withUse(request, live),
    ended: await withUse(request, ended.slice(endedFrom, endedFrom + endedShown)),
    endedFrom,
    endedCount: ended.length,
    form: newForm(),
    typed,
    liveMax: liveKeysMax,
    isFull: live.filter(({ replacedBy }) => replacedBy === null).length >= liveKeysMax,
    fault,
    now: request.now,
  });
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
    return refusal(fault, await keysMarkup(request, typed, fault.message));
  }
}

const formShape = /^[\w-]{16,64}$/;

/** @throws DomainError `invalid` where the form was not one of ours. */
export function oneTimeValue({ form }: MemberRequest): string {
  const value = form.get("form") ?? "";
  if (formShape.test(value)) return value;
  throw new DomainError("invalid", "The form was incomplete. Load the page again and fill it in.");
}

/** The answer to the POST itself: behind a redirect the key would have to be kept. */
export function shownOnce(
  request: MemberRequest,
  { id, key, name, expiresAt }: IssuedKey,
  old?: { id: string; expiresAt: string },
): Reply {
  const { own, now } = request;
  const target = exampleTarget(operations[0]!);
  const replaced = old === undefined ? {} : { old };
  const frame = framed(request);
  const view = { frame, id, key, name, expiresAt, ...replaced, base: own.base, target, now };
  return page(newKeyPage(view));
}

/** To a form that was sent a second time: by a reload, or by going back to it. */
export const shownBefore = (request: MemberRequest, id: string): Reply =>
  page(
    wordPage(
      "This key was made already",
      "It was shown once, and nobody can show it again. If it is lost, rotate it.",
      framed(request),
      { href: `/account/keys/${id}`, label: "To the key" },
    ),
    409,
  );

export const keysRoutes: readonly Route[] = [
  route("/account/keys", "member", { GET: showKeys, POST: createKey }),
];

/** The one page that ever shows a whole key. */
interface NewKeyView {
  frame: Frame | null;
  id: string;
  key: string;
  name: string;
  expiresAt: string | null;
  /** The key in whose place it was made. */
  old?: { id: string; expiresAt: string };
  /** Origin (and path) of the service. */
  base: string;
  /** Path and query of a request to try. */
  target: string;
  /** Milliseconds since 1970. */
  now: number;
}

function newKeyPage(view: NewKeyView): string {
  const { frame, key, base, target } = view;
  const lines = callLines({ base, target, key });
  return accountPage({
    title: "Your new key",
    frame,
    scripts: ["account.js"],
    main: html`<h1>Your new key</h1>
      <p>
        Copy it now: it is shown this once and stored nowhere. If you lose it,
        <a href="/account/keys/${view.id}">rotate it</a>.
      </p>
      <div data-once>
        ${copyBlock("The whole key", key)} ${lifeOf(view)}
        <h2>Try it</h2>
        ${copyBlock("Request with curl", lines.curl)}
        <h2>Keep it beside your program</h2>
        <p>In a file <code>.env</code> that no repository takes in:</p>
        ${copyBlock("Line for .env", lines.environment)}
      </div>
      <h2>Ask with it</h2>
      <h3>TypeScript</h3>
      ${copyBlock("Request in TypeScript", lines.typescript)}
      <h3>Python</h3>
      ${copyBlock("Request in Python", lines.python)}
      <p><a class="button" href="/account/keys">To all keys</a></p>`,
  });
}

function lifeOf({ name, expiresAt, old, now }: NewKeyView): Html {
  const end: Part =
    expiresAt === null
      ? "does not expire"
      : html`expires ${relativeTime(expiresAt, now)} (${exactTime(expiresAt)})`;
  return html`<p>The key <strong>${name}</strong> ${end}.</p>
    ${old !== undefined && oldLife(old.expiresAt, now)}`;
}

const oldLife = (expiresAt: string, now: number): Html =>
  Date.parse(expiresAt) <= now
    ? html`<p>The old key is refused from now on.</p>`
    : html`<p>The old key works until ${exactTime(expiresAt)}. Both share one quota.</p>`;

/** What the form was sent with. */
interface KeyForm {
  name: string;
  /** Days, or one of `date` and `never`. */
  expiry: string;
  /** The last day, as the browser sends it; empty where none is chosen. */
  lastDay: string;
}

interface KeysView {
  frame: Frame | null;
  /** Keys that are neither revoked nor expired, newest first. */
  live: readonly KeyView[];
  /** Some of those that are: so many newer ones are passed over. */
  ended: readonly KeyView[];
  endedFrom: number;
  endedCount: number;
  /** One-time value of the form. */
  form: string;
  typed: KeyForm;
  liveMax: number;
  /** There are as many already. */
  isFull: boolean;
  fault?: string | undefined;
  /** Milliseconds since 1970. */
  now: number;
}

const expiries = [
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in 365 days" },
  { value: "date", label: "after a day I choose" },
  { value: "never", label: "never" },
] as const;

const emptyKeyForm: KeyForm = { name: "", expiry: "90", lastDay: "" };

function keysPage(view: KeysView): string {
  const { live, now, frame } = view;
  return accountPage({
    title: "Keys",
    frame,
    main: html`<h1>${headline(live.length)}</h1>
      ${live.length > 0 ? liveTable(live, now) : firstWords}
      <h2 id="new">Create a key</h2>
      ${faultNote(view.fault)} ${newKeyForm(view)} ${endedKeys(view)}`,
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

function newKeyForm({ form, typed, liveMax, isFull }: KeysView): Html {
  if (isFull) return html`<p>An account may have ${liveMax} keys that work. Revoke one first.</p>`;
  return html`<form class="form" method="post" action="/account/keys">
    ${hidden("form", form)}
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
}

function endedKeys({ ended, endedFrom, endedCount, now }: KeysView): Part {
  if (ended.length === 0) return null;
  const next = endedFrom + ended.length;
  return html`<h2>Keys that have ended</h2>
    <details ${endedFrom > 0 && html`open`}>
      <summary>${grouped(endedCount)} expired or revoked</summary>
      ${keyTable("Keys that have ended", ended, now)}
      ${next < endedCount && html`<p><a href="/account/keys?ended=${next}">Older ones</a></p>`}
    </details>`;
}

/** The page of all keys of an account, with the form that makes one. */
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { choice, faultNote, field, hidden } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";
import { type KeyView, lastUseWords, stateWords } from "./key-state.ts";
import { relativeTime } from "./relative.ts";

/** What the form was sent with. */
export interface KeyForm {
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

export const emptyKeyForm: KeyForm = { name: "", expiry: "90", lastDay: "" };

export function keysPage(view: KeysView): string {
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

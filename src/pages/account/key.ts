/** The page of one key: what it is, and the three things one can do with it. */
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { doneNote } from "./done.ts";
import { choice, faultNote, field, hidden } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";
import { isLive, type KeyView, lastUseWords, stateWords } from "./key-state.ts";
import { exactTime, relativeTime } from "./relative.ts";

interface OneKeyView {
  frame: Frame | null;
  key: KeyView;
  /** Who made it; null for the operator. */
  madeBy: string | null;
  /** The key that a rotation made in its place. */
  replacedBy: { id: string; name: string } | null;
  /** One-time value of the form that rotates. */
  form: string;
  done: string | null;
  fault?: string | undefined;
  /** Milliseconds since 1970. */
  now: number;
}

const overlapChoices = [
  { value: "0", label: "at once" },
  { value: "3600000", label: "in 1 hour" },
  { value: "86400000", label: "in 24 hours" },
  { value: "604800000", label: "in 7 days" },
] as const;

const sentences = {
  renamed: "The key has its new name.",
  revoked: "The key is revoked: it is refused from the next request on.",
};

export function keyPage(view: OneKeyView): string {
  const { frame, key, now } = view;
  return accountPage({
    title: `Key ${key.name}`,
    frame,
    main: html`<h1 class="name">${key.name}</h1>
      ${doneNote(sentences, view.done)} ${faultNote(view.fault)} ${facts(view)}
      <p>
        <a href="/account/requests?key=${key.id}">Its requests</a> ·
        <a href="/account/keys">All keys</a>
      </p>
      ${isLive(key) && [renameForm(key), rotateForm(view), revokeForm(key, now)]}`,
  });
}

function facts({ key, madeBy, replacedBy, now }: OneKeyView): Html {
  const lines: (readonly [string, Part] | null)[] = [
    ["State", stateWords(key, now)],
    ["Begins with", html`<code>${key.hint}…</code>`],
    ["Id", html`<code>${key.id}</code>`],
    ["Created", html`${relativeTime(key.createdAt, now)} by ${madeBy ?? "the operator"}`],
    ["Expires", key.expiresAt === null ? "never" : exactTime(key.expiresAt)],
    replacedBy && [
      "Replaced by",
      html`<a class="name" href="/account/keys/${replacedBy.id}">${replacedBy.name}</a>`,
    ],
    ["Last used", lastUseWords(key, now)],
    ["Requests today", grouped(key.requestsToday)],
  ];
  return html`<dl class="facts key-facts">
    ${lines.map(
      (line) =>
        line &&
        html`<div>
          <dt>${line[0]}</dt>
          <dd>${line[1]}</dd>
        </div>`,
    )}
  </dl>`;
}

const actionForm = (key: KeyView, what: "rename" | "rotate" | "revoke", content: Part): Html =>
  html`<form class="form" method="post" action="/account/keys/${key.id}/${what}">${content}</form>`;

const renameForm = (key: KeyView): Html =>
  html`<h2>Rename</h2>
    ${actionForm(
      key,
      "rename",
      html`${field({ name: "name", label: "Name", value: key.name, lengthMax: 100 })}
        <button class="quiet">Rename key</button>`,
    )}`;

/** A key that was rotated has its successor to rotate. */
function rotateForm({ key, replacedBy, form }: OneKeyView): Part {
  if (replacedBy !== null) return null;
  return html`<h2>Rotate</h2>
    <p>
      A new key of the same name and the same length of life, shown once on the next page. Both
      share one quota.
    </p>
    ${actionForm(
      key,
      "rotate",
      html`${hidden("form", form)} ${choice("overlap", "This key ends", overlapChoices, "86400000")}
        <button class="quiet">Rotate key</button>`,
    )}`;
}

const revokeForm = (key: KeyView, now: number): Html =>
  html`<h2>Revoke</h2>
    <details>
      <summary>End this key for good</summary>
      <p>
        ${key.lastUse === null ? "It was never used." : html`It was last used ${lastUseWords(key, now)}.`}
        From the next request on whoever sends it is refused. This cannot be undone.
      </p>
      ${actionForm(key, "revoke", html`<button class="danger">Revoke key</button>`)}
    </details>`;

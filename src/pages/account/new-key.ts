/** The one page that ever shows a whole key. */
import { copyBlock } from "#pages/code-block.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { callLines } from "./call-lines.ts";
import { accountPage, type Frame } from "./frame.ts";
import { exactTime, relativeTime } from "./relative.ts";

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

export function newKeyPage(view: NewKeyView): string {
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

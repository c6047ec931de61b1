/** The only page that ever shows a whole key: after one is made, or rotated. */
import type { MemberRequest } from "#dashboard/request.ts";
import { page, type Reply } from "#dashboard/reply.ts";
import type { IssuedKey } from "#keys/keys.ts";
import { operations } from "#operations/index.ts";
import { copyBlock } from "#pages/code-block.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { agentSettings, callLines, exampleTarget } from "#pages/snippets.ts";
import { DomainError } from "#store/domain-error.ts";
import { accountPage, wordPage } from "./frame.ts";
import { exactTime, relativeTime } from "./relative.ts";

const formShape = /^[\w-]{16,64}$/;

/** The form's one-time value. @throws DomainError `invalid` if the form was not one of ours. */
export function oneTimeValue({ form }: MemberRequest): string {
  const value = form.get("form") ?? "";
  if (formShape.test(value)) return value;
  throw new DomainError("invalid", "The form was incomplete. Load the page again and fill it in.");
}

/** The response to a form that is sent again, by a reload or after going back. */
export const shownBefore = (request: MemberRequest, id: string): Reply =>
  page(
    wordPage(
      request,
      "This key was made already",
      "It was shown once, and nobody can show it again. If it is lost, rotate it.",
      { href: `/account/keys/${id}`, label: "To the key" },
    ),
    409,
  );

/**
 * The response to the POST itself: after a redirect the key would have to be stored.
 * @param oldExpiresAt when the key that it replaces ends.
 */
export function shownOnce(request: MemberRequest, issued: IssuedKey, oldExpiresAt?: string): Reply {
  const { id, key } = issued;
  const { base } = request.own;
  const target = exampleTarget(operations[0]!);
  const lines = callLines({ base, target, key });
  const markup = accountPage(request, {
    title: "Your new key",
    scripts: ["account.js"],
    main: html`<h1>Your new key</h1>
      <p>
        Copy it now: it is shown this once and stored nowhere. If you lose it,
        <a href="/account/keys/${id}">rotate it</a>.
      </p>
      <div data-once>
        ${copyBlock("The whole key", key)} ${lifeOf(issued, oldExpiresAt, request.now)}
        <h2>Try it</h2>
        ${copyBlock("Request with curl", lines.curl)}
        <h2>Keep it beside your program</h2>
        <p>In a file <code>.env</code> that no repository takes in:</p>
        ${copyBlock("Line for .env", lines.environment)}
        <h2>Give it to an agent</h2>
        <p>
          Programs that speak MCP take these settings; <a href="/docs/mcp">Agents</a> says what they
          can ask.
        </p>
        ${agentSettings({ base, key }).map(
          ({ name, place, text }) =>
            html`<details>
              <summary>${name}</summary>
              <p>In ${place}:</p>
              ${copyBlock(`Settings of ${name}`, text)}
            </details>`,
        )}
      </div>
      <h2>Ask with it</h2>
      <h3>TypeScript</h3>
      ${copyBlock("Request in TypeScript", lines.typescript)}
      <h3>Python</h3>
      ${copyBlock("Request in Python", lines.python)}
      <p><a class="button" href="/account/keys">To all keys</a></p>`,
  });
  return page(markup);
}

function lifeOf({ name, expiresAt }: IssuedKey, old: string | undefined, now: number): Html {
  const end: Part =
    expiresAt === null
      ? "does not expire"
      : html`expires ${relativeTime(expiresAt, now)} (${exactTime(expiresAt)})`;
  return html`<p>The key <strong>${name}</strong> ${end}.</p>
    ${old !== undefined && oldLife(old, now)}`;
}

const oldLife = (expiresAt: string, now: number): Html =>
  Date.parse(expiresAt) <= now
    ? html`<p>The old key is refused from now on.</p>`
    : html`<p>The old key works until ${exactTime(expiresAt)}. Both share one quota.</p>`;

/** Keys as the account pages show them: with their use and their state in words; a new one, once. */
import { type MemberRequest, type Reply } from "#dashboard/screen.ts";
import {
  findOwnKey,
  isLive,
  type IssuedKey,
  type ListedKey,
  listKeys,
  type OwnKeys,
} from "#keys/keys.ts";
import { operations } from "#operations/index.ts";
import { agentSettings, callLines, copyBlock, exampleTarget } from "#pages/code-block.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { exactTime, relativeTime } from "#pages/prose.ts";
import { DomainError } from "#store/domain-error.ts";
import { type LastUse, readLastUse } from "#usage/recording.ts";
import { readRequestsToday } from "#usage/totals.ts";
import { accountPage, wordReply } from "./page.ts";

export interface KeyView extends ListedKey {
  /** Null if it was never used. */
  lastUse: LastUse | null;
  /** Since midnight, UTC. */
  requestsToday: number;
}

export function stateWords({ state, expiresAt, revokedAt }: KeyView, now: number): Html {
  if (state === "expiring")
    return html`<span class="expires">expires ${relativeTime(expiresAt!, now)}</span>`;
  if (state === "expired") return html`expired ${relativeTime(expiresAt!, now)}`;
  if (state === "revoked") return html`revoked ${relativeTime(revokedAt!, now)}`;
  return html`${state}`;
}

/** Returns the last use in words, such as "4 minutes ago from 203.0.113.0/24". */
export function lastUseWords({ lastUse }: Pick<KeyView, "lastUse">, now: number): Part {
  if (lastUse === null) return "never";
  const { at, network } = lastUse;
  return html`${relativeTime(at, now)}${network !== null && html` from <span class="mono">${network}</span>`}`;
}

/** Returns the account whose keys they are, and the person who acts. */
export const ownKeys = ({ account, signedIn, now }: MemberRequest): OwnKeys => ({
  account,
  person: signedIn.person.id,
  now,
});

/** Lists the keys of the account, newest first. */
export async function listOwn({ services, account, now }: MemberRequest): Promise<ListedKey[]> {
  const listed = await listKeys(services.control, { accountNumber: account.number, now });
  return listed.toReversed();
}

/** Reads the live keys, newest first. */
export const readLiveKeys = async (request: MemberRequest): Promise<KeyView[]> =>
  withUse(request, (await listOwn(request)).filter(isLive));

/** Reads a key. @throws DomainError `not_found`; a request for a key of another account goes into the audit log. */
export async function readKeyView(request: MemberRequest, id: string): Promise<KeyView> {
  const key = await findOwnKey(request.services.control, { ...ownKeys(request), id });
  const [view] = await withUse(request, [key]);
  return view!;
}

/** Adds the use of each key. @param keys only those on the page, as each is looked up. */
export async function withUse(
  request: MemberRequest,
  keys: readonly ListedKey[],
): Promise<KeyView[]> {
  if (keys.length === 0) return [];
  const { services, account, now } = request;
  const ids = keys.map(({ id }) => id);
  const lastUse = await readLastUse(services.usage, ids);
  const today = await readRequestsToday(services.usage, account.number, now);
  return keys.map((key) => ({
    ...key,
    lastUse: lastUse.get(key.id) ?? null,
    requestsToday: today.get(key.id) ?? 0,
  }));
}

const formShape = /^[\w-]{16,64}$/;

/** Returns the form's one-time value. @throws DomainError `invalid` if the form was not one of ours. */
export function oneTimeValue({ form }: MemberRequest): string {
  const value = form.get("form") ?? "";
  if (formShape.test(value)) return value;
  throw new DomainError("invalid", "The form was incomplete. Load the page again and fill it in.");
}

/** Responds to a form that is sent again, by a reload or after going back. */
export const shownBefore = (request: MemberRequest, id: string): Reply =>
  wordReply(
    request,
    409,
    "This key was made already",
    "It was shown once, and nobody can show it again. If it is lost, rotate it.",
    { href: `/account/keys/${id}`, label: "To the key" },
  );

/**
 * Responds to the POST itself with the key: after a redirect it would have to be stored.
 * @param oldExpiresAt end of the key that it replaces.
 */
export function shownOnce(
  request: MemberRequest,
  issued: IssuedKey,
  oldExpiresAt?: string,
): string {
  const { id, key } = issued;
  const { base } = request.own;
  const target = exampleTarget(operations[0]!);
  const lines = callLines({ base, target, key });
  return accountPage(request, {
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

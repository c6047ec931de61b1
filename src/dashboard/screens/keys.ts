/** An account's keys: a list with a form that creates a key, and a page to rename, rotate or revoke one. */
import { listMembers } from "#accounts/members.ts";
import {
  choice,
  field,
  headedPage,
  hidden,
  postForm,
  wordReply,
} from "#dashboard/components/page.ts";
import { type MemberRequest, posting, type Reply, route, seeOther } from "#dashboard/screen.ts";
import {
  createOwnKey,
  findOwnKey,
  isLive,
  type IssuedKey,
  type ListedKey,
  listKeys,
  liveKeysMax,
  overlapDefault,
  overlaps,
  type OwnKeys,
  renameOwnKey,
  revokeOwnKey,
  rotateOwnKey,
} from "#keys/keys.ts";
import { operations } from "#operations/index.ts";
import { callLines, copyBlock, exampleTarget } from "#pages/code-block.ts";
import { factList, html, type Html, type Part, table } from "#pages/html.ts";
import { counted, dayText, exactTime, grouped, relativeTime } from "#pages/prose.ts";
import { sparkline } from "#pages/plot.ts";
import { DomainError } from "#store/store-fault.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { makeToken } from "#store/random-text.ts";
import { type LastUse, readLastUse } from "#usage/recording.ts";
import { readDaysByKey } from "#usage/totals.ts";

export const keysRoutes = [
  route("/account/keys", "member", {
    GET: keysPage,
    POST: posting(keysPage, createKey),
    link: { group: "API", label: "Keys" },
  }),
  route("/account/keys/{id}", "member", { GET: keyPage }),
  route("/account/keys/{id}/rename", "member", { POST: posting(keyPage, rename) }),
  route("/account/keys/{id}/rotate", "member", { POST: posting(keyPage, rotate) }),
  route("/account/keys/{id}/revoke", "member", { POST: posting(keyPage, revoke) }),
];

async function createKey(request: MemberRequest): Promise<Reply | string> {
  const { services, form, now } = request;
  const made = await createOwnKey(services.control, {
    ...ownKeys(request),
    name: form.get("name") ?? "",
    expiresAt: readExpiry(form.get("expiry") ?? "", now),
    form: oneTimeValue(request),
  });
  return "key" in made ? shownOnce(request, made) : shownBefore(request, made.repeatedId);
}

const expiryDays = ["30", "90", "365"];

/** Returns the choices for a new key's expiry: a number of 24-hour days from now, or never. */
const expiries = (now: number) => [
  ...expiryDays.map((days) => {
    const end = new Date(now + Number(days) * dayMilliseconds).toISOString();
    return { value: days, label: `in ${days} days, ${dayText(end.slice(0, 10))}` };
  }),
  { value: "never", label: "never" },
];

/** Returns a key's expiry in ms since 1970; null for never. @throws DomainError `invalid` for any other choice. */
function readExpiry(choice: string, now: number): number | null {
  if (choice === "never") return null;
  if (expiryDays.includes(choice)) return now + Number(choice) * dayMilliseconds;
  throw new DomainError("invalid", "No key was created. Choose when the key expires.");
}

async function keysPage(request: MemberRequest, fault?: string): Promise<string> {
  const { form, now } = request;
  const keys = await listOwn(request);
  const live = await withUse(request, keys.filter(isLive));
  const isFull = live.filter(({ replacedBy }) => replacedBy === null).length >= liveKeysMax;
  const ended = keys.filter((key) => !isLive(key));
  const expiring = live.filter(({ state }) => state === "expiring").length;
  return headedPage(request, {
    title: "Keys",
    heading: html`${live.length === 0 ? "No key yet" : counted(live.length, "key")}
    ${expiring > 0 && html`<span>${expiring === 1 ? "one expires" : `${expiring} expire`} soon</span>`}`,
    fault,
    main: html`<div class="beside">
      <div>${liveKeys(live, now)} ${await endedKeys(request, ended)}</div>
      <section class="card">
        <h2 id="new">Create a key</h2>
        ${
          isFull
            ? html`<p>An account may have ${liveKeysMax} keys that work. First revoke a key.</p>`
            : newKeyForm(form, now)
        }
      </section>
    </div>`,
  });
}

const liveKeys = (keys: readonly KeyView[], now: number): Html =>
  keys.length === 0
    ? html`<p>
        Create a key; it takes ten seconds. A program sends the key in the header
        <code>x-api-key</code> with every request.
      </p>`
    : html`${keyTable("Keys that work", keys, now)}
        <p class="muted">
          Last uses may be a minute late. Today began at 00:00 UTC. All keys of the account share
          one
          <a href="/account/usage">quota</a>.
        </p>
        ${keys.filter(({ state, replacedBy }) => state === "expiring" && replacedBy === null).map(endingNote)}`;

const endingNote = ({ id, name, expiresAt }: KeyView): Html =>
  html`<section class="card expires">
    <h2>“<span class="name">${name}</span>” expires at ${exactTime(expiresAt!)}</h2>
    <p>Rotate this key before then, and choose how long it goes on working beside the new key.</p>
    <p><a class="button" href="/account/keys/${id}">Rotate key</a></p>
  </section>`;

const keyTable = (label: string, keys: readonly KeyView[], now: number): Html =>
  table({
    label,
    columns: [
      "Key",
      "Begins with",
      "Last used",
      { label: "Requests today", isNumber: true },
      "Expires",
    ],
    rows: keys.map((key) => [
      keyLink(key),
      html`<code>${key.hint}…</code>`,
      lastUseWords(key, now),
      html`${sparkline(key.days)} ${grouped(key.days.at(-1)!)}`,
      expiryWords(key, now),
    ]),
  });

export const keyLink = ({ id, name }: Pick<ListedKey, "id" | "name">): Html =>
  html`<a class="name" href="/account/keys/${id}">${name}</a>`;

const newKeyForm = (typed: URLSearchParams, now: number): Html =>
  postForm(
    "/account/keys",
    "Create key",
    html`${hidden("form", makeToken())}
      ${field({ name: "name", label: "Name", hint: "the program that will use it", value: typed.get("name") ?? "", lengthMax: 100 })}
      ${choice("expiry", "Expires", expiries(now), typed.get("expiry") ?? "90")}
      <p class="muted">The whole key is shown once, on the next page. Have a safe place ready.</p>`,
  );

const endedShown = 20;

/** Returns a table of the newest keys that have ended; null for none. @param ended all ended keys, newest first. */
async function endedKeys(request: MemberRequest, ended: readonly ListedKey[]): Promise<Part> {
  if (ended.length === 0) return null;
  const shown = await withUse(request, ended.slice(0, endedShown));
  return html`<h2>Keys that have ended</h2>
    <details>
      <summary>${grouped(ended.length)} expired or revoked</summary>
      ${keyTable("Keys that have ended", shown, request.now)}
      ${ended.length > endedShown && html`<p class="muted">These are the newest ${endedShown} of them.</p>`}
    </details>`;
}

const idOf = ({ names }: MemberRequest): string => names["id"]!;
const own = (request: MemberRequest) => ({ ...ownKeys(request), id: idOf(request) });

async function addressOf({ services, account }: MemberRequest, person: string): Promise<string> {
  const members = await listMembers(services.control.database, account.number);
  return members.find((member) => member.person === person)?.email ?? "a former member";
}

async function rename(request: MemberRequest): Promise<Reply> {
  const name = request.form.get("name") ?? "";
  await renameOwnKey(request.services.control, { ...own(request), name });
  return seeOther(`/account/keys/${idOf(request)}?done=renamed`);
}

async function revoke(request: MemberRequest): Promise<Reply> {
  await revokeOwnKey(request.services.control, own(request));
  return seeOther(`/account/keys/${idOf(request)}?done=revoked`);
}

async function rotate(request: MemberRequest): Promise<Reply | string> {
  const rotated = await rotateOwnKey(request.services.control, {
    ...own(request),
    overlapMilliseconds: Number(request.form.get("overlap") || Number.NaN),
    form: oneTimeValue(request),
  });
  if ("repeatedId" in rotated) return shownBefore(request, rotated.repeatedId);
  return shownOnce(request, rotated.issued, rotated.oldExpiresAt);
}

const overlapChoices = overlaps.map(({ milliseconds, words }) => ({
  value: String(milliseconds),
  label: words,
}));

async function keyPage(request: MemberRequest, fault?: string): Promise<string> {
  const { now } = request;
  const key = await readKeyView(request, idOf(request));
  const madeBy = key.madeBy === null ? "the operator" : await addressOf(request, key.madeBy);
  const replacedBy = key.replacedBy === null ? null : await readKeyView(request, key.replacedBy);
  const facts: (readonly [string, Part])[] = [
    ["State", key.state],
    ["Begins with", html`<code>${key.hint}…</code>`],
    ["Id", html`<code>${key.id}</code>`],
    ["Created", html`${relativeTime(key.createdAt, now)} by ${madeBy}`],
    [isLive(key) ? "Expires" : "Ended", expiryWords(key, now)],
    ["Replaced by", replacedBy && keyLink(replacedBy)],
    ["Last used", lastUseWords(key, now)],
    ["Requests today", grouped(key.days.at(-1)!)],
  ];
  return headedPage(request, {
    title: `Key ${key.name}`,
    heading: key.name,
    done: {
      renamed: "The key has been renamed.",
      revoked: "The key has been revoked: requests with this key are refused from now on.",
    },
    fault,
    main: html`${factList(facts)}
      <p>
        <a href="/account/requests?key=${key.id}">Requests with this key</a> ·
        <a href="/account/keys">All keys</a>
      </p>
      ${isLive(key) && keyForms(key, now)}`,
  });
}

/** Returns the forms for a live key. A rotated key cannot be rotated again; its successor can. */
function keyForms(key: KeyView, now: number): Html {
  const action = `/account/keys/${key.id}`;
  const name = field({ name: "name", label: "Name", value: key.name, lengthMax: 100 });
  const overlap = choice("overlap", "This key ends", overlapChoices, String(overlapDefault));
  const rotation = html`${hidden("form", makeToken())} ${overlap}`;
  return html`<h2>Rename</h2>
    ${postForm(`${action}/rename`, "Rename key", name, "quiet")}
    ${
      key.replacedBy === null &&
      html`<h2>Rotate</h2>
        <p>
          This creates a key with the same name and lifetime, which is shown once, on the next page.
          Both keys share one quota.
        </p>
        ${postForm(`${action}/rotate`, "Rotate key", rotation, "quiet")}`
    }
    <h2>Revoke</h2>
    <details>
      <summary>End this key for good</summary>
      <p>
        ${key.lastUse === null ? "This key was never used." : html`This key was last used ${lastUseWords(key, now)}.`}
        Once it is revoked, every request with it is refused. This cannot be undone.
      </p>
      ${postForm(`${action}/revoke`, "Revoke key", null, "danger")}
    </details>`;
}

/** Number of days in a sparkline. */
const daysShown = 8;

interface KeyView extends ListedKey {
  lastUse: LastUse | null;
  /** Number of requests on each of the last `daysShown` days in UTC, today's last. */
  days: readonly number[];
}

/** Says when a key ends or ended, or that its account is suspended. */
function expiryWords({ state, expiresAt, revokedAt }: KeyView, now: number): Part {
  if (revokedAt !== null) return html`revoked ${relativeTime(revokedAt, now)}`;
  if (state === "suspended") return state;
  if (expiresAt === null) return "never";
  const time = relativeTime(expiresAt, now);
  if (state === "expired") return html`expired ${time}`;
  return state === "expiring" ? html`<span class="badge expires">${time}</span>` : time;
}

/** Returns the last use in words, such as "4 minutes ago from 203.0.113.0/24". */
export function lastUseWords({ lastUse }: Pick<KeyView, "lastUse">, now: number): Part {
  if (lastUse === null) return "never";
  const { at, network } = lastUse;
  return html`${relativeTime(at, now)}${network !== null && html` from <span class="mono">${network}</span>`}`;
}

const ownKeys = ({ account, signedIn, now }: MemberRequest): OwnKeys => ({
  account,
  person: signedIn.person.id,
  now,
});

/** Lists the account's keys, newest first. */
export async function listOwn({ services, account, now }: MemberRequest): Promise<ListedKey[]> {
  return (await listKeys(services.control, { accountNumber: account.number, now })).toReversed();
}

/** Reads the account's live keys with their usage, newest first. */
export const readLiveKeys = async (request: MemberRequest): Promise<KeyView[]> =>
  withUse(request, (await listOwn(request)).filter(isLive));

/** Reads a key and its usage. Asking for another account's key is audited. @throws DomainError as `findOwnKey` does. */
async function readKeyView(request: MemberRequest, id: string): Promise<KeyView> {
  const key = await findOwnKey(request.services.control, { ...ownKeys(request), id });
  const [view] = await withUse(request, [key]);
  return view!;
}

/** Returns keys with their usage. @param keys only the keys on the page, because each is looked up. */
async function withUse(request: MemberRequest, keys: readonly ListedKey[]): Promise<KeyView[]> {
  if (keys.length === 0) return [];
  const { services, account, now } = request;
  const ids = keys.map(({ id }) => id);
  const lastUse = await readLastUse(services.usage, ids);
  const order = { account: account.number, count: daysShown, now };
  const daysByKey = await readDaysByKey(services.usage, order);
  return keys.map((key) => ({
    ...key,
    lastUse: lastUse.get(key.id) ?? null,
    days: daysByKey.get(key.id) ?? Array.from({ length: daysShown }, () => 0),
  }));
}

/** Returns the form's one-time value. @throws DomainError `invalid` if it does not have the right shape. */
function oneTimeValue({ form }: MemberRequest): string {
  const value = form.get("form") ?? "";
  if (/^[\w-]{16,64}$/.test(value)) return value;
  throw new DomainError(
    "invalid",
    "No key was created, because the form was sent incomplete. Send the form below.",
  );
}

/** Returns the reply to a form that is sent a second time, by a reload or after going back. */
const shownBefore = (request: MemberRequest, id: string): Reply =>
  wordReply(
    request,
    409,
    "This key has already been created",
    "The key was shown once and cannot be shown again. If you did not save the key, rotate it.",
    { href: `/account/keys/${id}`, label: "To the key" },
  );

/**
 * Returns the page with a new key, as the reply to the POST itself: a redirect would require storing the key.
 * @param oldExpiresAt time at which the replaced key stops working; undefined if no key is replaced.
 */
function shownOnce(request: MemberRequest, issued: IssuedKey, oldExpiresAt?: string): string {
  const { id, key } = issued;
  const target = exampleTarget(operations[0]!);
  const { curl, environment } = callLines({ base: request.own.base, target, key });
  return headedPage(request, {
    title: "Your new key",
    main: html`<div data-once>
        <section class="card once">
          <header>
            <h2>Copy the key “<span class="name">${issued.name}</span>” now</h2>
            The key is shown once, on this page only
          </header>
          ${copyBlock("The whole key", key)}
          <p>
            ${lifeOf(issued, oldExpiresAt, request.now)} If you lose it,
            <a href="/account/keys/${id}">rotate it</a>.
          </p>
        </section>
        <section class="card">
          <h2>How a program sends it</h2>
          ${copyBlock("Request with curl", curl)}
          <p>Keep the key in a <code>.env</code> file, which is never committed:</p>
          ${copyBlock("Line for .env", environment)}
          <p>
            The <a href="/docs/fetch-gp">docs</a> have the same call in TypeScript and Python;
            <a href="/docs/mcp">Agents</a> has settings for programs that speak MCP.
          </p>
        </section>
      </div>
      <p><a class="button" href="/account/keys">To all keys</a></p>`,
  });
}

/** Returns sentences about the expiry of a new key and of the key that it replaces. */
function lifeOf({ expiresAt }: IssuedKey, old: string | undefined, now: number): Html {
  const end: Part =
    expiresAt === null
      ? "does not expire"
      : html`expires ${relativeTime(expiresAt, now)} (${exactTime(expiresAt)})`;
  const replaced =
    old !== undefined &&
    (Date.parse(old) <= now
      ? "The old key is refused from now on."
      : `The old key works until ${exactTime(old)}. Both keys share one quota.`);
  return html`The key ${end}. ${replaced}`;
}

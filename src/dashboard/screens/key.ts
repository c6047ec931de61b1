/** One key: shown, renamed, rotated, revoked. */
import {
  isLive,
  newForm,
  overlapDefault,
  overlaps,
  renameOwnKey,
  revokeOwnKey,
  rotateOwnKey,
} from "#keys/keys.ts";
import { listMembers } from "#accounts/members.ts";
import {
  type KeyView,
  lastUseWords,
  oneTimeValue,
  ownKeys,
  readKeyView,
  shownBefore,
  shownOnce,
  stateWords,
} from "#dashboard/components/keys.ts";
import {
  accountPage,
  choice,
  doneNote,
  faultNote,
  field,
  hidden,
} from "#dashboard/components/page.ts";
import {
  actionRoute,
  type Given,
  type MemberRequest,
  type Reply,
  type Route,
  route,
  seeOther,
} from "#dashboard/screen.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { exactTime, grouped, relativeTime } from "#pages/prose.ts";
import { factList } from "#pages/table.ts";

export const keyRoutes: readonly Route[] = [
  route("/account/keys/{id}", "member", { GET: keyPage }),
  actionRoute("/account/keys/{id}/rename", "member", { page: keyPage, act: rename }),
  actionRoute("/account/keys/{id}/rotate", "member", { page: keyPage, act: rotate }),
  actionRoute("/account/keys/{id}/revoke", "member", { page: keyPage, act: revoke }),
];

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

async function rotate(request: MemberRequest): Promise<Given> {
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

const sentences = {
  renamed: "The key has its new name.",
  revoked: "The key is revoked: it is refused from the next request on.",
};

async function keyPage(request: MemberRequest, fault?: string): Promise<string> {
  const { query, now } = request;
  const key = await readKeyView(request, idOf(request));
  const madeBy = key.madeBy === null ? "the operator" : await addressOf(request, key.madeBy);
  const replacedBy = key.replacedBy === null ? null : await readKeyView(request, key.replacedBy);
  const facts: (readonly [string, Part])[] = [
    ["State", stateWords(key, now)],
    ["Begins with", html`<code>${key.hint}…</code>`],
    ["Id", html`<code>${key.id}</code>`],
    ["Created", html`${relativeTime(key.createdAt, now)} by ${madeBy}`],
    ["Expires", key.expiresAt === null ? "never" : exactTime(key.expiresAt)],
    [
      "Replaced by",
      replacedBy &&
        html`<a class="name" href="/account/keys/${replacedBy.id}">${replacedBy.name}</a>`,
    ],
    ["Last used", lastUseWords(key, now)],
    ["Requests today", grouped(key.requestsToday)],
  ];
  return accountPage(request, {
    title: `Key ${key.name}`,
    main: html`<h1 class="name">${key.name}</h1>
      ${doneNote(sentences, query.get("done"))} ${faultNote(fault)} ${factList(facts, "key-facts")}
      <p>
        <a href="/account/requests?key=${key.id}">Its requests</a> ·
        <a href="/account/keys">All keys</a>
      </p>
      ${isLive(key) && [renameForm(key), rotateForm(key), revokeForm(key, now)]}`,
  });
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

/** Returns the form that rotates a key. A rotated key cannot be rotated again; its successor can. */
function rotateForm(key: KeyView): Part {
  if (key.replacedBy !== null) return null;
  return html`<h2>Rotate</h2>
    <p>
      A new key of the same name and the same length of life, shown once on the next page. Both
      share one quota.
    </p>
    ${actionForm(
      key,
      "rotate",
      html`${hidden("form", newForm())}
        ${choice("overlap", "This key ends", overlapChoices, String(overlapDefault))}
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

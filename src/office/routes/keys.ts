/** All keys of an account, and the making of one. */
import { liveKeysMax } from "#keys/caps.ts";
import type { IssuedKey } from "#keys/keys.ts";
import { createOwnKey, newForm } from "#keys/own-keys.ts";
import { operations } from "#operations/index.ts";
import { framed } from "#office/frame.ts";
import { readExpiry } from "#office/key-expiry.ts";
import { listOwn, ownKeys, withUse } from "#office/key-views.ts";
import { page, type Reply } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import { refusal } from "#office/refusal.ts";
import type { AccountVisit } from "#office/visit.ts";
import { isLive } from "#pages/account/key-state.ts";
import { emptyKeyForm, type KeyForm, keysPage } from "#pages/account/keys.ts";
import { newKeyPage } from "#pages/account/new-key.ts";
import { wordPage } from "#pages/account/word.ts";
import { exampleTarget } from "#pages/example-query.ts";
import { StoreFault } from "#store/store-fault.ts";

async function showKeys(visit: AccountVisit): Promise<Reply> {
  return page(await keysMarkup(visit, emptyKeyForm));
}

const endedShown = 20;

async function keysMarkup(visit: AccountVisit, typed: KeyForm, fault?: string): Promise<string> {
  const keys = await listOwn(visit);
  const live = keys.filter(isLive);
  const ended = keys.filter((key) => !isLive(key));
  const endedFrom = Number(/^\d{1,6}$/.exec(visit.query.get("ended") ?? "")?.[0] ?? 0);
  return keysPage({
    frame: framed(visit),
    live: await withUse(visit, live),
    ended: await withUse(visit, ended.slice(endedFrom, endedFrom + endedShown)),
    endedFrom,
    endedCount: ended.length,
    form: newForm(),
    typed,
    liveMax: liveKeysMax,
    isFull: live.filter(({ replacedBy }) => replacedBy === null).length >= liveKeysMax,
    fault,
    now: visit.now,
  });
}

async function createKey(visit: AccountVisit): Promise<Reply> {
  const { rooms, form, now } = visit;
  const typed: KeyForm = {
    name: form.get("name") ?? "",
    expiry: form.get("expiry") ?? "",
    lastDay: form.get("lastDay") ?? "",
  };
  try {
    const made = await createOwnKey(rooms.control, {
      ...ownKeys(visit),
      name: typed.name,
      expiresAt: readExpiry(typed.expiry, typed.lastDay, now),
      form: oneTimeValue(visit),
    });
    return "issued" in made ? shownOnce(visit, made.issued) : shownBefore(visit, made.repeatedId);
  } catch (fault) {
    if (!(fault instanceof StoreFault)) throw fault;
    return refusal(fault, await keysMarkup(visit, typed, fault.message));
  }
}

const formShape = /^[\w-]{16,64}$/;

/** @throws StoreFault `invalid` where the form was not one of ours. */
export function oneTimeValue({ form }: AccountVisit): string {
  const value = form.get("form") ?? "";
  if (formShape.test(value)) return value;
  throw new StoreFault("invalid", "The form was incomplete. Load the page again and fill it in.");
}

/** The answer to the POST itself: behind a redirect the key would have to be kept. */
export function shownOnce(
  visit: AccountVisit,
  { id, key, name, expiresAt }: IssuedKey,
  old?: { id: string; expiresAt: string },
): Reply {
  const { own, now } = visit;
  const target = exampleTarget(operations[0]!);
  const replaced = old === undefined ? {} : { old };
  const frame = framed(visit);
  const view = { frame, id, key, name, expiresAt, ...replaced, base: own.base, target, now };
  return page(newKeyPage(view));
}

/** To a form that was sent a second time: by a reload, or by going back to it. */
export const shownBefore = (visit: AccountVisit, id: string): Reply =>
  page(
    wordPage(
      "This key was made already",
      "It was shown once, and nobody can show it again. If it is lost, rotate it.",
      framed(visit),
      { href: `/account/keys/${id}`, label: "To the key" },
    ),
    409,
  );

export const keysRoutes: readonly Route[] = [
  route("/account/keys", "member", { GET: showKeys, POST: createKey }),
];

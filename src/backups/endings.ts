/** What a restore would undo: keys, accounts and rights of people that ended after the backup was made. */
import type {
  AccountFacts,
  ControlFacts,
  KeyFacts,
  MemberFacts,
  PersonFacts,
} from "./control-facts.ts";

/**
 * - `revoked`, `expires`: a key, by its id
 * - `suspended`, `closed`: an account
 * - `deleted`, `password`: a person who is gone, or whose password is another one
 * - `removed`, `demoted`: a person who is no member of an account any more, or no owner
 */
export interface Ending {
  what:
    | "revoked"
    | "expires"
    | "suspended"
    | "closed"
    | "deleted"
    | "password"
    | "removed"
    | "demoted";
  /** Of the key, the account or the person. */
  id: string;
  /** Of a person the address. */
  name: string;
  /** Name of the account; null for what is about a person alone. */
  account: string | null;
  /** Null where it is not known. */
  at: string | null;
}

/** What is live in the backup and no longer in the data folder. */
export function findEndings(present: ControlFacts, backup: ControlFacts): Ending[] {
  return [
    ...pairs(present.keys, backup.keys).flatMap(([now, then]) => keyEndings(now, then)),
    ...pairs(present.accounts, backup.accounts).flatMap(([now, then]) => accountEndings(now, then)),
    ...[...backup.people.values()].flatMap((then) => personEndings(present, then)),
    ...[...backup.members.values()].flatMap((then) => memberEndings(present, then)),
  ];
}

/** Live keys that the backup knows nothing of, which will be refused. */
export const findLost = (present: ControlFacts, backup: ControlFacts, now: number): KeyFacts[] =>
  [...present.keys.values()].filter((key) => !backup.keys.has(key.id) && isLiveKey(key, now));

/** @param now milliseconds since 1970. */
export const isLiveKey = ({ revokedAt, expiresAt }: KeyFacts, now: number): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now);

/** People that the backup knows nothing of, who will have to sign up again. */
export const findLostPeople = (present: ControlFacts, backup: ControlFacts): PersonFacts[] =>
  [...present.people.values()].filter(({ id }) => !backup.people.has(id));

function pairs<R>(present: ReadonlyMap<string, R>, backup: ReadonlyMap<string, R>): [R, R][] {
  return [...present].flatMap(([id, now]) => {
    const then = backup.get(id);
    return then === undefined ? [] : [[now, then] as [R, R]];
  });
}

/** A rotation ends a key too: it gives it an earlier end. ISO text of one length sorts like its times. */
function keyEndings(now: KeyFacts, then: KeyFacts): Ending[] {
  const { id, name, account, revokedAt, expiresAt } = now;
  const endings: Ending[] = [];
  if (revokedAt !== null && then.revokedAt === null)
    endings.push({ what: "revoked", id, name, account, at: revokedAt });
  if (expiresAt !== null && (then.expiresAt === null || expiresAt < then.expiresAt))
    endings.push({ what: "expires", id, name, account, at: expiresAt });
  return endings;
}

/** A closed account has lost its name, so it is called what the backup calls it. */
function accountEndings({ id, suspendedAt, closedAt }: AccountFacts, then: AccountFacts): Ending[] {
  const ending = { id, name: then.name, account: then.name };
  const endings: Ending[] = [];
  if (suspendedAt !== null && then.suspendedAt === null)
    endings.push({ what: "suspended", ...ending, at: suspendedAt });
  if (closedAt !== null && then.closedAt === null)
    endings.push({ what: "closed", ...ending, at: closedAt });
  return endings;
}

/** Whoever is only unknown to the data folder was never deleted there: the backup is of another one. */
function personEndings(
  present: ControlFacts,
  { id, email: name, password }: PersonFacts,
): Ending[] {
  const gone = present.deleted.get(id);
  if (gone !== undefined) return [{ what: "deleted", id, name, account: null, at: gone.at }];
  const now = present.people.get(id);
  return now === undefined || now.password === password
    ? []
    : [{ what: "password", id, name, account: null, at: null }];
}

/** Who was deleted, or whose account was closed, is in no account any more without being named for each. */
function memberEndings(present: ControlFacts, then: MemberFacts): Ending[] {
  const isKnown =
    present.people.has(then.person) &&
    [...present.accounts.values()].some(
      ({ number, closedAt }) => number === then.account && closedAt === null,
    );
  if (!isKnown) return [];
  const now = present.members.get(then.id);
  const ending = { id: then.person, name: then.email, account: then.accountName, at: null };
  if (now === undefined) return [{ what: "removed", ...ending }];
  return now.role !== "owner" && then.role === "owner" ? [{ what: "demoted", ...ending }] : [];
}

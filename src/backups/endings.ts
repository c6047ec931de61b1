/** What a restore would undo: keys that ended and accounts that were suspended after the backup was made. */
import type { Transaction } from "kysely";
import type { ControlTables } from "#store/control-tables.ts";
import type { AccountFacts, ControlFacts, KeyFacts } from "./key-facts.ts";

export interface Ending {
  what: "revoked" | "expires" | "suspended";
  /** Of the key, or of the account that was suspended. */
  id: string;
  name: string;
  account: string;
  at: string;
}

/** Keys and accounts that are live in the backup and no longer in the data folder. */
export function findEndings(present: ControlFacts, backup: ControlFacts): Ending[] {
  return [
    ...pairs(present.keys, backup.keys).flatMap(([now, then]) => keyEnding(now, then)),
    ...pairs(present.accounts, backup.accounts).flatMap(([now, then]) => suspension(now, then)),
  ];
}

/** Live keys that the backup knows nothing of, which will be refused. */
export const findLost = (present: ControlFacts, backup: ControlFacts, now: number): KeyFacts[] =>
  [...present.keys.values()].filter(
    ({ id, revokedAt, expiresAt }) =>
      !backup.keys.has(id) &&
      revokedAt === null &&
      (expiresAt === null || Date.parse(expiresAt) > now),
  );

/** Writes endings into the database that is about to be put in place. */
export async function keepEndings(
  transaction: Transaction<ControlTables>,
  endings: readonly Ending[],
): Promise<void> {
  for (const { what, id, at } of endings) {
    const update =
      what === "suspended"
        ? transaction.updateTable("account").set({ suspended_at: at }).where("id", "=", id)
        : transaction
            .updateTable("api_key")
            .set(what === "revoked" ? { revoked_at: at } : { expires_at: at })
            .where("id", "=", id);
    await update.execute();
  }
}

function pairs<R>(present: ReadonlyMap<string, R>, backup: ReadonlyMap<string, R>): [R, R][] {
  return [...present].flatMap(([id, now]) => {
    const then = backup.get(id);
    return then === undefined ? [] : [[now, then] as [R, R]];
  });
}

/** A rotation ends a key too: it gives it an earlier end. ISO text of one length sorts like its times. */
function keyEnding(now: KeyFacts, then: KeyFacts): Ending[] {
  const { id, name, account, revokedAt, expiresAt } = now;
  const endings: Ending[] = [];
  if (revokedAt !== null && then.revokedAt === null)
    endings.push({ what: "revoked", id, name, account, at: revokedAt });
  if (expiresAt !== null && (then.expiresAt === null || expiresAt < then.expiresAt))
    endings.push({ what: "expires", id, name, account, at: expiresAt });
  return endings;
}

function suspension({ id, name, suspendedAt }: AccountFacts, then: AccountFacts): Ending[] {
  return suspendedAt !== null && then.suspendedAt === null
    ? [{ what: "suspended", id, name, account: name, at: suspendedAt }]
    : [];
}

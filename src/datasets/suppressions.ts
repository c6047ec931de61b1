/** The list of suppressions, in the control store: people who are kept out of every dataset. */
import { fold } from "#records/fold.ts";
import { listAudit, operator, writeAudit } from "#store/audit.ts";
import type { ControlDatabase, ControlTables, ControlTransaction } from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";

/** A suppression. At most one of `gp`, `cik` and `crd` is set. It limits the suppression to that GP or number. */
export type Suppression = ControlTables["suppression"];

export type NewSuppression = Omit<Suppression, "number" | "created_at" | "applied_at" | "gp_ids">;

/** Public ids of the GPs that a suppression's limit covers, by the suppression's number. */
export type CoveredGps = Map<number, Set<string>>;

/** Lists all suppressions, oldest first. */
export const listSuppressions = (database: ControlDatabase): Promise<Suppression[]> =>
  database.selectFrom("suppression").selectAll().orderBy("number").execute();

const actions = ["suppression.added", "suppression.removed"] as const;

/**
 * Adds an unapplied suppression. Adds its GPs to an equal one instead if there is one, and marks that as unapplied.
 * @param given suppression. Its GPs are kept, and so is its number if that was never used.
 * @returns the number of the added suppression, or of the equal one.
 */
export async function addSuppression(
  transaction: ControlTransaction,
  given: NewSuppression & Partial<Pick<Suppression, "number" | "gp_ids">>,
  now: number,
  actor = operator,
): Promise<number> {
  const { name, gp, cik, crd, reason, gp_ids = "" } = given;
  const all = await listSuppressions(transaction);
  const isSame = (one: Suppression) =>
    fold(one.name) === fold(name) && one.gp === gp && one.cik === cik && one.crd === crd;
  const same = all.find(isSame)?.number;
  if (same !== undefined) {
    await rememberGps(transaction, new Map([[same, new Set(gp_ids.split(" "))]]));
    return same;
  }
  // The audit log refers to removed suppressions by number, so their numbers are not reused.
  const told = transaction.selectFrom("audit").select("subject").where("action", "in", actions);
  const taken = (await told.execute()).map(({ subject }) => Number(subject));
  taken.push(...all.map((one) => one.number));
  const next = Math.max(0, ...taken) + 1;
  const { number = next } = taken.includes(given.number ?? 0) ? {} : given;
  const created_at = new Date(now).toISOString();
  const row = { number, name, gp, cik, crd, reason, created_at, applied_at: null, gp_ids };
  await transaction.insertInto("suppression").values(row).execute();
  const entry = { actor, subject: String(number), detail: { reason }, now };
  await writeAudit(transaction, "suppression.added", entry);
  return number;
}

/**
 * Remembers GPs that suppressions' limits cover, because a GP may later lose the name or number of the limit. Marks
 * these suppressions as unapplied, because older datasets may contain the person at such a GP.
 * @returns all suppressions, with these GPs.
 */
export async function rememberGps(
  transaction: ControlTransaction,
  covered: CoveredGps,
): Promise<Suppression[]> {
  for (const { number, gp_ids } of withGps(await listSuppressions(transaction), covered)) {
    if (!covered.has(number)) continue;
    const change = { applied_at: null, gp_ids };
    await transaction.updateTable("suppression").set(change).where("number", "=", number).execute();
  }
  return listSuppressions(transaction);
}

/** Returns suppressions with the newly covered GPs added to those that they already have. */
export const withGps = (suppressions: readonly Suppression[], covered: CoveredGps): Suppression[] =>
  suppressions.map(({ gp_ids, ...one }) => {
    const ids = new Set([...gp_ids.split(" "), ...(covered.get(one.number) ?? [])]);
    return { ...one, gp_ids: [...ids].filter(Boolean).join(" ") };
  });

/** Removes a suppression. @throws DomainError `not_found` if there is none with this number. */
export async function removeSuppression(
  transaction: ControlTransaction,
  number: number,
  now: number,
): Promise<void> {
  const found = (await listSuppressions(transaction)).find((one) => one.number === number);
  if (found === undefined)
    throw new DomainError(
      "not_found",
      `There is no suppression ${number}. 'gp-records suppress list' shows all of them.`,
    );
  await transaction.deleteFrom("suppression").where("number", "=", number).execute();
  const entry = { actor: operator, subject: String(number), detail: { reason: found.reason }, now };
  await writeAudit(transaction, "suppression.removed", entry);
}

/** Returns the number of the suppression that a dataset was removed for; undefined if the audit log does not say. */
export async function removedFor(
  database: ControlDatabase,
  version: string,
): Promise<number | undefined> {
  const entries = await listAudit(database, { action: "dataset.pruned", limit: 1_000_000 });
  const details = entries.filter(({ subject }) => subject === version).map(({ detail }) => detail);
  return (details as { suppression?: number }[]).find(({ suppression }) => suppression)
    ?.suppression;
}

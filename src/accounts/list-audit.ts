/** Reads the audit log: who changed what, the newest first. */
import type { Kysely } from "kysely";
import type { AuditAction } from "#store/audit.ts";
import type { ControlTables } from "#store/control-tables.ts";

interface AuditEntry {
  number: number;
  at: string;
  actor: string;
  /** Id. */
  account: string | null;
  action: string;
  subject: string | null;
  detail: object;
}

interface AuditFilter {
  /** Number. */
  account?: number | undefined;
  actor?: string | undefined;
  action?: AuditAction | undefined;
  /** From this moment on. */
  since?: number | undefined;
  limit: number;
}

export async function listAudit(
  database: Kysely<ControlTables>,
  { account, actor, action, since, limit }: AuditFilter,
): Promise<AuditEntry[]> {
  let query = database
    .selectFrom("audit")
    .leftJoin("account", "account.number", "audit.account")
    .select(["audit.number", "audit.at", "audit.actor", "audit.action", "audit.subject"])
    .select(["audit.detail", "account.id as account"])
    .orderBy("audit.number", "desc")
    .limit(limit);
  if (account !== undefined) query = query.where("audit.account", "=", account);
  if (actor !== undefined) query = query.where("audit.actor", "=", actor);
  if (action !== undefined) query = query.where("audit.action", "=", action);
  if (since !== undefined) query = query.where("audit.at", ">=", new Date(since).toISOString());
  return (await query.execute()).map((row) => ({
    number: row.number,
    at: row.at,
    actor: row.actor,
    account: row.account,
    action: row.action,
    subject: row.subject,
    detail: JSON.parse(row.detail) as object,
  }));
}

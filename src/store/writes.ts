/** What the writer thread can write, each kind of batch under its name. */
import type { Transaction } from "kysely";
import type { KeyUseTable, UsageTables } from "./usage-tables.ts";

/** The rows of a batch, by kind. */
export interface Batches {
  keyUse: readonly KeyUseTable[];
}

export type BatchKind = keyof Batches;

/** One batch on its way to the thread. */
export type Batch = { [K in BatchKind]: { kind: K; rows: Batches[K] } }[BatchKind];

export async function writeBatch(
  transaction: Transaction<UsageTables>,
  batch: Batch,
): Promise<void> {
  switch (batch.kind) {
    case "keyUse":
      for (const row of batch.rows) await rememberKeyUse(transaction, row);
  }
}

/** A batch that had to wait may be older than what another server wrote meanwhile; the later time stays. */
async function rememberKeyUse(
  transaction: Transaction<UsageTables>,
  row: KeyUseTable,
): Promise<void> {
  await transaction
    .insertInto("key_use")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column("key_id")
        .doUpdateSet((update) => ({ last_used_at: update.ref("excluded.last_used_at") }))
        .whereRef("key_use.last_used_at", "<", "excluded.last_used_at"),
    )
    .execute();
}

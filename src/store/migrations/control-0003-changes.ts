/** Whether accounts on a plan may read what changed. */
import type { Kysely } from "kysely";

export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable("plan").addColumn("changes", "integer").execute();
}

/** People with their sessions and links, plans, and the audit log. */
import type { Kysely } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await makePlans(database);
  await makePeople(database);
  await makeSessions(database);
  await makeLinks(database);
  await makeRecords(database);
  await extendKeys(database);
  await countKeyChanges(database);
}

async function makePlans({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("plan")
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("per_minute", "integer")
    .addColumn("per_hour", "integer")
    .addColumn("per_day", "integer")
    .addColumn("created_at", "text", (column) => column.notNull())
    .execute();
  await schema
    .alterTable("account")
    .addColumn("plan", "text", (column) => column.references("plan.name"))
    .execute();
  await schema.alterTable("account").addColumn("closed_at", "text").execute();
}

async function makePeople({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("person")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("email", "text", (column) => column.notNull())
    .addColumn("email_folded", "text", (column) => column.notNull().unique())
    .addColumn("password", "text", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .execute();
  await schema
    .createTable("member")
    .addColumn("account", "integer", (column) => column.notNull().references("account.number"))
    .addColumn("person", "text", (column) => column.notNull().references("person.id"))
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("joined_at", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("member_key", ["account", "person"])
    .execute();
  await schema.createIndex("member_person").on("member").column("person").execute();
}

async function makeSessions({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("session")
    .addColumn("digest", "bytea", (column) => column.primaryKey())
    .addColumn("id", "text", (column) => column.notNull().unique())
    .addColumn("person", "text", (column) => column.notNull().references("person.id"))
    .addColumn("account", "integer", (column) => column.references("account.number"))
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("seen_at", "text", (column) => column.notNull())
    .addColumn("ends_at", "text", (column) => column.notNull())
    .addColumn("network", "text", (column) => column.notNull())
    .addColumn("browser", "text", (column) => column.notNull())
    .execute();
  await schema.createIndex("session_person").on("session").column("person").execute();
  await schema
    .createTable("known_browser")
    .addColumn("digest", "bytea", (column) => column.primaryKey())
    .addColumn("person", "text", (column) => column.notNull().references("person.id"))
    .addColumn("seen_at", "text", (column) => column.notNull())
    .execute();
  await schema.createIndex("known_browser_person").on("known_browser").column("person").execute();
}

async function makeLinks({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("link")
    .addColumn("digest", "bytea", (column) => column.primaryKey())
    .addColumn("id", "text", (column) => column.notNull().unique())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("email", "text", (column) => column.notNull())
    .addColumn("email_folded", "text", (column) => column.notNull())
    .addColumn("person", "text", (column) => column.references("person.id"))
    .addColumn("account", "integer", (column) => column.references("account.number"))
    .addColumn("role", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text", (column) => column.notNull())
    .addColumn("used_at", "text")
    .execute();
  await schema.createIndex("link_email").on("link").column("email_folded").execute();
  await schema
    .createTable("throttle")
    .addColumn("subject", "text", (column) => column.primaryKey())
    .addColumn("failures", "integer", (column) => column.notNull())
    .addColumn("next_at", "text", (column) => column.notNull())
    .execute();
}

async function makeRecords({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("audit")
    .addColumn("number", "integer", (column) => column.primaryKey())
    .addColumn("at", "text", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("account", "integer")
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("subject", "text")
    .addColumn("detail", "text", (column) => column.notNull())
    .execute();
  await schema.createIndex("audit_account").on("audit").columns(["account", "number"]).execute();
  await schema
    .createTable("notice")
    .addColumn("account", "integer", (column) => column.notNull().references("account.number"))
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("at", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("notice_key", ["account", "kind", "subject"])
    .execute();
}

async function extendKeys({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable("api_key").addColumn("made_by", "text").execute();
  await schema.alterTable("api_key").addColumn("form", "text").execute();
  await schema
    .createIndex("api_key_form")
    .on("api_key")
    .columns(["account", "form"])
    .unique()
    .execute();
}

/** What a server has to know of keys stands in three tables; whoever changes one of them need not think of that. */
async function countKeyChanges(database: Kysely<unknown>): Promise<void> {
  // Loaded here, because every server reads the names of the steps, and few take one.
  const { sql } = await import("kysely");
  await database.schema
    .createTable("key_change")
    .addColumn("count", "integer", (column) => column.notNull())
    .execute();
  await sql`insert into key_change (count) values (0)`.execute(database);
  for (const table of ["api_key", "account", "plan"])
    for (const event of ["insert", "update", "delete"])
      await sql`create trigger ${sql.ref(`key_change_${table}_${event}`)} after ${sql.raw(event)} on ${sql.table(table)}
        begin update key_change set count = count + 1; end`.execute(database);
}

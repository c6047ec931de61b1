/** Checks the PostgreSQL of DATABASE_URL: can it be reached, and is it fit for data that servers share? */
import { DomainError } from "#store/domain-error.ts";
import { type Check, fail, type Finding, ok } from "./check.ts";

export const database: Check = {
  name: "postgresql",
  async look({ config }) {
    const url = config?.databaseUrl ?? null;
    if (url === null) return [];
    return [await schemaFinding(url)];
  },
};

async function schemaFinding(url: string): Promise<Finding> {
  const { connectPostgres, placeName } = await import("#store/postgres.ts");
  const { refuseUnfit } = await import("#store/postgres-schema.ts");
  const { refuseUnready } = await import("#store/postgres-schema.ts");
  const place = placeName(url);
  try {
    const session = await connectPostgres({ url });
    try {
      const { version } = await refuseUnfit(session, { url });
      await refuseUnready(session, place);
      return ok(`${place} has the present schema; it is version ${version}`);
    } finally {
      session.close();
    }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return fail(error.message, "Do what this line says, then run doctor again.");
  }
}

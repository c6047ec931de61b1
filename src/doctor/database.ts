/** Checks the PostgreSQL of DATABASE_URL: whether it can be reached, and is fit for what servers share. */
import { isLoopback } from "#config.ts";
import { DomainError } from "#store/domain-error.ts";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";

export const database: Check = {
  name: "postgresql",
  async look({ config }) {
    const url = config?.databaseUrl ?? null;
    if (url === null) return [];
    return [await schemaFinding(url), ...encryptionFinding(url)];
  },
};

async function schemaFinding(url: string): Promise<Finding> {
  const { connectPostgres, placeName } = await import("#store/postgres.ts");
  const { refuseUnfit } = await import("#store/refuse-unfit.ts");
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
    return fail(error.message, "Do what it says, then run doctor again.");
  }
}

/** Over a network anybody on the way could read keys' digests and passwords' hashes, and the password of the role. */
function encryptionFinding(url: string): Finding[] {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  const mode = searchParams.get("sslmode") ?? "disable";
  if (host.startsWith("/") || isLoopback(host) || mode.startsWith("verify")) return [];
  return [
    warn(
      mode === "disable"
        ? `DATABASE_URL does not ask for TLS, so what goes to ${host} can be read on the way`
        : `DATABASE_URL does not have the certificate of ${host} checked, so another server could take its place`,
      "Add ?sslmode=verify-full to DATABASE_URL, with &sslrootcert=FILE for an authority of your own.",
    ),
  ];
}

/** The answer at `/` for programs: links to all there is. */
import { operations } from "#operations/index.ts";
import { apiVersion } from "#operations/page.ts";
import type { ServiceFacts } from "./landing.ts";

/** Links are absolute where the public URL is known, else relative to the host that was asked. */
export function landingIndex({
  counts,
  datasetVersion,
  datasetUpdatedAt,
  publicUrl,
  account,
}: ServiceFacts) {
  const link = (path: string) => `${publicUrl ?? ""}${path}`;
  return {
    name: "gp-records",
    api_version: apiVersion,
    operations: operations.map(({ name, path, summary }) => ({ name, url: link(path), summary })),
    links: {
      docs: link("/docs"),
      openapi: link("/openapi.json"),
      errors: link("/errors"),
      changelog: link("/changelog"),
      ...(account !== null && { account: account.url }),
      health: link("/health"),
      ready: link("/ready"),
    },
    dataset:
      counts === null
        ? null
        : { version: datasetVersion, updated_at: datasetUpdatedAt, records: counts },
  };
}

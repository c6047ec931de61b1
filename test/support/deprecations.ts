/** What is announced to end, invented, as nothing is deprecated at present. */
import type { Deprecation } from "#operations/deprecations.ts";

/** A parameter of one operation, deprecated since 2026-10-01, which ends on 2028-01-01. */
export const deprecatedTheme = {
  id: "themes",
  parameter: "theme",
  operation: "fetch-gp",
  since: "2026-10-01",
  sunset: "2028-01-01",
  advice: "Use `tag`, which finds themes too.",
} as const satisfies Deprecation;

/** All paths of a version, deprecated since 2026-11-01, which end on 2027-11-01. */
export const deprecatedVersion = {
  id: "v0",
  version: "v0",
  successor: "v1",
  since: "2026-11-01",
  sunset: "2027-11-01",
  advice: "Use `/v1`.",
} as const satisfies Deprecation;

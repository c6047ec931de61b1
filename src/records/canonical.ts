/** Canonical records, with the source's own ids. Every importer yields them, and datasets are built from them. */
import { Compile, type Validator } from "typebox/schema";
import { Settings } from "typebox/system";
import { Provenance } from "./common.ts";
import { oneOf, text, time } from "./fields.ts";
import { gpMembers } from "./gp.ts";
import type { RecordKind } from "./kinds.ts";
import { principalMembers } from "./principal.ts";
import { projectMembers } from "./project.ts";
import { type Static, type TProperties, type TSchema, Type } from "./schema.ts";
import { signalMembers } from "./signal.ts";

/** Id as the source writes it, unique for its kind within the source. */
const sourceId = text("The source's own id.", 200);

const allOptional = (members: Readonly<Record<string, TSchema>>) =>
  Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)]),
  );

const stated = {
  provenance: Type.Unsafe<Partial<Provenance>>(
    Type.Object(allOptional(Provenance.properties), { additionalProperties: false }),
  ),
  updated_at: time("Time when the source says the content last changed."),
};

const linkToGps = {
  gps: Type.Array(sourceId, { description: "Source ids of the GPs it belongs to." }),
};

/** Makes every member optional except the required ones, and replaces some with the source's own form. */
function canonical<
  const K extends RecordKind,
  M extends TProperties,
  R extends keyof M & string,
  O extends TProperties,
>(kind: K, members: M, required: readonly R[], replaced: O) {
  const all = { ...members, ...replaced } as Record<string, TSchema>;
  const needed = Object.fromEntries(required.map((name) => [name, all[name] as TSchema]));
  const { id: _, ...others } = all;
  for (const name of required) delete others[name];
  return Type.Unsafe<
    { record: K; id: string } & { [N in R]: Static<M[N]> } & {
      -readonly [N in Exclude<keyof M, R | "id" | keyof O>]?: Static<M[N]>;
    } & { -readonly [N in keyof O]?: Static<O[N]> }
  >(
    Type.Object(
      { record: oneOf("Kind of record.", [kind]), id: sourceId, ...needed, ...allOptional(others) },
      { additionalProperties: false },
    ),
  );
}

export const canonicalSchemas = {
  gp: canonical("gp", gpMembers, ["name"], {
    ...stated,
    former_ids: Type.Array(sourceId, { description: "Source ids or `gp_…` ids this GP replaces." }),
  }),
  principal: canonical("principal", principalMembers, ["name"], { ...stated, ...linkToGps }),
  signal: canonical("signal", signalMembers, ["title", "date"], {
    ...stated,
    ...linkToGps,
    project_ids: Type.Array(sourceId, { description: "Source ids of the projects concerned." }),
  }),
  project: canonical("project", projectMembers, ["name"], { ...stated, ...linkToGps }),
};

export type CanonicalGp = Static<typeof canonicalSchemas.gp>;
export type CanonicalPrincipal = Static<typeof canonicalSchemas.principal>;
export type CanonicalSignal = Static<typeof canonicalSchemas.signal>;
export type CanonicalProject = Static<typeof canonicalSchemas.project>;
export type CanonicalRecord = CanonicalGp | CanonicalPrincipal | CanonicalSignal | CanonicalProject;

// The default is 8, too few to name every wrong member of a record. A list may have a million wrong entries.
Settings.Set({ maxErrors: 1000 });

/** Validators, compiled once. They find faults; check-record.ts puts them into words. */
export const canonicalValidators: Readonly<Record<RecordKind, Validator>> = {
  gp: Compile(canonicalSchemas.gp),
  principal: Compile(canonicalSchemas.principal),
  signal: Compile(canonicalSchemas.signal),
  project: Compile(canonicalSchemas.project),
};

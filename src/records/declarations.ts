/** The declaration of every kind, from which schemas, columns, conditions and the reference follow. */
import type { Filterable } from "./filterable.ts";
import { gpDeclaration } from "./gp.ts";
import type { EachKind, RecordKind } from "./kinds.ts";
import { principalDeclaration } from "./principal.ts";
import { projectDeclaration } from "./project.ts";
import type { Static, TObject, TSchema } from "./schema.ts";
import { signalDeclaration } from "./signal.ts";

export interface Declaration {
  /** Sentence for agents. */
  meaning: string;
  /** Members as stored, without what comes from other records. */
  members: Readonly<Record<string, TSchema>>;
  /** Schema of a record as served. */
  schema: TObject;
  filterable: Filterable<never>;
  /** Values of absent members that are neither null nor a list. A source must give every other such member. */
  absent: Readonly<Record<string, string>>;
  /** Members in brief, in the order of the record. */
  brief: readonly string[];
}

export const declarations = {
  gp: gpDeclaration,
  principal: principalDeclaration,
  signal: signalDeclaration,
  project: projectDeclaration,
} satisfies EachKind<Declaration>;

/** A record as served. */
export type RecordOf<K extends RecordKind> = Static<(typeof declarations)[K]["schema"]>;

/** `gp-records explain`: tells which filings say what a record says, and what was refused. */
import type { DatabaseSync } from "node:sqlite";
import type { Explained } from "#datasets/evidence.ts";
import { explainedKinds, reasonOf } from "#records/explanation.ts";
import { counted } from "#words.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import { argument, command } from "./command.ts";
import { chosenVersion, lookAtDatasets } from "./datasets-folder.ts";
import { onOneLine } from "./output.ts";

export const explainCommand = command({
  name: "explain",
  description:
    "tell why a GP, principal or project of the current dataset says what it says: filings, sentences, what was refused",
  args: {
    id: argument(
      "<id>",
      "public id, also a former one, or the source's own, such as crd:123456; this may be of several records",
    ),
  },
  example: "explain gp_01a7k2q9x4m8c3vd",
  run: ({ id }, context) =>
    lookAtDatasets(context, async (store) => {
      const { explain } = await import("#datasets/evidence.ts");
      const { openPublished } = await import("#datasets/open-generation.ts");
      const kept = await store.read();
      const version = chosenVersion(kept, undefined);
      using db = openPublished(await store.open(version), kept.find(version)).db;
      const found = explain(db, await idsMeant(db, id));
      if (found.length > 0) return found;
      throw new CommandFault(
        exitCodes.conflict,
        `No GP, principal or project of ${version} has the id '${id}'. Take an id of the service, a file or 'gp-records match', or the source's own.`,
      );
    }),
  text: (found) => found.map((one) => linesOf(one).map(onOneLine).join("\n")).join("\n\n"),
});

/** Returns the public ids that a text may mean: itself, and those of the records to which sources gave it. */
async function idsMeant(db: DatabaseSync, id: string): Promise<string[]> {
  const { mintId } = await import("#datasets/draft-record.ts");
  const { readSources } = await import("#datasets/open-generation.ts");
  const { arraysOf } = await import("#datasets/rows.ts");
  const given = "select public_id from canonical where source_id = ?";
  return [
    id,
    ...Array.from(arraysOf<[string]>(db, given, id), ([one]) => one),
    ...readSources(db).flatMap(([source]) =>
      explainedKinds.map((kind) => mintId(kind, source, id)),
    ),
  ];
}

function linesOf(told: Explained): string[] {
  const { id, kind, name, key, provenance, evidence, documents_left_out: left } = told;
  const rows = (title: string, isTaken: boolean) => {
    const some = evidence.filter(({ taken }) => taken === isTaken);
    const lines = some.flatMap((one) => [
      `  ${reasonOf(one)}`,
      `    ${one.field}: "${one.text}"`,
      `    ${Object.values(one.document).filter(Boolean).join(", ")}`,
    ]);
    return some.length === 0 ? [] : [title, ...lines];
  };
  return [
    `${name}, ${kind} ${id}, '${key}' of source '${provenance.source}'`,
    told.statement,
    ...told.gps.map((gp) => `GP: ${gp.name}, ${gp.id}`),
    ...(provenance.url === null ? [] : [`Source: ${provenance.url}`]),
    ...rows("Taken:", true),
    ...rows("Refused:", false),
    ...(left > 0 ? [`${counted(left, "more document")} not shown`] : []),
  ];
}

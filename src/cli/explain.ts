/** `gp-records explain`: tells which filings say what a record says, and what was refused. */
import type { DatabaseSync } from "node:sqlite";
import { explainedKinds, type Explanation, reasonOf } from "#records/explanation.ts";
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

const linesOf = (told: Explanation): string[] => [
  `${told.name}, ${told.kind} ${told.id}`,
  told.statement,
  ...told.gps.map((gp) => `GP: ${gp.name}, ${gp.id}`),
  `Source: ${[told.provenance.source, told.provenance.url].filter(Boolean).join(", ")}`,
  ...told.evidence.flatMap((one) => [
    reasonOf(one),
    `  ${one.field}: "${one.text}"`,
    `  ${Object.values(one.document).filter(Boolean).join(", ")}`,
  ]),
  ...(told.documents_left_out > 0
    ? [`${counted(told.documents_left_out, "more document")} not shown`]
    : []),
];

/** `gp-records explain`: shows the filings that a record is based on, and the evidence that was refused. */
import type { DatabaseSync } from "node:sqlite";
import { anyExplained, type Explanation, reasonOf } from "#records/explanation.ts";
import { namedKinds } from "#records/kinds.ts";
import { counted } from "#words.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import { argument, command } from "./command.ts";
import { chosenVersion, lookAtDatasets } from "./datasets-folder.ts";
import { onOneLine } from "./output.ts";

export const explainCommand = command({
  name: "explain",
  description: `show the evidence for a ${anyExplained} of the current dataset: filings, quotations, and what was refused`,
  args: {
    id: argument(
      "<id>",
      "public id, current or former, or the source's own id, such as crd:123456, which several records may share",
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
        `No ${anyExplained} of ${version} has the id '${id}'. Use an id from the service, an export or 'gp-records match', or the source's own id.`,
      );
    }),
  text: (found) => found.map((one) => linesOf(one).map(onOneLine).join("\n")).join("\n\n"),
});

/** Returns the public ids that an id may mean: itself, and those of records with this source id. Some may not exist. */
async function idsMeant(db: DatabaseSync, id: string): Promise<string[]> {
  const { mintId } = await import("#datasets/draft-record.ts");
  const { arraysOf, readSources } = await import("#datasets/open-generation.ts");
  const given = "select public_id from canonical where source_id = ?";
  return [
    id,
    ...Array.from(arraysOf<[string]>(db, given, id), ([one]) => one),
    ...readSources(db).flatMap(([source]) => namedKinds.map((kind) => mintId(kind, source, id))),
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

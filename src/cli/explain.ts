/** `gp-records explain`: tells which filings say what a record says, and what was refused. */
import type { Explanation } from "#datasets/explain.ts";
import { basisWords, sureFrom } from "#records/vocabulary.ts";
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
      const { explain } = await import("#datasets/explain.ts");
      const { openPublished } = await import("#datasets/open-generation.ts");
      const kept = await store.read();
      const version = chosenVersion(kept, undefined);
      const { db } = openPublished(await store.open(version), kept.find(version));
      try {
        const found = explain(db, id);
        if (found.length > 0) return found;
      } finally {
        db.close();
      }
      throw new CommandFault(
        exitCodes.conflict,
        `No GP, principal or project of ${version} has the id '${id}'. Take an id of the service, a file or 'gp-records match', or the source's own.`,
      );
    }),
  text: (found) => found.map((one) => linesOf(one).map(onOneLine).join("\n")).join("\n\n"),
});

const sure = ({ basis, confidence }: Pick<Explanation["provenance"], "basis" | "confidence">) =>
  `${basisWords[basis] ?? basis}, confidence ${Math.round(confidence * 100)} %`;

function linesOf(one: Explanation): string[] {
  const { id, kind, name, source, key, provenance, gps, evidence } = one;
  const left = one.documents_left_out;
  const rows = (title: string, isTaken: boolean) => {
    const some = evidence.filter(({ taken }) => taken === isTaken);
    const lines = some.flatMap(({ document, field, text, firm, why, ...found }) => [
      `  ${firm === null ? "" : `${firm}: `}${sure(found)}, because ${why}`,
      `    ${field}: "${text}"`,
      `    ${Object.values(document).filter(Boolean).join(", ")}`,
    ]);
    return some.length === 0 ? [] : [title, ...lines];
  };
  const probably = provenance.confidence < sureFrom ? "probably " : "";
  return [
    `${name}, ${kind} ${id}, '${key}' of source '${source}'`,
    ...gps.map((gp) => `GP: ${probably}${gp.name}, ${gp.id}`),
    ...(kind === "project" && gps.length === 0 ? ["GP: none; no filing names a sponsor"] : []),
    `Provenance: ${[sure(provenance), provenance.url].filter(Boolean).join(", ")}`,
    ...rows("Taken:", true),
    ...rows("Refused:", false),
    ...(left > 0 ? [`${counted(left, "more filing")} not shown`] : []),
    ...(evidence.length === 0 ? [`Source '${source}' gives no evidence.`] : []),
  ];
}

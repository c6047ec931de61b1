/** Writes the principals, projects and signals of a draft with their links to GPs. */
import type { DatabaseSync } from "node:sqlite";
import type { LinkedKind } from "#search/read-model.ts";
import type { DocumentWriter } from "./document-writer.ts";
import { renderRecord, type Inherited } from "./render.ts";
import { sourceKey, type WrittenGp, type WrittenGps } from "./write-gps.ts";

export function writeLinked(draft: DatabaseSync, writer: DocumentWriter, gps: WrittenGps): void {
  const linkRow = draft.prepare("insert into link values (?, ?, ?)");
  const projectIds = new Map<string, string>();
  // Signals name projects by their public ids, so projects come before them.
  const kinds: readonly LinkedKind[] = ["principal", "project", "signal"];
  for (const kind of kinds)
    for (const row of writer.rows(kind)) {
      const { position, source, body } = row;
      const own = idsIn(body["gps"]).map((id) => gps.get(sourceKey(source, id))!);
      if (kind === "project") projectIds.set(sourceKey(source, row.sourceId), row.publicId);
      const replaced = {
        id: row.publicId,
        project_ids: idsIn(body["project_ids"]).map((id) => projectIds.get(sourceKey(source, id))),
      };
      const inherited = kind === "principal" ? inheritedFrom(own) : null;
      const links = own.map(({ link }) => link);
      writer.write(kind, row, renderRecord(kind, body, replaced, inherited, links));
      for (const gp of own) linkRow.run(kind, BigInt(position), BigInt(gp.position));
    }
}

const idsIn = (ids: unknown) => (ids ?? []) as string[];

function inheritedFrom(gps: readonly WrittenGp[]): Inherited {
  const union = (member: keyof Inherited) => [...new Set(gps.flatMap((gp) => gp[member]))];
  return { tags: union("tags"), themes: union("themes"), markets: union("markets") };
}

/** Writes the principals, projects and signals of a draft with their links to GPs. */
import type { DatabaseSync } from "node:sqlite";
import { linkedKinds } from "#search/dataset-parts.ts";
import type { DocumentWriter } from "./document-writer.ts";
import { eachOnce, type DraftRecords } from "./draft-record.ts";
import { renderLinked } from "./render.ts";
import { openRowWriter } from "./row-writer.ts";
import type { TextStore } from "./text-store.ts";
import type { WrittenGp, WrittenGps } from "./write-gps.ts";

export function writeLinked(
  draft: DatabaseSync,
  writer: DocumentWriter,
  texts: TextStore,
  records: DraftRecords,
  gps: WrittenGps,
): void {
  const links = openRowWriter(draft, "link", 3);
  for (const kind of linkedKinds)
    writer.write(kind, records[kind], ({ id, source, own, gps: ids }, position) => {
      const linked = ids.map((gp) => gps.get(source)!.get(gp)!);
      for (const gp of linked) links.add(kind, position, gp.position);
      const lists = kind === "principal" ? inheritedJson(linked) : null;
      return renderLinked(
        id,
        texts.textOf(own),
        lists,
        linked.map(({ linkJson }) => linkJson),
      );
    });
  links.end();
}

function inheritedJson(gps: readonly WrittenGp[]): string {
  const [first, second] = gps;
  if (first !== undefined && second === undefined) return first.listsJson;
  const lists = gps.map(({ listsJson }) => JSON.parse(listsJson) as Inherited);
  const union = (member: keyof Inherited) => eachOnce(lists.flatMap((list) => list[member]));
  return JSON.stringify({
    tags: union("tags"),
    themes: union("themes"),
    markets: union("markets"),
  });
}

/** What a principal inherits from its GPs. */
interface Inherited {
  tags: readonly string[];
  themes: readonly string[];
  markets: readonly string[];
}

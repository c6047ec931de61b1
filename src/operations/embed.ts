/** Writes a GP as it is served: its own members, then at most 100 of its principals and of its signals. */
import type { DatasetParts } from "#search/dataset-parts.ts";
import type { BodyWriter } from "./body-writer.ts";

/** Records of one kind embedded in a GP at most. */
const embeddedMax = 100;

const embeddedList = (kind: "principal" | "signal") => ({
  kind,
  opening: Buffer.from(`,"${kind}s":[`),
  closing: Buffer.from(`],"${kind}s_total":`),
});
const embeddedLists = [embeddedList("principal"), embeddedList("signal")];

const comma = Buffer.from(",");
const brace = Buffer.from("}");

export function writeGp(body: BodyWriter, parts: DatasetParts, gp: number): void {
  const { starts, ownLengths } = parts.documents.gp;
  body.copy(parts.documents.gp, starts[gp]!, starts[gp]! + ownLengths[gp]!);
  for (const list of embeddedLists) writeList(body, parts, list, gp);
  body.bytes(brace);
}

function writeList(
  body: BodyWriter,
  parts: DatasetParts,
  { kind, opening, closing }: (typeof embeddedLists)[number],
  gp: number,
): void {
  const { starts: firsts, items: records } = parts.recordsOfGp[kind];
  const first = firsts[gp]!;
  const total = firsts[gp + 1]! - first;
  const documents = parts.documents[kind];
  const { starts, ownLengths } = documents;
  body.bytes(opening);
  for (let i = 0; i < Math.min(total, embeddedMax); i++) {
    const record = records[first + i]!;
    if (i > 0) body.bytes(comma);
    body.copy(documents, starts[record]!, starts[record]! + ownLengths[record]!);
    body.bytes(brace);
  }
  body.bytes(closing);
  body.text(String(total));
}

/** Has one of the GPs more principals or signals than it embeds? */
export const isCut = ({ recordsOfGp }: DatasetParts, gps: readonly number[]): boolean =>
  embeddedLists.some(({ kind }) => {
    const { starts } = recordsOfGp[kind];
    return gps.some((gp) => starts[gp + 1]! - starts[gp]! > embeddedMax);
  });

/** Writes a GP as it is served: its own members, then at most 100 of its principals and of its signals. */
import type { DatasetParts, LinkedKind } from "#search/read-model.ts";
import type { BodyWriter } from "./body-writer.ts";

/** Records of one kind embedded in a GP at most. */
export const embeddedMax = 100;

const embeddedKinds = ["principal", "signal"] as const satisfies LinkedKind[];

export function writeGp(body: BodyWriter, parts: DatasetParts, gp: number): void {
  const { starts, ownLengths } = parts.documents.gp;
  body.copy(parts.documents.gp, starts[gp]!, starts[gp]! + ownLengths[gp]!);
  for (const kind of embeddedKinds) writeList(body, parts, kind, gp);
  body.text("}");
}

function writeList(body: BodyWriter, parts: DatasetParts, kind: LinkedKind, gp: number): void {
  const { starts: firsts, items: records } = parts.recordsOfGp[kind];
  const first = firsts[gp]!;
  const total = firsts[gp + 1]! - first;
  const documents = parts.documents[kind];
  const { starts, ownLengths } = documents;
  body.text(`,"${kind}s":[`);
  for (let i = 0; i < Math.min(total, embeddedMax); i++) {
    const record = records[first + i]!;
    if (i > 0) body.text(",");
    body.copy(documents, starts[record]!, starts[record]! + ownLengths[record]!);
    body.text("}");
  }
  body.text(`],"${kind}s_total":${total}`);
}

/** Has one of the GPs more principals or signals than it embeds? */
export const isCut = ({ recordsOfGp }: DatasetParts, gps: readonly number[]): boolean =>
  embeddedKinds.some((kind) => {
    const { starts } = recordsOfGp[kind];
    return gps.some((gp) => starts[gp + 1]! - starts[gp]! > embeddedMax);
  });

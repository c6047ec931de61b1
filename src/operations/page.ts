/** The answer of every operation: `data`, `pagination`, `meta`, as finished JSON. */
import { documentCount } from "#search/documents.ts";
import type { ReadModel } from "#search/read-model.ts";
import { beginBody } from "./body-writer.ts";
import { isCut, writeGp } from "./embed.ts";
import { hintsFor } from "./hints.ts";
import type { Operation, Query } from "./operation.ts";

export const apiVersion = "1.3";

export interface Page {
  body: Buffer;
  total: number;
  returned: number;
}

/** Runs a query on one dataset; the answer depends on nothing else. */
export function answer(operation: Operation, model: ReadModel, query: Query): Page {
  const selection = operation.select(model, query);
  const { total, positions } = selection;
  const body = beginBody();
  const isOfGps = operation.kind === "gp";
  const documents = model.parts.documents[operation.kind];
  body.text('{"data":[');
  positions.forEach((position, i) => {
    if (i > 0) body.text(",");
    if (isOfGps) writeGp(body, model.parts, position);
    else body.copy(documents, documents.starts[position]!, documents.starts[position + 1]!);
  });
  const { limit, offset } = query;
  const returned = positions.length;
  const hasMore = offset + returned < total && returned > 0;
  const pagination = {
    limit,
    offset,
    returned,
    total,
    has_more: hasMore,
    next_offset: hasMore ? offset + returned : null,
  };
  const meta = {
    api_version: apiVersion,
    dataset_version: model.parts.version,
    dataset_updated_at: model.parts.updatedAt,
    hints: hintsFor(model, query, selection, isOfGps && isCut(model.parts, positions)),
  };
  body.text(`],"pagination":${JSON.stringify(pagination)},"meta":${JSON.stringify(meta)}}`);
  return { body: body.finish(), total, returned };
}

/** How many records of each kind a dataset has. */
export const recordCounts = ({ parts: { documents } }: ReadModel) => ({
  gp: documentCount(documents.gp),
  principal: documentCount(documents.principal),
  signal: documentCount(documents.signal),
  project: documentCount(documents.project),
});

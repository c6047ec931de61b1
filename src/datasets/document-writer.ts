/** Writes the documents of a draft, kind by kind in display order, and tells what changed. */
import { createHash } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { recordKinds, type RecordKind } from "#records/canonical.ts";
import { hashOfContent } from "./dataset-hash.ts";
import { comparable, documentOf, ownLengthOf, type Rendered } from "./render.ts";

/** How many records the new generation has that the one before had not, had otherwise, had and lost. */
export interface Changes {
  added: number;
  updated: number;
  removed: number;
}

export type Body = Readonly<Record<string, unknown>>;

/** A canonical record of the draft, and what the generation before knew of it. */
export interface Row {
  position: number;
  source: string;
  sourceId: string;
  publicId: string;
  body: Body;
  known: { since: string; contentHash: Uint8Array; updatedAt: string } | null;
}

export interface DocumentWriter {
  /** All records of a kind, in display order. */
  rows(kind: RecordKind): Generator<Row>;
  write(kind: RecordKind, row: Row, rendered: Rendered): void;
  /** Hash over the content of all that was written, times excluded. */
  contentHash(): string;
  changes(): Changes;
}

/**
 * @param draft has its canonical records; the generation before, if any, is attached as `previous`.
 * @param builtAt `updated_at` of what is new or changed and whose source gives no time.
 */
export function openDocumentWriter(
  draft: DatabaseSync,
  builtAt: string,
  hasPrevious: boolean,
): DocumentWriter {
  const digest = createHash("sha256");
  const inserts = Object.fromEntries(
    recordKinds.map((kind) => [
      kind,
      draft.prepare(`insert into ${kind} values (?, ?, ?, ?, ?, ?, ?, ?)`),
    ]),
  ) as Record<RecordKind, StatementSync>;
  let added = 0;
  let updated = 0;
  return {
    *rows(kind) {
      let position = 0;
      for (const row of selectInOrder(draft, kind, hasPrevious)) yield rowFrom(row, position++);
    },
    write(kind, { position, source, publicId, body, known }, rendered) {
      const contentHash = hashOfContent(comparable(rendered));
      const isSame = known !== null && Buffer.compare(contentHash, known.contentHash) === 0;
      const stated = body["updated_at"] as string | undefined;
      const updatedAt = stated ?? (isSame ? known.updatedAt : builtAt);
      if (known === null) added++;
      else if (!isSame || updatedAt !== known.updatedAt) updated++;
      digest.update(contentHash);
      inserts[kind].run(
        BigInt(position),
        publicId,
        source,
        known?.since ?? builtAt,
        contentHash,
        updatedAt,
        BigInt(ownLengthOf(rendered, updatedAt)),
        documentOf(rendered, updatedAt),
      );
    },
    contentHash: () => digest.digest("hex"),
    changes: () => ({ added, updated, removed: hasPrevious ? countRemoved(draft) : 0 }),
  };
}

function selectInOrder(draft: DatabaseSync, kind: RecordKind, hasPrevious: boolean) {
  const from = hasPrevious
    ? `p.since, p.content_hash, p.updated_at from canonical c left join previous.${kind} p on p.id = c.public_id`
    : "null as since, null as content_hash, null as updated_at from canonical c";
  const direction = kind === "signal" ? "desc" : "asc";
  return draft
    .prepare(
      `select c.source, c.source_id, c.public_id, c.body, ${from}
       where c.kind = ? order by c.sort_key ${direction}, c.public_id`,
    )
    .iterate(kind);
}

function rowFrom(row: Record<string, unknown>, position: number): Row {
  return {
    position,
    source: row["source"] as string,
    sourceId: row["source_id"] as string,
    publicId: row["public_id"] as string,
    body: JSON.parse(row["body"] as string) as Body,
    known:
      row["since"] === null
        ? null
        : {
            since: row["since"] as string,
            contentHash: row["content_hash"] as Uint8Array,
            updatedAt: row["updated_at"] as string,
          },
  };
}

function countRemoved(draft: DatabaseSync): number {
  const kept = draft.prepare("select public_id from canonical where kind = ?");
  return recordKinds
    .map((kind) => {
      const ids = new Set(kept.all(kind).map((row) => row["public_id"]));
      const before = draft.prepare(`select id from previous.${kind}`).all();
      return before.filter(({ id }) => !ids.has(id!)).length;
    })
    .reduce((a, b) => a + b);
}

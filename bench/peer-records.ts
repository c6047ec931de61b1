/** The records of a published dataset as lines that bench/peers/schema.sql reads. */
import { fold } from "#records/fold.ts";
import type { GpLink } from "#records/common.ts";
import { type DatasetParts, documentCount, readDocuments } from "#search/dataset-parts.ts";
import { spellingsOfMarket } from "#search/market-spellings.ts";

const kinds = ["gp", "principal", "signal", "project"] as const;

/**
 * Kind, tab and JSON of each record with what it is searched and sorted by, in pieces of many lines; in the end the keys, each with
 * an account of its own.
 */
export function* peerLines(parts: DatasetParts, keys: readonly string[]): Generator<string> {
  for (const kind of kinds) {
    const documents = parts.documents[kind];
    const positions = Array.from({ length: documentCount(documents) }, (_, i) => i);
    const records = readDocuments<Document>(documents, positions);
    yield linesOf(kind, kind === "gp" ? records.map(searchedGp) : records.map(sortedRecord));
  }
  const owned = keys.map((key, account) => ({ key, account }));
  yield linesOf("key", owned);
}

/** As it is served. */
interface Document extends Record<string, unknown> {
  /** All but signals have one. */
  name?: string;
  gps?: GpLink[];
}

const sortedRecord = (record: Document) => ({ ...record, sort_name: fold(record.name ?? "") });

function searchedGp(record: Document) {
  const of = (...members: string[]) => members.flatMap((name) => (record[name] ?? []) as string[]);
  return {
    ...sortedRecord(record),
    names: unique(of("name", "legal_name", "aliases").map(fold)),
    tag_keys: unique(of("tags", "strategies", "property_types").map(fold)),
    theme_keys: unique(of("themes").map(fold)),
    market_keys: unique(
      of("markets").flatMap((market) => spellingsOfMarket(market).map(({ folded }) => folded)),
    ),
  };
}

const unique = (texts: readonly string[]) => [...new Set(texts)].filter((text) => text !== "");

/** In COPY's text format a backslash is written twice; JSON has no tab or line end of its own. */
const linesOf = (kind: string, records: readonly object[]) =>
  records.map((record) => `${kind}\t${JSON.stringify(record).replaceAll("\\", "\\\\")}\n`).join("");

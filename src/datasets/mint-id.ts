/** Public ids: minted once from a source's own id, the same on every import. */
import { hash } from "node:crypto";
import type { RecordKind } from "#records/canonical.ts";
import { idPrefixes } from "./format.ts";

/** 16 digits of base 36 are about 82 bits: a million records meet with a chance of about 10⁻¹³. */
const digits = 16;

export function mintId(kind: RecordKind, source: string, sourceId: string): string {
  // A line break cannot stand in a source's name, so no two triples give the same text.
  const digest = hash("sha256", `${kind}\n${source}\n${sourceId}`, "hex");
  const number = BigInt(`0x${digest.slice(0, 32)}`)
    .toString(36)
    .padStart(25, "0");
  // Joined, it is a text of its own; a template would keep both its parts, three times the memory of a million ids.
  return [idPrefixes[kind], number.slice(-digits)].join("_");
}

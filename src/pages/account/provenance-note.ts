/** Where records come from and how sure each is: said once for most of them, and again only where it differs. */
import type { Provenance } from "#records/common.ts";
import { html, type Part } from "#pages/html.ts";
import { outside, provenanceWords } from "./record-words.ts";

interface Sourced {
  provenance: Provenance;
}

/** What most of them say of themselves; undefined for no records. */
export function commonProvenance(records: readonly Sourced[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { provenance } of records) {
    const words = provenanceWords(provenance);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

export const provenanceLine = (common: string | undefined): Part =>
  common !== undefined && html`<p class="muted">Unless a line says otherwise: from ${common}.</p>`;

/** What one record says differently, and where its source says so. */
export function provenanceNote({ provenance }: Sourced, common: string | undefined): Part {
  const words = provenanceWords(provenance);
  const said = words === common ? null : `from ${words}`;
  if (provenance.url === null) return said;
  return [said, said !== null && ", ", outside(provenance.url, "source")];
}

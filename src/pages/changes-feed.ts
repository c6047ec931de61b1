/** The feed at `/changes.atom`: an entry for each recent publication, with counts but without records. */
import type { Publication } from "#records/publication.ts";
import { atomFeed, urnOf } from "./atom.ts";

const entriesMax = 100;

/**
 * Returns the feed, with at most 100 entries.
 * @param publications newest first. @param address the feed's address, absolute if it is known.
 * @param updatedAt time at which the served dataset was built, for a feed without entries.
 */
export function changesFeed(
  publications: readonly Publication[],
  address: string,
  updatedAt: string,
): string {
  const entries = publications.slice(0, entriesMax).map((publication) => ({
    id: urnOf(`${publication.version} ${publication.published_at}`),
    title: publication.version,
    updatedAt: publication.published_at,
    text: contentOf(publication),
  }));
  const id = /^https?:/.test(address) ? address : urnOf("feed");
  const title = "gp-records: publications";
  return atomFeed({ id, title, self: address, updatedAt, entries }, "gp-records");
}

/** Returns counts such as `gp: 12 added, 31 changed, 1 merged; signal: 105 added`. */
function contentOf({ step }: Publication): string {
  if (step === null) return "What changed is not known.";
  const kinds = Object.entries(step.counts).map(([kind, counts]) => {
    const some = Object.entries(counts).filter(([, count]) => count > 0);
    return some.length === 0
      ? ""
      : `${kind}: ${some.map(([what, n]) => `${n} ${what}`).join(", ")}`;
  });
  return kinds.filter((text) => text !== "").join("; ");
}

/** The feed at `/changes.atom` (RFC 4287): an entry for each recent publication, with counts but without records. */
import { hash } from "node:crypto";
import type { Publication } from "#records/publication.ts";

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
  const entries = publications.slice(0, entriesMax);
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escaped(/^https?:/.test(address) ? address : idOf("feed"))}</id>
<title>gp-records: publications</title>
<updated>${entries[0]?.published_at ?? updatedAt}</updated>
<author><name>gp-records</name></author>
<link rel="self" type="application/atom+xml" href="${escaped(address)}"/>
${entries.map(entry).join("")}</feed>
`;
}

const entry = (publication: Publication): string => `<entry>
<id>${idOf(`${publication.version} ${publication.published_at}`)}</id>
<title>${publication.version}</title>
<updated>${publication.published_at}</updated>
<content type="text">${escaped(contentOf(publication))}</content>
</entry>
`;

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

/** Returns a URN made from a name, the same on every server (RFC 9562, version 8). */
function idOf(name: string): string {
  const digits = hash("sha256", `gp-records publication ${name}`);
  const groups = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ];
  return `urn:uuid:${groups.join("-")}`;
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

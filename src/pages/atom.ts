/** Atom feeds (RFC 4287), and the one at `/changes.atom`. */
import { hash } from "node:crypto";
import type { Publication } from "#records/publication.ts";
import { escapeText } from "./html.ts";

interface Feed {
  id: string;
  title: string;
  /** Address of the feed; null if it is secret. */
  self: string | null;
  /** Time of the feed if it has no entry. */
  updatedAt: string;
  /** Entries, newest first. */
  entries: readonly Entry[];
}

export interface Entry {
  id: string;
  title: string;
  updatedAt: string;
  /** Absolute address of the page that the entry is about; null or omitted for no link. */
  link?: string | null;
  text: string;
}

export const atomType = "application/atom+xml; charset=utf-8";

export const atomFeed = ({ id, title, self, updatedAt, entries }: Feed, author: string): string =>
  `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escaped(id)}</id>
<title>${escaped(title)}</title>
<updated>${entries[0]?.updatedAt ?? updatedAt}</updated>
<author><name>${escaped(author)}</name></author>
${self === null ? "" : `<link rel="self" type="application/atom+xml" href="${escaped(self)}"/>\n`}${entries.map(entryText).join("")}</feed>
`;

const entryText = ({ id, title, updatedAt, link, text }: Entry): string => `<entry>
<id>${escaped(id)}</id>
<title>${escaped(title)}</title>
<updated>${updatedAt}</updated>
${link ? `<link href="${escaped(link)}"/>\n` : ""}<content type="text">${escaped(text)}</content>
</entry>
`;

/** Returns a URN made from a name, the same on every server (RFC 9562, version 8). */
export function urnOf(name: string): string {
  const digits = hash("sha256", `gp-records publication ${name}`);
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "urn:uuid:$1-$2-8$3-8$4-$5");
}

/** Characters that XML 1.0 forbids, even escaped. */
// oxlint-disable-next-line no-control-regex
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

const escaped = (text: string) => escapeText(text.toWellFormed().replace(forbidden, ""));

const entriesMax = 100;

/**
 * Returns the feed at `/changes.atom`: the 100 newest publications, with counts but without records.
 * @param publications newest first. @param address the feed's address, absolute if the public URL is known.
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

/** Returns counts such as `gp: 12 added, 31 changed, 1 merged; signal: 105 added`, or a sentence if there are none. */
function contentOf({ step }: Publication): string {
  if (step === null) return "The changes of this publication are not known.";
  const kinds = Object.entries(step.counts).map(([kind, counts]) => {
    const some = Object.entries(counts).flatMap(([what, n]) => (n > 0 ? [`${n} ${what}`] : []));
    return some.length > 0 && `${kind}: ${some.join(", ")}`;
  });
  return kinds.filter(Boolean).join("; ") || "No record changed.";
}

/** Atom feeds (RFC 4287). */
import { hash } from "node:crypto";

export interface Feed {
  id: string;
  title: string;
  /** Address of the feed; null if its readers alone may know it. */
  self: string | null;
  /** Time of the feed if it has no entry. */
  updatedAt: string;
  /** Newest first. */
  entries: readonly Entry[];
}

interface Entry {
  id: string;
  title: string;
  updatedAt: string;
  /** Absolute address of the page that the entry is about. */
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
  const groups = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ];
  return `urn:uuid:${groups.join("-")}`;
}

/** Characters that XML 1.0 forbids, even escaped. */
// oxlint-disable-next-line no-control-regex
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

const escaped = (text: string) =>
  text
    .toWellFormed()
    .replace(forbidden, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;");

import assert from "node:assert/strict";
import { test } from "node:test";
import { SaxesParser } from "saxes";
import { atomFeed, changesFeed } from "#pages/atom.ts";
import type { Publication } from "#records/publication.ts";
import { startService } from "../support/service.ts";

const noKey = { "x-api-key": "" };

test("whatever /llms.txt links to is there without a key, and its example is answered", async (t) => {
  const service = await startService(t);
  const { text, headers } = await service.get("/llms.txt", noKey);
  assert.equal(headers.get("content-type"), "text/plain; charset=utf-8");
  assert.match(text, /^# gp-records\n\n> /);
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path!);
  assert.ok(links.length >= 8);
  for (const path of links) assert.equal((await service.get(path, noKey)).status, 200, path);
  const [, example = ""] = /curl .*"(\/[^"]+)"/.exec(text) ?? [];
  assert.equal((await service.get(example)).status, 200);
});

const none = { added: 0, changed: 0, removed: 0, merged: 0 };

const publication = (day: number): Publication => ({
  version: `202611${String(day).padStart(2, "0")}T030000Z-9f3c2a7e`,
  published_at: `2026-11-${String(day).padStart(2, "0")}T03:00:09Z`,
  from: null,
  hash: null,
  step:
    day === 1
      ? null
      : {
          changes: day,
          counts: { gp: { ...none, added: day }, principal: none, signal: none, project: none },
        },
});

const feedOf = (days: readonly number[], address = "/changes.atom") =>
  changesFeed(days.map(publication), address, "2026-11-20T03:00:00Z");

/** Elements by their path, with their text; throws where the text is no well-formed XML. */
function elementsOf(xml: string): { path: string; text: string }[] {
  const open: { path: string; text: string }[] = [];
  const found: typeof open = [];
  const parser = new SaxesParser();
  parser.on("opentag", ({ name }) => {
    const path = [...open.slice(-1).map((one) => one.path), name].join("/");
    open.push({ path, text: "" });
    found.push(open.at(-1)!);
  });
  parser.on("text", (text) => open.slice(-1).forEach((one) => (one.text += text)));
  parser.on("closetag", () => void open.pop());
  parser.write(xml).close();
  return found;
}

test("the feed has what RFC 4287 asks of one, and one entry for each publication, with an id of its own", () => {
  const elements = elementsOf(feedOf([3, 2, 1], "https://records.example/a&b/changes.atom"));
  const texts = (path: string) =>
    elements.filter((one) => one.path === path).map(({ text }) => text);
  for (const path of ["feed/id", "feed/title", "feed/updated", "feed/author/name", "feed/link"])
    assert.equal(texts(path).length, 1, path);
  assert.deepEqual(texts("feed/id"), ["https://records.example/a&b/changes.atom"]);
  assert.deepEqual(texts("feed/updated"), ["2026-11-03T03:00:09Z"]);
  for (const path of ["id", "title", "updated", "content"])
    assert.equal(texts(`feed/entry/${path}`).length, 3, path);
  const ids = texts("feed/entry/id");
  assert.equal(new Set(ids).size, 3);
  for (const id of ids)
    assert.match(id, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(texts("feed/entry/content"), [
    "gp: 3 added",
    "gp: 2 added",
    "The changes of this publication are not known.",
  ]);
});

test("a feed stays well-formed whatever a title of a record holds", () => {
  const title = `a]]>b & <c> "d" 'e'\0\ud800`;
  const one = { id: "urn:uuid:1", title, updatedAt: "2026-11-20T03:00:00Z" };
  const feed = atomFeed({ ...one, self: null, entries: [{ ...one, text: title }] }, "us");
  const texts = elementsOf(feed).filter(({ path }) => /(?:title|content)$/.test(path));
  assert.deepEqual(new Set(texts.map(({ text }) => text)), new Set([`a]]>b & <c> "d" 'e'\ufffd`]));
});

test("the same publication has the same id wherever it is told of, and a feed without one has the time of the dataset", () => {
  const idsIn = (xml: string) => xml.match(/urn:uuid:[^<]+/g)!;
  assert.equal(idsIn(feedOf([2]))[1], idsIn(feedOf([3, 2], "/other.atom"))[2]);
  assert.match(feedOf([]), /<updated>2026-11-20T03:00:00Z<\/updated>/);
});

test("a feed has the newest hundred publications", () => {
  const days = Array.from({ length: 101 }, (_, i) => 1 + (i % 28));
  assert.equal(feedOf(days).match(/<entry>/g)!.length, 100);
});

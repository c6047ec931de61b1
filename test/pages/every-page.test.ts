import assert from "node:assert/strict";
import { test } from "node:test";
import { routes } from "#dashboard/screens/index.ts";
import { assetPath, readAssets } from "#pages/assets.ts";
import { publicPages } from "../support/public-pages.ts";

const pages = publicPages();
const assets = new Map(readAssets().map((asset) => [asset.path, asset]));
/** Files that a text in English needs, of each typeface. */
const fonts = (
  ["inter-latin-wght-normal.woff2", "jetbrains-mono-latin-wght-normal.woff2"] as const
).map(assetPath);

/** Values of an attribute, in the order of the page. */
const valuesOf = (page: string, attribute: string) =>
  [...page.matchAll(new RegExp(`<[a-z][^>]*\\s${attribute}="([^"]*)"`, "g"))].map(
    (match) => match[1]!,
  );

const loaded = (page: string) => [
  ...valuesOf(page, "src"),
  ...[...page.matchAll(/<link\b[^>]*\shref="([^"]*)"/g)].map((match) => match[1]!),
];

for (const [path, page] of pages)
  test(`${path} loads our own assets alone, and weighs at most 220 KB with them, 50 KB without`, (t) => {
    const names = new Set([...loaded(page), ...fonts]);
    assert.ok([...names].some((name) => name.startsWith("/assets/style.")));
    const sizes = Array.from(
      names,
      (name) => assets.get(name)?.bytes.length ?? assert.fail(`${name} is no asset`),
    );
    const own = Buffer.byteLength(page);
    const bytes = sizes.reduce((sum, size) => sum + size, own);
    t.diagnostic(`${own} of ${bytes} bytes`);
    assert.ok(own <= 50_000, `${own} bytes`);
    assert.ok(bytes <= 220_000, `${bytes} bytes`);
  });

test("the typefaces are files of our own for Latin letters, and a page shows its text before they come", () => {
  const style = assets.get(assetPath("style.css"))!.bytes.toString();
  const faces = style.match(/@font-face \{[^}]*\}/g)!;
  const files = faces.map((face) => /url\(([^)]*)\)/.exec(face)![1]!);
  assert.deepEqual(
    files.map((path) => assets.get(path)?.contentType),
    Array(4).fill("font/woff2"),
  );
  for (const face of faces) assert.match(face, /font-display: swap;[^}]*unicode-range: U\+/);
});

test("no page needs an inline script, style or handler, which its policy forbids", () => {
  for (const [path, page] of pages) {
    assert.doesNotMatch(page, /<[^>]*\s(style|on[a-z]+)\s*=/i, path);
    assert.doesNotMatch(page, /<style|<base|<iframe|javascript:/i, path);
    for (const [, attributes, content] of page.matchAll(/<script\b([^>]*)>(.*?)<\/script>/gs)) {
      assert.match(attributes!, /\ssrc="\/assets\//, path);
      assert.equal(content, "", path);
    }
  }
});

test("scripts and styles name no other host and make no markup from text", () => {
  for (const { name, bytes } of assets.values()) {
    if (name.endsWith(".woff2")) continue;
    const text = bytes
      .toString()
      .replace('xmlns="http://www.w3.org/2000/svg"', "")
      .replace(/url\(\/assets\/[\w.-]+\)/g, "");
    assert.doesNotMatch(text, /https?:|\/\/[a-z]|@import|\burl\(/i, name);
    assert.doesNotMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b/,
      name,
    );
  }
});

test("every page has one h1, the landmarks, a skip link, a language and a title of its own", () => {
  const titles = new Set<string>();
  for (const [path, page] of pages) {
    for (const tag of ["h1", "main", "header", "footer"])
      assert.equal(page.match(new RegExp(`<${tag}\\b`, "g"))?.length, 1, `${tag} of ${path}`);
    assert.match(page, /<nav aria-label="Main">/, path);
    assert.match(page, /^<!doctype html>\s*<html lang="en">/, path);
    assert.match(page, /<a class="skip" href="#main">/, path);
    titles.add(/<title>(.*?)<\/title>/.exec(page)![1]!);
  }
  assert.equal(titles.size, pages.size);
});

test("headings descend one level at a time", () => {
  for (const [path, page] of pages) {
    let above = 0;
    for (const [, level] of page.matchAll(/<h([1-6])\b/g)) {
      assert.ok(Number(level) <= above + 1, `h${level} after h${above} on ${path}`);
      above = Number(level);
    }
  }
});

test("ids are unique, and every link within the pages leads to something", () => {
  const known = new Set([
    ...pages.keys(),
    ...routes.map(({ path }) => path),
    "/openapi.json",
    "/browse/changes",
  ]);
  for (const [path, page] of pages) {
    const ids = valuesOf(page, "id");
    assert.equal(new Set(ids).size, ids.length, path);
    for (const [, href] of page.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)) {
      const [target = "", fragment] = href!.split("#");
      if (/^(?:https?|mailto):/.test(target)) continue;
      assert.ok(target === "" || known.has(target), `${href} on ${path}`);
      if (fragment === undefined) continue;
      const aim = target === "" ? page : pages.get(target)!;
      assert.ok(valuesOf(aim, "id").includes(fragment), `${href} on ${path}`);
    }
  }
});

test("the navigation marks the current page, or the list it belongs to", () => {
  const marked = (path: string) =>
    [...pages.get(path)!.matchAll(/<a\s+href="([^"]*)"\s+aria-current="(\w+)"/g)].map((match) =>
      match.slice(1),
    );
  assert.deepEqual(marked("/"), [["/", "page"]]);
  assert.deepEqual(marked("/docs"), [
    ["/docs", "page"],
    ["/docs", "page"],
  ]);
  assert.deepEqual(marked("/docs/mcp"), [
    ["/docs", "true"],
    ["/docs/mcp", "page"],
  ]);
  assert.deepEqual(marked("/errors/unavailable"), [
    ["/docs", "true"],
    ["/errors", "true"],
  ]);
});

test("every page of the docs has the list of them all beside it", () => {
  const inDocs = [...pages].filter(([path]) => /^\/(docs|errors|changelog)\b/.test(path));
  const listed = inDocs.map(([path]) => path).filter((path) => !path.startsWith("/errors/"));
  for (const [path, page] of inDocs) {
    const list = /<nav aria-label="Docs">(.*?)<\/nav>/s.exec(page)![1]!;
    const links = valuesOf(list, "href").filter((href) => href.startsWith("/"));
    assert.deepEqual(links, listed, path);
  }
});

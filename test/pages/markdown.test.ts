import assert from "node:assert/strict";
import { test } from "node:test";
import { markdownOf } from "#pages/markdown.ts";
import { publicPages } from "../support/public-pages.ts";
import { startService } from "../support/service.ts";

const noKey = { "x-api-key": "" };

const wordsOf = (text: string) => text.match(/[\p{L}\p{N}_]+/gu) ?? [];

/** The words of a page that stand in its Markdown, too: no forms and no navigation. */
function wordsOfPage(page: string): string[] {
  const main = page.slice(page.indexOf("<main"), page.indexOf("</main>"));
  const shown = main
    .replaceAll(
      /<(nav|noscript|fieldset|button)\b.*?<\/\1\s*>|<(div|button)[^>]* hidden>.*?<\/\2\s*>/gs,
      " ",
    )
    .replaceAll(/<h4>Try .*?<\/h4\s*>/g, " ")
    .replaceAll(/<(?!\/?(?:a|abbr|b|code|em|span|strong|time)\b)[^>]*>/g, " ")
    .replaceAll(/<[^>]*>/g, "");
  return wordsOf(shown.replaceAll(/&(?:amp|lt|gt|#34|#39);/g, " "));
}

test("the Markdown of a page has its words, all of them and in their order", () => {
  for (const [path, page] of publicPages()) {
    const text = markdownOf(page)
      .replaceAll(/\]\([^)]*\)/g, "]")
      .replaceAll(/^\| (?:--- \| )*--- \|$/gm, " ")
      .replaceAll(/^ *- /gm, " ");
    assert.deepEqual(wordsOf(text), wordsOfPage(page), path);
  }
});

test("headings, lists, tables, code and links are Markdown, and links lead to pages that are Markdown", () => {
  const page = `<html><main id="main"><h1>One &amp; two</h1>
    <p>Some <code>a|b</code> and <a href="/errors/internal-error#x">a <b>link</b></a>.</p>
    <ul><li>first</li> <li>second <code>x</code></li></ul>
    <table><thead><tr><th>Name</th><th>Says</th></tr></thead>
    <tbody><tr><th>a|b</th><td>*c*</td></tr></tbody></table>
    <pre><code>{
  "a": 1
}</code></pre><a href="/account">elsewhere</a></main></html>`;
  assert.equal(
    markdownOf(page),
    String.raw`# One & two

Some ${"`a|b`"} and [a **link**](/errors/internal-error.md#x).

- first
- second ${"`x`"}

| Name | Says |
| --- | --- |
| a\|b | \*c\* |

${"```"}
{
  "a": 1
}
${"```"}

[elsewhere](/account)
`,
  );
});

test("each page of the docs is served as Markdown under its own address and to whoever accepts that, to browsers as HTML", async (t) => {
  const service = await startService(t);
  for (const path of [
    "/docs",
    "/docs/vocabulary",
    "/errors",
    "/errors/quota-exceeded",
    "/changelog",
  ]) {
    const alone = await service.get(`${path}.md`, noKey);
    assert.equal(alone.headers.get("content-type"), "text/markdown; charset=utf-8");
    assert.match(alone.text, /^#|^\[/);
    for (const accept of [
      "text/markdown",
      "text/markdown, text/html, */*",
      "text/html, text/markdown",
    ])
      assert.equal((await service.get(path, { ...noKey, accept })).text, alone.text, accept);
    const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for (const accept of [browser, "*/*"])
      assert.match((await service.get(path, { ...noKey, accept })).text, /^<!doctype html>/);
  }
});

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

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { bodyText, html } from "#pages/html.ts";
import { prose } from "#pages/prose.ts";

test("no text in a template becomes a tag, attribute or entity", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const { markup } = html`<p title="${text}">${text}</p>`;
      // Ours, as those of the text are escaped.
      const own = /<\/?bdi>/g;
      const inner = markup.slice('<p title="'.length, -"</p>".length).replaceAll(own, "");
      assert.equal(inner.match(/[<>"]/g)?.join(""), '">');
      assert.doesNotMatch(inner, /&(?!amp;|lt;|gt;|#34;|#39;)/);
    }),
  );
});

test("bidirectional text stays inside its place, and is plain where no element may stand", () => {
  const reversed = "Acme \u202e<\u2069";
  const inside = "Acme \u202e&lt;";
  assert.equal(
    html`<p title="${reversed}">${[reversed, " · ", "אבג"]}, ${"Acme"}</p>`.markup,
    `<p title="${inside}\u2069"><bdi>${inside}</bdi> · <bdi>אבג</bdi>, Acme</p>`,
  );
  assert.equal(html`<title>${"x"} ${reversed}</title>`.markup, `<title>x ${inside}\u2069</title>`);
  assert.equal(
    html`<option value="a">${reversed}</option>`.markup,
    `<option value="a">${inside}\u2069</option>`,
  );
});

test("markup of a template is kept as it is inside another, alone and in lists", () => {
  const item = html`<b>${"a & b"}</b>`;
  assert.equal(
    html`<p>${item}${[item, item]}</p>`.markup,
    `<p>${"<b>a &amp; b</b>".repeat(3)}</p>`,
  );
});

test("absent values become empty, and zero is written", () => {
  assert.equal(html`<p>${null}${undefined}${false}${0}</p>`.markup, "<p>0</p>");
});

test("an object that only looks like markup is not treated as markup", () => {
  const forged = { markup: "<script>" } as unknown as string;
  assert.throws(() => html`<p>${forged}</p>`);
});

test("text of an element keeps its quotes and still opens no tag", () => {
  assert.equal(bodyText(`{"a": "</code>&"}`).markup, `{"a": "&lt;/code&gt;&amp;"}`);
});

test("backticks mark code, and the text between them is escaped", () => {
  assert.equal(prose("Send `<limit>` & go.").markup, "Send <code>&lt;limit&gt;</code> &amp; go.");
  assert.equal(prose("one ` alone").markup, "one ` alone");
});

test("markup is made from text in one file only", () => {
  const folder = new URL("../../src/pages/", import.meta.url);
  const makers = readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .filter((name) => /new Html\(/.test(readFileSync(new URL(name, folder), "utf8")));
  assert.deepEqual(makers, ["html.ts"]);
});

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { apiVersions } from "#operations/versions.ts";
import { changelogPage } from "#pages/docs.ts";
import { bodyText, html } from "#pages/html.ts";
import { signalGroups } from "#pages/plot.ts";
import { prose } from "#pages/prose.ts";
import { site } from "../support/public-pages.ts";
import { startService } from "../support/service.ts";

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
  assert.equal(html`<option>${reversed}</option>`.markup, `<option>${inside}\u2069</option>`);
  assert.equal(html`<text y="1">${"אבג"}</text>`.markup, '<text y="1">אבג</text>');
});

test("markup of a template is kept inside another, alone and in lists, but no object that looks like it; absent values become empty and zero is written", () => {
  const item = html`<b>${"a & b"}</b>`;
  assert.equal(
    html`<p>${item}${[item, item]}</p>`.markup,
    `<p>${"<b>a &amp; b</b>".repeat(3)}</p>`,
  );
  const forged = { markup: "<script>" } as unknown as string;
  assert.throws(() => html`<p>${forged}</p>`);
  assert.equal(html`<p>${null}${undefined}${false}${0}</p>`.markup, "<p>0</p>");
});

test("text of an element keeps its quotes and still opens no tag", () => {
  assert.equal(bodyText(`{"a": "</code>&"}`).markup, `{"a": "&lt;/code&gt;&amp;"}`);
});

test("backticks mark code, and the text between them is escaped", () => {
  assert.equal(prose("Send `<limit>` & go.").markup, "Send <code>&lt;limit&gt;</code> &amp; go.");
  assert.equal(prose("one ` alone").markup, "one ` alone");
});

test("markup is made from text in one file only", () => {
  const makers = globSync("src/**/*.ts").filter((path) =>
    /new Html\(/.test(readFileSync(path, "utf8")),
  );
  assert.deepEqual(makers, ["src/pages/html.ts"]);
});

const sheets = globSync("src/pages/assets/*.css").map((path) => readFileSync(path, "utf8"));
const css = sheets.join("");
const properties = [...css.matchAll(/:root \{.*?\n\}/gs)].join("\n");

test("all style sheets together have at most 1,000 lines", () => {
  assert.ok(sheets.length > 1 && css.trimEnd().split("\n").length <= 1000);
});

test("every colour of a style sheet has one for light and one for dark, and every property is used", () => {
  assert.doesNotMatch(css.replaceAll(/light-dark\([^)]*\)/g, ""), /#[0-9a-f]{3,6}\b/);
  const drawings = ["map", "plot"].map((name) => readFileSync(`src/pages/${name}.ts`, "utf8"));
  const hues = signalGroups.map(({ hue }) => `var(--${hue})`);
  const used = [css, ...drawings, ...hues].join("\n");
  for (const [, name] of properties.matchAll(/(--[a-z-0-9]+):/g))
    assert.ok(used.includes(`var(${name!})`), name!);
  for (const name of drawings.join("").match(/var\(--[a-z-0-9]+\)/g)!)
    assert.ok(properties.includes(`${name.slice(4, -1)}:`), name);
});

test("text has the sizes of the look alone", () => {
  const sizes = css.matchAll(/(?:font: |font-size: |--[a-z]+: )(?:[0-9]00 )?([0-9.]+px)/g);
  const expected = ["11", "12", "12.5", "13", "14", "15", "20", "24", "28", "36"];
  for (const [, size] of sizes) assert.ok(expected.includes(size!.slice(0, -2)), size!);
});

/** Relative luminance of `#rrggbb` (WCAG 2.2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

const schemes = ["light", "dark"] as const;
const colours = Object.fromEntries(
  [...properties.matchAll(/--([a-z-0-9]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
    ([, name, light, dark]) => [name!, { light: light!, dark: dark! }],
  ),
);

test("text has a contrast of 4.5 and the border of a field one of 3, on its backgrounds, light and dark", () => {
  const pairs = ["page", "card", "sunk"].flatMap((ground) =>
    ["ink", "ink-2", "ink-3", "accent"].map((ink) => [ink, ground, 4.5] as const),
  );
  for (const [ink, ground, least] of [
    ...pairs,
    ["field", "page", 3] as const,
    ["field", "card", 3] as const,
    ["on-accent", "accent", 4.5] as const,
    ["on-accent", "accent-hover", 4.5] as const,
    ["expires", "expires-ground", 4.5] as const,
    ["destroys", "card", 4.5] as const,
    ["ok", "page", 4.5] as const,
    ["ink", "tint", 4.5] as const,
  ])
    for (const scheme of schemes) {
      const ratio = contrast(colours[ink]![scheme], colours[ground]![scheme]);
      assert.ok(ratio >= least, `${ink} on ${ground}, ${scheme}: ${ratio.toFixed(2)}`);
    }
});

test("the newest entry is of the version that is served", async (t) => {
  const service = await startService(t);
  const { text, headers } = await service.get("/changelog");
  const [, newest] = /<h2 id="v([^"]+)">/.exec(text)!;
  assert.equal(newest, headers.get("api-version"));
  assert.equal(newest, (await service.get("/fetch-signals?limit=1")).body.meta.api_version);
});

test("entries are newest first, each with a day and a change", () => {
  const dates = apiVersions.map(({ date }) => date);
  assert.deepEqual(dates, dates.toSorted().toReversed());
  for (const { date, changes } of apiVersions) {
    assert.match(date, /^\d{4}-\d{2}-\d{2}$/);
    assert.notEqual(changes.length, 0);
  }
});

test("an entry is shown as text with its code marked", () => {
  const page = changelogPage(site, [
    { version: "1.4", date: "2027-01-02", changes: ["A <b>new</b> parameter `city`."] },
  ]);
  assert.match(page, /<li>A &lt;b&gt;new&lt;\/b&gt; parameter <code>city<\/code>\.<\/li>/);
  assert.match(page, /<time datetime="2027-01-02">/);
});

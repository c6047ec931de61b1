import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const sheets = ["style.css", "frame.css", "account.css"].map((name) =>
  readFileSync(new URL(`../../src/pages/assets/${name}`, import.meta.url), "utf8"),
);
const [, properties = "", rules = ""] = /^(.*?:root \{.*?\n\})(.*)$/s.exec(sheets.join("\n")) ?? [];

test("a style sheet has fewer than 300 lines", () => {
  for (const sheet of sheets) assert.ok(sheet.split("\n").length < 300);
});

test("colours are only in the properties, and every property is used", () => {
  assert.doesNotMatch(rules, /#[0-9a-f]{6}\b/);
  for (const [, name] of properties.matchAll(/(--[a-z-]+):/g))
    assert.ok(rules.includes(`var(${name!})`), name!);
});

test("there are four sizes of text, one radius and no shadow", () => {
  const sizes = rules
    .matchAll(/font(?:-size)?:\s*(var\(--[a-z]+\)|[^;]+)/g)
    .map((match) => match[1]);
  const expected = ["small", "body", "large", "title"].map((name) => `var(--${name})`);
  assert.deepEqual(new Set(sizes), new Set([...expected, "inherit"]));
  assert.equal(rules.match(/border-radius:/g)?.length, 1);
  assert.doesNotMatch(rules, /shadow:/);
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
  [...properties.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
    ([, name, light, dark]) => [name!, { light: light!, dark: dark! }],
  ),
);

test("text has a contrast of 4.5 and the border of a field one of 3, on every background, light and dark", () => {
  const pairs = ["page", "raised", "sunken"].flatMap((ground) => [
    ...["text", "muted", "accent"].map((ink) => [ink, ground, 4.5] as const),
    ["edge", ground, 3] as const,
  ]);
  for (const [ink, ground, least] of [...pairs, ["on-accent", "accent", 4.5] as const])
    for (const scheme of schemes) {
      const ratio = contrast(colours[ink]![scheme], colours[ground]![scheme]);
      assert.ok(ratio >= least, `${ink} on ${ground}, ${scheme}: ${ratio.toFixed(2)}`);
    }
});

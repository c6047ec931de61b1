/** The pages' assets: style sheets, scripts, drawings and typefaces. Paths have a hash, for caches to keep forever. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Files of the typefaces, as their packages name them. */
const fonts = [
  "inter-latin-wght-normal.woff2",
  "inter-latin-ext-wght-normal.woff2",
  "jetbrains-mono-latin-wght-normal.woff2",
  "jetbrains-mono-latin-ext-wght-normal.woff2",
] as const;

const names = [
  "frame.css",
  "style.css",
  "browse.css",
  "plot.css",
  "records.css",
  "page.js",
  "docs.js",
  "suggest.js",
  "icon.svg",
  "us-map.svg",
  ...fonts,
] as const;

const contentTypes: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

export type AssetName = (typeof names)[number];

let known: readonly ReturnType<typeof readAsset>[] | undefined;

export const readAssets = () => (known ??= names.map(readAsset));

/** Returns the path at which an asset is served, such as `/assets/style.0123456789abcdef.css`. */
export const assetPath = (name: AssetName): string =>
  readAssets().find((asset) => asset.name === name)!.path;

function readAsset(name: AssetName) {
  const extension = name.split(".")[1]!;
  const bytes =
    extension === "woff2" ? readOfPackage(name, `files/${name}`) : Buffer.from(readText(name));
  const sum = hash("sha256", bytes).slice(0, 16);
  const path = `/assets/${name.replace(".", `.${sum}.`)}`;
  return { name, path, contentType: contentTypes[extension]!, bytes };
}

function readText(name: AssetName): string {
  const file = readFileSync(new URL(`./assets/${name}`, import.meta.url), "utf8");
  return (name === "style.css" ? [...fonts.map(faceOf), file].join("\n") : file).replace(
    forReaders,
    "",
  );
}

/** Returns a font's `@font-face` rule, with the path at which the font is served here. */
function faceOf(font: (typeof fonts)[number]): string {
  const rules = readOfPackage(font, "wght.css")
    .toString()
    .match(/@font-face \{[^}]*\}/g)!;
  const rule = rules.find((one) => one.includes(font))!;
  return rule.replace(/url\([^)]*\)/, `url(${readAsset(font).path})`);
}

const readOfPackage = (font: string, path: string): Buffer =>
  readFileSync(
    new URL(import.meta.resolve(`@fontsource-variable/${font.split("-latin")[0]}/${path}`)),
  );

/** Pattern of text that browsers do not need: one-line comments, indentation and empty lines. */
const forReaders = /^(?:\s+|\/\/.*\n|\/\*.*\*\/\n)+/gm;

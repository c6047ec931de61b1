/** The pages' assets: style sheets, scripts, drawings and typefaces. Each path has a hash, so an asset can be cached forever. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

interface Asset {
  name: AssetName;
  /** Path such as `/assets/style.0123456789abcdef.css`. */
  path: string;
  contentType: string;
  bytes: Buffer;
}

const names = [
  "frame.css",
  "style.css",
  "account.css",
  "browse.css",
  "plot.css",
  "records.css",
  "page.js",
  "account.js",
  "docs.js",
  "suggest.js",
  "icon.svg",
  "us-map.svg",
  "inter-latin.woff2",
  "inter-latin-ext.woff2",
  "mono-latin.woff2",
  "mono-latin-ext.woff2",
] as const;

const contentTypes: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

export type AssetName = (typeof names)[number];

let known: readonly Asset[] | undefined;

/** Returns all assets. Reads the files, a few kilobytes each, only once. */
export const readAssets = (): readonly Asset[] => (known ??= names.map(readAsset));

/** Returns the path under which an asset is served. */
export const assetPath = (name: AssetName): string =>
  readAssets().find((asset) => asset.name === name)!.path;

/** Packages of the typefaces, by the name of their files here. */
const typefaces = { inter: "inter", mono: "jetbrains-mono" } as const;
type Typeface = keyof typeof typefaces;

function readAsset(name: AssetName): Asset {
  const extension = name.split(".")[1]!;
  const bytes = extension === "woff2" ? readFont(name) : Buffer.from(readText(name));
  const sum = hash("sha256", bytes).slice(0, 16);
  const path = `/assets/${name.replace(".", `.${sum}.`)}`;
  return { name, path, contentType: contentTypes[extension]!, bytes };
}

function readText(name: AssetName): string {
  const file = readFileSync(new URL(`./assets/${name}`, import.meta.url), "utf8");
  const faces = name === "style.css" ? [...facesOf("inter"), ...facesOf("mono")].join("") : "";
  return faces + file.replace(forReaders, "");
}

const fileOf = (typeface: Typeface, name: string): URL =>
  new URL(import.meta.resolve(`@fontsource-variable/${typefaces[typeface]}/${name}`));

function readFont(name: AssetName): Buffer {
  const [typeface = "", ...characters] = name.split(".")[0]!.split("-");
  const family = typefaces[typeface as Typeface];
  const file = `files/${family}-${characters.join("-")}-wght-normal.woff2`;
  return readFileSync(fileOf(typeface as Typeface, file));
}

/** Returns a typeface's rules for Latin letters, with the addresses that its files have here. */
const facesOf = (typeface: Typeface): string[] =>
  readFileSync(fileOf(typeface, "wght.css"), "utf8")
    .match(/@font-face \{[^}]*\}/g)!
    .flatMap((rule) => {
      const characters = /-(latin(?:-ext)?)-wght-normal/.exec(rule)?.[1] as "latin" | undefined;
      if (characters === undefined) return [];
      const path = readAsset(`${typeface}-${characters}.woff2`).path;
      return rule.replace(/url\([^)]*\)/, `url(${path})`).replace(forReaders, "");
    });

/** Comments on their own lines, indentation and empty lines: up to a quarter of a style sheet. */
const forReaders = /^(?:\s+|\/\/.*\n|\/\*.*\*\/\n)+/gm;

/** The pages' assets: style sheets, scripts and the icon. Each path has a hash, so an asset can be cached forever. */
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
  "search.css",
  "page.js",
  "account.js",
  "docs.js",
  "suggest.js",
  "icon.svg",
  "us-map.svg",
] as const;

const contentTypes: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

export type AssetName = (typeof names)[number];

let known: readonly Asset[] | undefined;

/** Returns all assets. Reads the files, a few kilobytes each, only once. */
export const readAssets = (): readonly Asset[] => (known ??= names.map(readAsset));

/** Returns the path under which an asset is served. */
export const assetPath = (name: AssetName): string =>
  readAssets().find((asset) => asset.name === name)!.path;

function readAsset(name: AssetName): Asset {
  const file = readFileSync(new URL(`./assets/${name}`, import.meta.url), "utf8");
  const bytes = Buffer.from(file.replace(forReaders, ""));
  const sum = hash("sha256", bytes).slice(0, 16);
  const path = `/assets/${name.replace(".", `.${sum}.`)}`;
  return { name, path, contentType: contentTypes[name.split(".")[1]!]!, bytes };
}

/** Comments on their own lines, indentation and empty lines: up to a quarter of a style sheet. */
const forReaders = /^(?:\s+|\/\/.*\n|\/\*.*\*\/\n)+/gm;

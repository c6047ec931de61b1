/** The files beside the pages: style sheet, scripts, icon. Served at `/assets/<name>`. */
import { readFileSync } from "node:fs";

export interface Asset {
  name: string;
  contentType: string;
  bytes: Buffer;
}

const contentTypes = {
  "style.css": "text/css; charset=utf-8",
  "account.css": "text/css; charset=utf-8",
  "theme.js": "text/javascript; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "account.js": "text/javascript; charset=utf-8",
  "docs.js": "text/javascript; charset=utf-8",
  "explorer.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

/** Reads them once; there are a few kilobytes. */
export const readAssets = (): readonly Asset[] =>
  Object.entries(contentTypes).map(([name, contentType]) => ({
    name,
    contentType,
    bytes: readFileSync(new URL(`./assets/${name}`, import.meta.url)),
  }));

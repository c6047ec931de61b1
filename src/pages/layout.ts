/** The layout of every page: head, navigation, main, footer. */
import { apiVersion } from "#operations/versions.ts";
import { assetPath, type AssetName } from "./assets.ts";
import { html, type Html, type Part } from "./html.ts";

interface PageContent {
  /** Names the page in tabs and bookmarks. */
  title: string;
  /** One sentence for search engines. */
  description: string;
  /** Path of the page, to mark it in the navigation; a page below a listed one marks that. */
  path: string;
  /** In addition to the assets of every page. */
  scripts?: readonly AssetName[];
  styles?: readonly AssetName[];
  /** Holds the one `h1`. */
  main: Part;
}

const links = [
  { path: "/docs", label: "Docs" },
  { path: "/errors", label: "Errors" },
  { path: "/changelog", label: "Changelog" },
  { path: "/account", label: "Account" },
] as const;

export function layout(content: PageContent): string {
  const { path, main } = content;
  return html`<!doctype html>
    <html lang="en">
      ${head(content)}
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <a href="/" ${path === "/" && html`aria-current="page"`}
            ><img src="${assetPath("icon.svg")}" alt="" width="16" height="16" /> gp-records</a
          >
          <nav aria-label="Main">
            ${links.map((link) => html`<a href="${link.path}" ${current(link.path, path)}>${link.label}</a> `)}
          </nav>
          <button type="button" class="quiet" data-theme-switch hidden></button>
        </header>
        <main id="main" tabindex="-1">${main}</main>
        <footer>
          <p>gp-records API ${apiVersion} · <a href="/openapi.json">openapi.json</a></p>
        </footer>
      </body>
    </html> `.markup;
}

/** The theme is chosen before the first paint, so its script alone is not deferred. */
const head = ({ title, description, scripts = [], styles = [] }: PageContent): Html =>
  html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title} · gp-records</title>
    <meta name="description" content="${description}" />
    <link rel="icon" href="${assetPath("icon.svg")}" type="image/svg+xml" />
    ${(["style.css", ...styles] as const).map((name) => html`<link rel="stylesheet" href="${assetPath(name)}" />`)}
    <script src="${assetPath("theme.js")}"></script>
    ${(["page.js", ...scripts] as const).map((name) => html`<script src="${assetPath(name)}" defer></script>`)}
  </head>`;

interface LongPage {
  /** Links to the sections, as items of a list. */
  contents: Part;
  sections: Part;
}

/** A page of the reference below its heading: the sections, and beside them links to each. */
export function withContents({ contents, sections }: LongPage): Html {
  // Lines between the blocks, so that the markup can be read.
  // oxfmt-ignore
  return html`<div class="with-contents">
    <nav class="contents" aria-label="On this page">
      <ul>
        ${contents}
      </ul>
    </nav>
    <div>
      ${sections}
    </div>
  </div>`;
}

/** Marks a link of a navigation on its own page and on pages below it. */
export function current(link: string, path: string): Part {
  if (link === path) return html`aria-current="page"`;
  return path.startsWith(`${link}/`) && html`aria-current="true"`;
}

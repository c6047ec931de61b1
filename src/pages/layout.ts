/** Layout of every page: head, top bar, side navigation, main part and footer. */
import { operations } from "#operations/index.ts";
import { apiVersion } from "#operations/versions.ts";
import { isNamed, kinds, namedKinds, recordKinds } from "#records/kinds.ts";
import { type AssetName, assetPath } from "./assets.ts";
import { html, type Html, type Part } from "./html.ts";
import { wordList } from "./prose.ts";

/** Facts about the service on every page. */
export interface Site {
  name: string;
  /** E-mail address or https URL for questions; null for none. */
  contact: string | null;
  /** Readers to whom pages show the served records. */
  browse: "members" | "everyone";
  /** True if the pages for people are served. */
  hasAccounts: boolean;
}

interface PageContent {
  site: Site;
  /** Page title in tabs and bookmarks. */
  title: string;
  /** One sentence for search engines. */
  description: string;
  /** Path to mark in the navigation. A path that is not listed there marks the nearest listed one above it. */
  path: string;
  /** Navigation of the section to which the page belongs. */
  side?: Side;
  /** True for a page that is little more than a short form. */
  isNarrow?: boolean;
  /** Scripts in addition to those of every page. */
  scripts?: readonly AssetName[];
  /** Style sheets in addition to those of every page. */
  styles?: readonly AssetName[];
  /** Last entry of the top bar; by default a link to the account. It is left out if no accounts are served. */
  account?: Part;
  /** Content with the page's only `h1`. */
  main: Part;
}

export interface Side {
  /** Name of the section of the site that this navigation is for, such as `Docs`. */
  name: string;
  /** Label of the page, shown after `name` on the line that opens the navigation on a narrow screen. */
  label: string;
  links: Part;
}

export function layout(content: PageContent): string {
  const { site, side, isNarrow, main } = content;
  return html`<!doctype html>
    <html lang="en">
      ${head(content)}
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        ${topBar(content)}
        <div class="page">
          ${
            side !== undefined &&
            html`<details class="side">
              <summary>${side.name}: ${side.label}</summary>
              <nav aria-label="${side.name}">${side.links}</nav>
            </details>`
          }
          <main id="main" tabindex="-1" ${isNarrow === true && html`class="narrow"`}>${main}</main>
        </div>
        <footer class="muted">
          ${site.name} · API ${apiVersion} <a href="/errors">Errors</a>
          <a href="/changelog">Changelog</a> <a href="/openapi.json">openapi.json</a>
          <a href="/privacy">Privacy</a>
        </footer>
      </body>
    </html> `.markup;
}

const singulars = namedKinds.map((kind) => `a ${kinds[kind].nouns[0]}`);
/** Phrase that names the kinds that are searched: "a GP, a person or a project". */
export const anySearched = wordList(singulars, "or");

/** Returns the bar above every page. On a phone, its links are in a menu. The bar of `/` has no search field. */
function topBar({ site, path, account }: PageContent): Html {
  const link = (href: string, label: string, ...parts: string[]) =>
    html`<a href="${href}" ${current(href, path, [href, ...parts])}>${label}</a> `;
  const namedFirst = [...namedKinds, ...recordKinds.filter((kind) => !isNamed(kind))];
  const lists = namedFirst.map((kind) => link(kinds[kind].path, kinds[kind].label));
  return html`<header>
    <a href="/" ${path === "/" && html`aria-current="page"`} class="home"
      ><img src="${assetPath("icon.svg")}" alt="" width="18" height="18" /> ${site.name}</a
    >
    <details class="menu">
      <summary>Menu</summary>
      <nav aria-label="Main">
        ${site.hasAccounts && [lists, link("/browse/changes", "Changes")]}
        ${site.hasAccounts && path !== "/" && searchForm(`Search ${namedKinds.map((kind) => kinds[kind].nouns[1]).join(", ")}`)}
        <div class="rest">
          ${site.hasAccounts && link("/account/keys", "API", "/account/usage", "/account/requests")}
          ${link("/docs", "Docs", "/errors", "/changelog")}
          ${site.hasAccounts && (account ?? html`<a class="button quiet" href="/account">Account</a>`)}
        </div>
      </nav>
    </details>
  </header>`;
}

export const searchForm = (placeholder: string, text = ""): Html =>
  html`<form class="search" role="search" aria-label="${placeholder}" action="/search">
    <svg width="16" height="16" fill="none" stroke="var(--ink-3)" aria-hidden="true">
      <path stroke-width="1.5" d="M10.5 10.5 14 14M12 7A5 5 0 1 1 2 7a5 5 0 0 1 10 0Z" />
    </svg>
    <input
      name="q"
      type="search"
      autocomplete="off"
      placeholder="${placeholder}"
      aria-label="${placeholder}"
      value="${text}"
      maxlength="200"
      required
    />
    <kbd class="badge" hidden aria-hidden="true">/</kbd>
  </form>`;

function head({ site, title, description, scripts = [], styles = [] }: PageContent): Html {
  const sheets: AssetName[] = ["style.css", "frame.css", ...styles];
  const search: AssetName[] = site.hasAccounts ? ["suggest.js"] : [];
  const programs: AssetName[] = ["page.js", ...search, ...scripts];
  return html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title} · ${site.name}</title>
    <meta name="description" content="${description}" />
    <link
      rel="preload"
      href="${assetPath("inter-latin-wght-normal.woff2")}"
      as="font"
      type="font/woff2"
      crossorigin
    />
    <link rel="icon" href="${assetPath("icon.svg")}" type="image/svg+xml" />
    ${sheets.map((name) => html`<link rel="stylesheet" href="${assetPath(name)}" />`)}
    ${programs.map((name) => html`<script src="${assetPath(name)}" defer></script>`)}
  </head>`;
}

/** Returns a link's `aria-current`: `page` on its page, `true` on other pages at or below `parts`, else false. */
export function current(link: string, path: string, parts: readonly string[] = [link]): Part {
  if (link === path) return html`aria-current="page"`;
  return parts.some((part) => `${path}/`.startsWith(`${part}/`)) && html`aria-current="true"`;
}

interface DocsPage extends Omit<PageContent, "side"> {
  /** Links to a long page's sections, as list items. */
  contents?: Part;
}

/** Pages of the docs other than those of operations, each with its path, label and topics. */
export const docsPages = [
  ["/docs", "Reference", "authentication, operations, paging, matching, quota, formats, copies"],
  ["/docs/vocabulary", "Vocabulary", "values of closed lists, and how to list other values"],
  ["/docs/explain", "Explain", "why a record says what it says, and what was refused"],
  ["/docs/mcp", "Agents", "tools for programs that speak the Model Context Protocol"],
  ["/errors", "Errors", "every error code, each with a page of its own"],
  ["/changelog", "Changelog", "what each version added"],
] as const;

export function docsLayout({ contents, ...content }: DocsPage): string {
  const [reference, ...guides] = docsPages;
  const ofOperations = operations.map(({ name }) => [`/docs/${name}`, name] as const);
  const all = [reference, ...ofOperations, ...guides];
  const [shown, label] = all.findLast(([path]) => `${content.path}/`.startsWith(`${path}/`))!;
  const list = (pages: readonly (readonly [path: string, label: string, about?: string])[]) =>
    html`<ul>
      ${pages.map(
        ([path, name]) =>
          html`<li>
            <a href="${path}" ${path === shown && current(path, content.path)}>${name}</a>
            ${
              path === shown &&
              contents !== undefined &&
              html`<ul>
                ${contents}
              </ul>`
            }
          </li> `,
      )}
    </ul>`;
  const links = [
    list([reference]),
    html`<p>Operations</p>`,
    list(ofOperations),
    html`<p>Guides</p>`,
    list(guides),
  ];
  return layout({ ...content, side: { name: "Docs", label, links } });
}

/** The layout of every page of the docs: the list of them all beside it, with the sections of the one that is shown. */
import { html, type Part } from "./html.ts";
import { current, layout, type PageContent } from "./layout.ts";

interface DocsPage extends Omit<PageContent, "side"> {
  /** Links to the sections of a long page, as items of a list. */
  contents?: Part;
}

const pages = [
  { path: "/docs", label: "Reference" },
  { path: "/docs/samples", label: "Samples" },
  { path: "/docs/vocabulary", label: "Vocabulary" },
  { path: "/docs/mcp", label: "Agents" },
  { path: "/errors", label: "Errors" },
  { path: "/changelog", label: "Changelog" },
] as const;

export function docsLayout({ contents, ...content }: DocsPage): string {
  const { path } = content;
  const shown = pages.findLast((page) => `${path}/`.startsWith(`${page.path}/`))!;
  return layout({
    ...content,
    side: {
      name: "Docs",
      label: shown.label,
      links: html`<ul>
        ${pages.map(
          (page) =>
            html`<li>
              <a href="${page.path}" ${page === shown && current(page.path, path)}>${page.label}</a>
              ${
                page === shown &&
                contents !== undefined &&
                html`<ul>
                  ${contents}
                </ul>`
              }
            </li> `,
        )}
      </ul>`,
    },
  });
}

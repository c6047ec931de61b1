/**
 * The page at `/docs/vocabulary`: how to list the values that records carry, and the meanings of those in closed lists.
 */
import { type Vocabulary, vocabularyPath } from "#operations/vocabulary.ts";
import { type ValueList, valueLists } from "#records/declarations.ts";
import { jsonBlock } from "./code-block.ts";
import { anchorOf, tryIt } from "./docs-operation.ts";
import { exampleMeta, exampleValues } from "./example-records.ts";
import { html, type Html, table } from "./html.ts";
import { docsLayout, type Site } from "./layout.ts";
import { codes, prose } from "./prose.ts";

/** Returns the page, which needs no key. Open values are only examples, because real ones come from records. */
export const vocabularyPage = (site: Site, publicUrl: string | null): string =>
  docsLayout({
    site,
    title: "Vocabulary",
    description: "Which tags, themes, markets and other values records carry.",
    path: "/docs/vocabulary",
    scripts: ["docs.js"],
    contents: html`<li><a href="#open">Tags, themes and markets</a></li>
      <li>
        <a href="#closed">Closed lists</a>
        <ul>
          ${valueLists.map((list) => html`<li><a href="#${anchorOf(list)}">${list.members[0]}</a></li> `)}
        </ul>
      </li>`,
    main: html`<h1>Vocabulary</h1>
      <p class="lede">
        Tags, themes and markets are open: ask the service for those in use. Other members take
        their values from closed lists, which are below.
      </p>
      <section>
        <h2 id="open">Tags, themes and markets</h2>
        <h3 id="vocabulary"><code>GET ${vocabularyPath}</code></h3>
        <p>
          This path lists each value with <code>gps_total</code>, the number of GPs that a search by
          that value alone finds, the most GPs first. It takes no parameter, needs your key and
          counts 1 against your quota. <code>tags</code> includes strategies and property types,
          because the parameter <code>tag</code> finds them too. The value of a market is its whole
          title; its <code>spellings</code> find it as well, along with any other market of that
          name.
        </p>
        ${tryIt({
          path: vocabularyPath,
          target: vocabularyPath,
          publicUrl,
          fields: null,
          example: jsonBlock(
            "Example of an answer, with one closed list of many",
            exampleVocabulary,
          ),
        })}
      </section>
      <section>
        <h2 id="closed">Closed lists</h2>
        <p>These members take only the values below; a minor version of the API may add values.</p>
        ${valueLists.map(section)}
      </section>`,
  });

const section = (list: ValueList): Html =>
  html`<h3 id="${anchorOf(list)}">${codes(list.members)}</h3>
    ${table({
      label: `Values of ${list.members[0]}`,
      columns: ["Value", { label: "Meaning", isPlain: true }],
      rows: list.values.map(({ value, meaning }) => [html`<code>${value}</code>`, prose(meaning)]),
    })}`;

export const exampleVocabulary: Vocabulary = {
  data: {
    ...exampleValues,
    enums: valueLists.filter(({ members }) => members[0] === "project.market_basis"),
  },
  meta: exampleMeta,
};

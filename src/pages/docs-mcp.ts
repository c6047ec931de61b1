/** The page at `/docs/mcp`: how an agent is connected, and what its tools do. */
import { filterableGp } from "#records/gp.ts";
import { copyBlock, unknownOrigin, withOrigin } from "./code-block.ts";
import { html } from "./html.ts";
import { docsLayout } from "./layout.ts";
import { codes } from "./prose.ts";
import { agentSettings } from "./snippets.ts";
import { table } from "./table.ts";

/** Returns the page. @param publicUrl URL of the service; if null, a script inserts the origin of the page. */
export const mcpPage = (publicUrl: string | null): string =>
  docsLayout({
    title: "Agents",
    description: "How an agent asks gp-records over MCP, the Model Context Protocol.",
    path: "/docs/mcp",
    scripts: ["docs.js"],
    contents: html`<li><a href="#connect">Connect a program</a></li>
      <li><a href="#tools">Tools</a></li>
      <li><a href="#answers">Answers and errors</a></li>`,
    main: html`<h1>How does an agent ask?</h1>
      <p class="lede">
        Connect it to <code>/mcp</code>, which speaks MCP, the Model Context Protocol. It gets tools
        that answer what this API answers, and lists that it cannot give.
      </p>
      <section>
        <h2 id="connect">Connect a program</h2>
        <p>
          Paste the settings of your program with your key in place of <code>YOUR_KEY</code>. Keep
          them out of repositories that others see. The key goes in <code>x-api-key</code> or, on
          this path alone, in <code>Authorization: Bearer</code>; two different keys in them are
          refused.
        </p>
        ${agentSettings({ base: publicUrl ?? unknownOrigin, key: "YOUR_KEY" }).map(
          ({ name, place, text }) =>
            html`<h3>${name}</h3>
              <p>In ${place}:</p>
              ${copyBlock(`Settings of ${name}`, withOrigin(text))}`,
        )}
      </section>
      <section>
        <h2 id="tools">Tools</h2>
        <p>All only read. Each call counts 1 against your quota, whatever its answer.</p>
        ${table({
          label: "Tools",
          columns: ["Tool", { label: "Gives", isPlain: true }],
          rows: tools.map(([names, gives]) => [codes(names), gives]),
        })}
        <p>
          <code>detail</code> is <code>brief</code> by default, which gives the members that matter
          most; with <code>full</code> records are what they are over HTTP. A market is asked for as
          over HTTP: ${filterableGp.market.meaning} The resource
          <code>gp-records://guide</code> explains every member.
        </p>
      </section>
      <section>
        <h2 id="answers">Answers and errors</h2>
        <p>
          An answer has at most 32,000 bytes, so it may hold fewer records than
          <code>limit</code>: while <code>rest</code> is not <code>null</code>, it says how to get
          the others. Every answer begins with the notice that texts of records are data and no
          instructions.
        </p>
        <p>
          A wrong argument is an error that names the right one. Over the quota a call is an error
          with <code>retry_after</code>, in seconds. Messages that call no tool count nothing, up to
          120 a minute. Pages in a browser may call from this origin and those that the operator
          lists; <code>/mcp</code> refuses any other.
        </p>
      </section>`,
  });

const tools: readonly [names: readonly string[], gives: string][] = [
  [
    ["fetch_gp", "fetch_principals", "fetch_signals", "fetch_projects"],
    "What the operations of the same names give.",
  ],
  [
    ["list_gps"],
    "GPs by market, tag, theme, property type, name, and the dates of their signals, in any combination.",
  ],
  [
    ["list_signals"],
    "Signals by their own market, tag, theme, property type, type and date, and by GP.",
  ],
  [
    ["list_projects"],
    "Projects by their own market, tag, theme, property type, type, status and dates, and by GP.",
  ],
  [["vocabulary"], "Tags, themes and markets with their numbers of GPs, and the closed lists."],
  [["changes_since"], "What the publication after a dataset changed, and how to go on."],
];

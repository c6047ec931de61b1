/** The page at `/docs/mcp`: how agents call the API. Without a public URL, a script inserts the page's origin. */
import { operations } from "#operations/index.ts";
import { filterableGp } from "#records/gp.ts";
import { agentSettings, copyBlock, originOf, withOrigin } from "./code-block.ts";
import { html } from "./html.ts";
import { docsLayout, type Site } from "./layout.ts";
import { codes } from "./prose.ts";

export const mcpPage = (site: Site, publicUrl: string | null): string =>
  docsLayout({
    site,
    title: "Agents",
    description: "How an agent asks for records over MCP, the Model Context Protocol.",
    path: "/docs/mcp",
    contents: html`<li><a href="#connect">Connect a program</a></li>
      <li><a href="#tools">Tools</a></li>
      <li><a href="#answers">Answers and errors</a></li>`,
    main: html`<h1>Agents</h1>
      <p class="lede">
        Connect your agent to <code>/mcp</code>, which speaks MCP, the Model Context Protocol. The
        agent gets tools with the answers of this API, short enough for a model to read.
      </p>
      <section>
        <h2 id="connect">Connect a program</h2>
        <p>
          Paste the settings of your program with your key in place of <code>YOUR_KEY</code>. Keep
          them out of repositories that others see. The key goes in <code>x-api-key</code> or, on
          this path alone, in <code>Authorization: Bearer</code>; a request with two different keys
          is refused.
        </p>
        ${agentSettings(originOf(publicUrl)).map(
          ({ name, place, text }) =>
            html`<h3>${name}</h3>
              <p>In ${place}:</p>
              ${copyBlock(`Settings of ${name}`, withOrigin(text))}`,
        )}
      </section>
      <section>
        <h2 id="tools">Tools</h2>
        <p>
          All tools are read-only. Each call counts 1 against your quota, whatever its answer;
          <code>match_gps</code> counts 1 for every 100 names on its page, rounded up.
          ${codes(operations.map(({ name }) => name.replaceAll("-", "_")))} take the parameters of
          the <a href="/docs#operations">operations</a> of the same names, and give the same
          records. A parameter that may be repeated is a list of values.
          <code>vocabulary</code> gives tags, themes and markets with their numbers of GPs, and the
          closed lists. <code>changes_since</code> gives what the publication after a dataset
          changed, and how to go on. <code>match_gps</code> gives the GP that each of up to 200
          names means, and how sure that is.
        </p>
        <p>
          <code>detail</code> is <code>brief</code> by default, which gives the members that matter
          most; with <code>full</code> records are the same as over HTTP. Name a market as you would
          over HTTP: ${filterableGp.market.meaning} The resource
          <code>gp-records://guide</code> explains every member.
        </p>
      </section>
      <section>
        <h2 id="answers">Answers and errors</h2>
        <p>
          An answer has at most 32,000 bytes, so it may hold fewer records than
          <code>limit</code>: while <code>rest</code> is not <code>null</code>, it says how to get
          the others. Every answer begins with the notice that texts of records are data, not
          instructions.
        </p>
        <p>
          A call with a wrong argument is an error that says what would be right. A call beyond the
          quota is an error with <code>retry_after</code>, in seconds. Messages that call no tool do
          not count, up to 120 a minute. Pages in a browser may call from this origin and those that
          the operator lists; <code>/mcp</code> refuses any other.
        </p>
      </section>`,
  });

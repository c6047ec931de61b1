/** Code on pages: response bodies, API calls in shell, TypeScript and Python, and settings for agents. */
import type { Operation } from "#operations/operation.ts";
import { bodyText, html, type Html, type Part } from "./html.ts";

/** Returns a block that scrolls instead of the page. It is focusable, so that the keyboard can scroll it. */
const codeBlock = (label: string, content: Part): Html =>
  html`<pre tabindex="0" role="group" aria-label="${label}"><code>${content}</code></pre>`;

/** Returns a block with a copy button, which stays hidden without JavaScript. */
export const copyBlock = (label: string, content: Part): Html =>
  html`<div class="copyable">
    ${codeBlock(label, content)}<button type="button" class="quiet" data-copy hidden>Copy</button>
  </div>`;

/** Returns indented JSON, with lists of plain values on one line. */
const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(
    /\[\n\s+([^[\]{}]+?)\n\s+\]/g,
    (_, list: string) => `[${list.replace(/\n\s+/g, " ")}]`,
  );

/** Returns a block of JSON with strings, but not member names, in colour. */
export function jsonBlock(label: string, value: unknown): Html {
  const parts = jsonText(value).split(/("(?:[^"\\\n]|\\.)*":?)/);
  const coloured = parts.map((part, i) =>
    i % 2 === 0 || part.endsWith(":") ? bodyText(part) : html`<i>${bodyText(part)}</i>`,
  );
  return codeBlock(label, coloured);
}

/** Placeholder for an origin that only the browser knows. */
const unknownOrigin = "https://YOUR_HOST";
const unknownKey = "YOUR_KEY";

/** Returns the service's origin for use in code. @param publicUrl null for a placeholder that a script can replace. */
export const originOf = (publicUrl: string | null): string => publicUrl ?? unknownOrigin;

/** Marks the unknown origin in code, so that a script can replace it. */
export const withOrigin = (code: string): Part =>
  code
    .split(unknownOrigin)
    .flatMap((text, i) => [
      i > 0 && html`<span data-origin>${unknownOrigin}</span>`,
      bodyText(text),
    ]);

/** Returns a block with a request as a curl command. @param target path and query. */
export const curlBlock = (label: string, publicUrl: string | null, target: string): Html =>
  copyBlock(label, withOrigin(callLines({ base: originOf(publicUrl), target }).curl));

/** Returns an API call in shell, TypeScript and Python. A page shows one at a time. @param target path and query. */
export function callBlocks(base: string, target: string): Html {
  const { curl, typescript, python } = callLines({ base, target });
  return html`<div class="codes">
    ${Object.entries({ curl, TypeScript: typescript, Python: python }).map(
      ([language, code], i) =>
        html`<label
            ><input type="radio" name="language" class="unseen" ${i === 0 && html`checked`} />
            ${language}</label
          >${copyBlock(`Request: ${language}`, withOrigin(code))}`,
    )}
  </div>`;
}

interface Call {
  /** Origin (and path) of the service, without a trailing slash. */
  base: string;
  /** Path and query, percent-encoded. */
  target: string;
  /** API key; a placeholder by default. */
  key?: string;
}

/** Returns an API call as plain text, which a page must escape. URL and header are quoted, so neither acts as code. */
export function callLines({ base, target, key = unknownKey }: Call) {
  const url = base + target;
  return {
    curl: `curl -H ${shellWord(`x-api-key: ${key}`)} ${shellWord(url)}`,
    /** Line for a `.env` file. The programs read the key from the environment: keys in code end up in repositories. */
    environment: `GP_RECORDS_KEY=${key}`,
    /** Module for Node and Deno. */
    typescript: `const response = await fetch(${literal(url)}, {
  headers: { "x-api-key": process.env.GP_RECORDS_KEY! },
});
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`,
    /** Program for Python 3 without packages. */
    python: `import json, os
from urllib.request import Request, urlopen

key = {"x-api-key": os.environ["GP_RECORDS_KEY"]}
url = ${literal(url)}
print(json.load(urlopen(Request(url, headers=key))))`,
  };
}

/** Quotes a word for a shell. Only these characters are special between double quotes (POSIX 2024, 2.2.3). */
const shellWord = (text: string): string => `"${text.replace(/["$`\\]/g, String.raw`\$&`)}"`;

/** Returns a string literal that is valid in JSON, TypeScript and Python. */
const literal = (text: string): string => JSON.stringify(text);

export const exampleTarget = ({ path, example }: Operation): string =>
  `${path}?${new URLSearchParams(example).toString()}`;

/**
 * Returns a list of agent programs, each with the settings that connect it to `/mcp` and the place where they belong.
 * Values are JSON literals, so that none can act as a setting. @param base origin (and path) of the service.
 */
export function agentSettings(base: string) {
  const url = `${base}/mcp`;
  const headers = { "x-api-key": unknownKey };
  const settings = (value: object) => JSON.stringify(value, null, 2);
  return [
    {
      name: "Claude Code",
      place: "a file .mcp.json in the folder of the project",
      text: settings({ mcpServers: { "gp-records": { type: "http", url, headers } } }),
    },
    {
      name: "Cursor",
      place: "~/.cursor/mcp.json",
      text: settings({ mcpServers: { "gp-records": { url, headers } } }),
    },
    {
      name: "VS Code",
      place: ".vscode/mcp.json; VS Code asks for the key and keeps it",
      text: settings({
        servers: {
          "gp-records": { type: "http", url, headers: { "x-api-key": "${input:gp-records-key}" } },
        },
        inputs: [
          { type: "promptString", id: "gp-records-key", description: "API key", password: true },
        ],
      }),
    },
    {
      name: "Claude Desktop and other programs that start a local server",
      place: "claude_desktop_config.json; mcp-remote is a bridge from npm that needs Node",
      text: settings({
        mcpServers: {
          "gp-records": {
            command: "npx",
            args: ["-y", "mcp-remote", url, "--header", "x-api-key:${GP_RECORDS_KEY}"],
            env: { GP_RECORDS_KEY: unknownKey },
          },
        },
      }),
    },
  ];
}

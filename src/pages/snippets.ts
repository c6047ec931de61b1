/** Code to paste: one call of the API for a shell, TypeScript and Python, and the settings with which agents reach `/mcp`. */
import type { Operation } from "#operations/operation.ts";

interface Call {
  /** Origin (and path) of the service, without a slash at the end. */
  base: string;
  /** Path and query, percent-encoded. */
  target: string;
  /** A placeholder by default. */
  key?: string;
}

interface CallLines {
  curl: string;
  /** For a file `.env`, from which TypeScript and Python read the key: keys in code end up in repositories. */
  environment: string;
  /** For Node and Deno, as a module. */
  typescript: string;
  /** For Python 3 with nothing installed. */
  python: string;
}

const placeholder = "YOUR_KEY";

/** Returns plain text, to be escaped in a page. The values are quoted, so that none can act as code. */
export function callLines({ base, target, key = placeholder }: Call): CallLines {
  const url = base + target;
  return {
    curl: `curl ${shellWord(url)} \\
  -H ${shellWord(`x-api-key: ${key}`)}`,
    environment: `GP_RECORDS_KEY=${key}`,
    typescript: `const response = await fetch(${literal(url)}, {
  headers: { "x-api-key": process.env.GP_RECORDS_KEY! },
});
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`,
    python: `import json, os
from urllib.request import Request, urlopen

key = {"x-api-key": os.environ["GP_RECORDS_KEY"]}
url = ${literal(url)}
print(json.load(urlopen(Request(url, headers=key))))`,
  };
}

/** Quotes a word for a shell, which takes everything between single quotes literally except these (POSIX 2024, 2.2.2). */
const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns a JSON string literal, which is also one in TypeScript and in Python. */
const literal = (text: string): string => JSON.stringify(text);

/** Returns path and query of the example. */
export const exampleTarget = ({ path, example }: Operation): string =>
  `${path}?${new URLSearchParams(example).toString()}`;

interface AgentSettings {
  /** The program. */
  name: string;
  /** Where the text belongs. */
  place: string;
  text: string;
}

interface Service {
  /** Origin (and path) of the service, without a slash at the end. */
  base: string;
  key: string;
}

/** Returns the settings of each program. Values are JSON literals, so that none can act as a setting. */
export function agentSettings({ base, key }: Service): readonly AgentSettings[] {
  const url = `${base}/mcp`;
  const headers = { "x-api-key": key };
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
      place: ".vscode/mcp.json; it asks for the key and keeps it",
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
      name: "Claude Desktop, and others that start a program",
      place: "claude_desktop_config.json; mcp-remote is a bridge from npm that needs Node",
      text: settings({
        mcpServers: {
          "gp-records": {
            command: "npx",
            args: ["-y", "mcp-remote", url, "--header", "x-api-key:${GP_RECORDS_KEY}"],
            env: { GP_RECORDS_KEY: key },
          },
        },
      }),
    },
  ];
}

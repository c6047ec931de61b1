/** What programs that work with agents take to reach `/mcp`, as text to paste into their settings. */

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

/** Values are JSON literals, so that none of them can act as a setting. */
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

/** Sends messages to `/mcp` of a service as an MCP client does, without a library. */
import { type ReadAnswer, readAnswer } from "./described.ts";
import type { TestService } from "./service.ts";

export const modernRevision = "2026-07-28";

/** What a message of that revision says of its client. */
export const envelope = {
  "io.modelcontextprotocol/protocolVersion": modernRevision,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
};

/** @param body sent as it is where it is text or bytes. @param headers `x-api-key: ""` sends no key. */
export async function post(
  { url, key }: Pick<TestService, "url" | "key">,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<ReadAnswer> {
  const sent = new Headers({ "content-type": "application/json", "x-api-key": key, ...headers });
  for (const name of Object.keys(headers)) if (headers[name] === "") sent.delete(name);
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: sent,
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  return readAnswer(response);
}

/** A message of the revision of 2026-07-28. */
export const modern = (
  service: Pick<TestService, "url" | "key">,
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<ReadAnswer> => {
  const name = params["name"] ?? params["uri"];
  return post(
    service,
    { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope } },
    {
      "mcp-protocol-version": modernRevision,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
      ...headers,
    },
  );
};

/** The result of a tool. */
export interface Called {
  content: { type: string; text: string }[];
  structuredContent?: any;
  isError?: boolean;
}

/** @throws Error where the answer is no result. */
export async function callTool(
  service: Pick<TestService, "url" | "key">,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Called> {
  const { status, text, body } = await modern(service, "tools/call", { name, arguments: args });
  if (status !== 200 || body.result === undefined) throw new Error(`${status} ${text}`);
  return body.result;
}

/** Asks for each page of what a tool lists, the next one where the one before says that it begins. */
export async function* callInPages(
  service: Pick<TestService, "url" | "key">,
  name: string,
  args: Record<string, unknown>,
): AsyncGenerator<Called> {
  for (let offset: number | null = 0; offset !== null;) {
    const called = await callTool(service, name, { ...args, offset });
    yield called;
    offset = called.structuredContent.pagination.next_offset;
  }
}

/** `gp-records mcp`: a bridge for programs that speak MCP over standard input and output, to a service that speaks it over HTTP. */
import type { Readable, Writable } from "node:stream";
import type { Command } from "commander";
import { apiVersion } from "#operations/versions.ts";
import { maskKeys } from "#problems.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";

const urlName = "GP_RECORDS_URL";
const keyName = "GP_RECORDS_KEY";

export function addMcpCommand(program: Command, context: CliContext): void {
  program
    .command("mcp")
    .description(
      `pass messages of MCP on from standard input to the service at ${urlName}, with the key in ${keyName}`,
    )
    .action(async () => {
      const { [urlName]: url = "", [keyName]: key = "" } = context.environment;
      await passOn(context, process.stdin, process.stdout, endpointOf(url), requireKey(key));
    });
}

/** In the environment, as arguments can be seen by every user of a machine. */
function requireKey(key: string): string {
  if (key === "")
    throw new CommandFault(exitCodes.usage, `${keyName} is not set: put your API key there.`);
  // What fetch says of a header it cannot send would show the key.
  if (!/^[\x21-\x7e]+$/.test(key.trim()))
    throw new CommandFault(
      exitCodes.usage,
      `${keyName} holds a character that no header can carry: it is not the key alone.`,
    );
  return key.trim();
}

function endpointOf(url: string): URL {
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "https:" && parsed?.protocol !== "http:")
    throw new CommandFault(
      exitCodes.usage,
      `${urlName} must be the address of the service, such as https://records.example.`,
    );
  return new URL(`${parsed.origin}${parsed.pathname.replace(/(?:\/mcp)?\/?$/, "")}/mcp`);
}

/** One message a line, as the stdio transport of MCP has it; answers go back in the order in which they come. */
async function passOn(
  { reportError }: CliContext,
  input: Readable,
  output: Writable,
  endpoint: URL,
  key: string,
): Promise<void> {
  const pending = new Set<Promise<void>>();
  let number = 0;
  for await (const line of linesOf(input)) {
    number++;
    if (line.trim() === "") continue;
    const message = parse(line);
    if (Array.isArray(message))
      reportError(
        `error: line ${number} of standard input is an array of messages, which the service refuses: send one message a line.`,
      );
    const passed = ask(endpoint, key, line, message).then((answers) => {
      for (const answer of answers) output.write(`${answer}\n`);
    });
    pending.add(passed);
    void passed.finally(() => pending.delete(passed));
  }
  await Promise.all(pending);
}

/** Ends lines at line feeds alone; Node's readline does at U+2028, too, which may stand in JSON. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let begun = "";
  for await (const chunk of input.setEncoding("utf8")) {
    const lines = (begun + (chunk as string)).split("\n");
    begun = lines.pop()!;
    yield* lines;
  }
  yield begun;
}

/** Longer than the service takes for any request. */
const waitMilliseconds = 30_000;

/** @returns the messages that answer it, one a line; none for a notification. */
async function ask(
  endpoint: URL,
  key: string,
  line: string,
  message: Message | unknown[],
): Promise<string[]> {
  try {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        ...(!Array.isArray(message) && protocolHeaders(message)),
        "x-api-key": key,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "user-agent": `gp-records-mcp/${apiVersion}`,
      },
      body: line,
      // The key goes nowhere else.
      redirect: "error",
      signal: AbortSignal.timeout(waitMilliseconds),
    });
    const text = await response.text();
    const type = response.headers.get("content-type") ?? "";
    if (type.startsWith("application/json")) return [onOneLine(text)];
    if (type.startsWith("text/event-stream")) return text.match(/(?<=^data: ?)\S.*$/gm) ?? [];
    return response.ok ? [] : failure(message, wordsOf(type, text, response.status));
  } catch (error) {
    const { cause = error } = error as Error;
    return failure(message, `${endpoint.origin} cannot be reached: ${(cause as Error).message}`);
  }
}

const onOneLine = (json: string) => JSON.stringify(JSON.parse(json));

interface Message {
  id?: unknown;
  method?: string;
  params?: { _meta?: Record<string, unknown>; name?: unknown; uri?: unknown };
}

/** @returns an array where the line is a batch, as the revision of 2025-03-26 has it. */
function parse(line: string): Message | unknown[] {
  try {
    const message = JSON.parse(line) as unknown;
    return typeof message === "object" && message !== null ? message : {};
  } catch {
    return {};
  }
}

/** What the revision of 2026-07-28 repeats in headers; before it a message says nothing of its revision. */
function protocolHeaders({ method, params }: Message): Record<string, string> {
  const revision = params?._meta?.["io.modelcontextprotocol/protocolVersion"];
  if (typeof revision !== "string" || typeof method !== "string") return {};
  const name = params?.name ?? params?.uri;
  return {
    "mcp-protocol-version": revision,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": name }),
  };
}

/** A problem says in `detail` what to do. */
function wordsOf(type: string, text: string, status: number): string {
  if (!type.startsWith("application/problem+json")) return `The service answered with ${status}.`;
  const { title, detail } = JSON.parse(text) as { title: string; detail: string };
  return `${title}. ${detail}`;
}

/** An error of JSON-RPC for each message that waits for an answer. */
const failure = (message: Message | unknown[], words: string): string[] =>
  idsOf(message).map((id) =>
    JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_000, message: maskKeys(words) } }),
  );

/** A batch is always answered; `null` is the id of an error that belongs to no message (JSON-RPC 2.0 §5). */
function idsOf(message: Message | unknown[]): readonly unknown[] {
  if (!Array.isArray(message)) return message.id === undefined ? [] : [message.id];
  const ids = message.map((one) => (one as Message | null)?.id).filter((id) => id !== undefined);
  return ids.length > 0 ? ids : [null];
}

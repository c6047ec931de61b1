/** A mail server (RFC 5321) that keeps the mail it receives and refuses the commands a test wants refused. */
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { eventually } from "./eventually.ts";
import { listenFor } from "./ports.ts";

export interface ReceivedMail {
  from: string;
  to: string;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  text: string;
}

/** Replies to commands that begin with the key, instead of taking them; null sends no reply. */
type Refusals = Map<string, string | null>;

export async function startMailServer(t: TestContext) {
  const messages: ReceivedMail[] = [];
  const refusals: Refusals = new Map();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    mail.connections += 1;
    sockets.add(socket.on("error", () => {}));
    const take = (message: ReceivedMail) => void messages.push(message);
    // A client that disconnects midway has sent nothing.
    converse(socket, refusals, take).catch(() => {});
  });
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  const port = await listenFor(t, server);
  const mail = {
    /** For `SMTP_URL`. */
    url: `smtp://127.0.0.1:${port}`,
    messages,
    refusals,
    /** How many connections there were. */
    connections: 0,
    /** Resolves with the first message to an address. */
    async messageTo(address: string): Promise<ReceivedMail> {
      const find = () => messages.find(({ to }) => to === address) ?? assert.fail(address);
      return (await eventually(find)).result;
    },
    /** Resolves with the path of the link in that message. */
    async linkTo(address: string): Promise<string> {
      const { text } = await mail.messageTo(address);
      return /(\/account\/link\?token=\S+)/.exec(text)?.[1] ?? assert.fail(text);
    },
  };
  return mail;
}

async function converse(
  socket: Socket,
  refusals: Refusals,
  take: (message: ReceivedMail) => void,
): Promise<void> {
  const say = (line: string) => socket.write(`${line}\r\n`);
  say("220 mail.test ready");
  let from = "";
  let to = "";
  let message: string[] | null = null;
  for await (const line of createInterface({ input: socket })) {
    if (message !== null && line !== ".") {
      message.push(line.replace(/^\./, ""));
      continue;
    }
    if (message !== null) {
      take({ from, to, ...read(message) });
      message = null;
      say("250 taken");
      continue;
    }
    const [refused, words = ""] = [...refusals].find(([command]) => line.startsWith(command)) ?? [];
    if (refused !== undefined) {
      if (words !== null) say(words);
      continue;
    }
    const address = /<(.*)>/.exec(line)?.[1] ?? "";
    if (line.startsWith("MAIL")) from = address;
    if (line.startsWith("RCPT")) to = address;
    if (line === "DATA") message = [];
    say(line === "DATA" ? "354 go on" : line === "QUIT" ? "221 bye" : "250 mail.test");
  }
}

function read(lines: readonly string[]): Pick<ReceivedMail, "headers" | "text"> {
  const end = lines.indexOf("");
  const unfolded = lines
    .slice(0, end)
    .join("\n")
    .replaceAll(/\n[ \t]+/g, " ");
  const headers = unfolded.split("\n").map((line) => {
    const [, name = "", value = ""] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
    return [name.toLowerCase(), value] as const;
  });
  return { headers: Object.fromEntries(headers), text: decoded(lines.slice(end + 1).join("\n")) };
}

/** Quoted-printable (RFC 2045 §6.7). */
const decoded = (text: string): string =>
  Buffer.from(
    text
      .replaceAll("=\n", "")
      .replaceAll(/=([\dA-F]{2})/g, (_, digits: string) =>
        String.fromCharCode(Number.parseInt(digits, 16)),
      ),
    "latin1",
  ).toString("utf8");

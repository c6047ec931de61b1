/** A mail server (RFC 5321) that keeps the mail it receives and refuses the commands a test wants refused. */
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

export interface ReceivedMail {
  from: string;
  to: string;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  text: string;
}

export interface MailServer {
  /** For `SMTP_URL`. */
  url: string;
  messages: ReceivedMail[];
  /** Replies to commands that begin with the key, instead of taking them; null sends no reply. */
  refusals: Map<string, string | null>;
  /** How many connections there were. */
  connections: number;
  /** Resolves with the first message to an address. */
  messageTo(address: string): Promise<ReceivedMail>;
}

export async function startMailServer(t: TestContext): Promise<MailServer> {
  const arrivals: (() => void)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    mail.connections += 1;
    sockets.add(socket.on("error", () => {}));
    const take = (message: ReceivedMail) => {
      mail.messages.push(message);
      for (const look of arrivals) look();
    };
    // A client that disconnects midway has sent nothing.
    converse(socket, mail, take).catch(() => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const mail: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    messages: [],
    refusals: new Map(),
    connections: 0,
    messageTo: (address) =>
      new Promise((resolve) => {
        const look = () => {
          const found = mail.messages.find(({ to }) => to === address);
          if (found !== undefined) resolve(found);
        };
        arrivals.push(look);
        look();
      }),
  };
  return mail;
}

async function converse(
  socket: Socket,
  { refusals }: MailServer,
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

/** Sends bytes as they are and reads all that comes back: for what no HTTP client would send. */
import { connect } from "node:net";

export interface RawAnswer {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: string;
  /** Everything that came, for counting answers. */
  text: string;
}

/** Resolves when the server has closed the connection. */
export function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.end(bytes));
    const parts: Buffer[] = [];
    socket.on("data", (part: Buffer) => parts.push(part));
    socket.on("error", reject);
    socket.on("close", () => resolve(parse(Buffer.concat(parts).toString("latin1"))));
  });
}

function parse(text: string): RawAnswer {
  const [head, body] = splitOnce(text, "\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((one) => splitOnce(one, ": ")).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { status: Number(line.split(" ")[1]), headers, body, text };
}

function splitOnce(text: string, at: string): [string, string] {
  const place = text.indexOf(at);
  return place === -1 ? [text, ""] : [text.slice(0, place), text.slice(place + at.length)];
}

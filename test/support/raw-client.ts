/** Asks a service over a socket of its own, with exactly the lines that are given: no client in between mends anything. */
import { connect } from "node:net";
import { assertDescribed } from "./described.ts";

export interface RequestParts {
  method?: string;
  version?: string;
  /** For `x-api-key`; without it there is no such line. */
  key?: string | undefined;
  /** Whole lines. */
  headers?: readonly string[];
  body?: string;
}

export interface RawJsonAnswer extends RawAnswer {
  /** The body read as JSON; undefined where it is none. */
  json: any;
}

export function requestText(target: string, parts: RequestParts = {}): string {
  const { method = "GET", version = "1.1", key, headers = [], body = "" } = parts;
  const keyLine = key === undefined ? [] : [`x-api-key: ${key}`];
  const lines = [`${method} ${target} HTTP/${version}`, "Host: localhost", ...keyLine, ...headers];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

export const ask = (port: number, target: string, parts?: RequestParts): Promise<RawJsonAnswer> =>
  askBytes(port, requestText(target, parts));

/** @param bytes text is sent as Latin-1, one byte a character. */
export async function askBytes(port: number, bytes: string | Buffer): Promise<RawJsonAnswer> {
  const sent = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;
  const answer = await sendRaw(port, sent);
  const { "content-length": length = "0", "content-type": type = "" } = answer.headers;
  // Behind it may stand the answer to another request.
  const body = answer.body.slice(0, Number(length));
  const isJson = /[/+]json\b/.test(type) && body.startsWith("{");
  const json: unknown = isJson ? JSON.parse(utf8Of(body)) : undefined;
  assertDescribed({ ...answer, headers: Object.entries(answer.headers), json });
  return { ...answer, body, json };
}

const utf8Of = (body: string) => Buffer.from(body, "latin1").toString("utf8");

/** The statuses of all answers that came on one connection, in their order. */
export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

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

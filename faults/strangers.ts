/** A process of strangers: connections that send something in one of these ways, and read nothing of what they get. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface Way {
  name: string;
  /** What each connection sends in one write. */
  text: string;
  /** What it adds every half second, so that its request never ends. */
  drip?: string;
  /** Ends its side at once. */
  isHalfClosed?: boolean;
}

export interface Attack {
  port: number;
  /** To a proxy, which speaks TLS. */
  isBehindProxy: boolean;
  connections: number;
  way: Way;
}

const request = (target: string, ...lines: string[]) =>
  `${[`GET ${target} HTTP/1.1`, "host: localhost", ...lines].join("\r\n")}\r\n\r\n`;
const form = ["sec-fetch-site: same-origin", "content-type: application/x-www-form-urlencoded"];
const message = ["content-type: application/json"];
const post = (target: string, body: string, lines: string[], length = body.length) =>
  `${[`POST ${target} HTTP/1.1`, "host: localhost", ...lines, `content-length: ${length}`].join("\r\n")}\r\n\r\n${body}`;
const chunked = (target: string, lines: string[], body: string) =>
  `${[`POST ${target} HTTP/1.1`, "host: localhost", ...lines, "transfer-encoding: chunked"].join("\r\n")}\r\n\r\n${body}`;

const signIn = (password: string) => `email=a%40example.org&password=${password}`;
const pages = ["/docs", "/docs/fetch-gp", "/errors", "/changelog", "/llms.txt", "/changes.atom"];
const many = 2400;
const large = 60_000;
const padded = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "ping",
  params: { x: "x".repeat(large) },
});
/** With what every request has, as many lines as are accepted. */
const manyLines = Array.from({ length: 46 }, (_, i) => `x${i}:y`);
const shortLines = Array.from({ length: 2200 }, (_, i) => `x${i % 90}:y${i % 70}`).join("\r\n");

/** None of them has a key. */
export const ways: readonly Way[] = [
  {
    name: "documents sent ahead",
    text: request("/openapi.json").repeat(20) + request("/").repeat(many),
  },
  {
    name: "documents with 48 lines sent ahead",
    text:
      request("/openapi.json", ...manyLines).repeat(20) +
      request("/", ...manyLines).repeat(many / 4),
  },
  { name: "HEAD sent ahead", text: request("/openapi.json").replace("GET", "HEAD").repeat(many) },
  { name: "wrong keys sent ahead", text: request("/fetch-gp", "x-api-key: gpr_no").repeat(many) },
  { name: "Expect sent ahead", text: request("/docs", "expect: 100-continue").repeat(many) },
  { name: "requests without Host", text: "GET / HTTP/1.1\r\n\r\n".repeat(many) },
  { name: "no HTTP", text: "\r\nno request\r\n".repeat(many) },
  {
    name: "TLS hello",
    text: "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003".repeat(many),
  },
  {
    name: "CONNECT behind a document",
    text:
      request("/openapi.json") +
      "CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n" +
      request("/").repeat(many),
  },
  { name: "large document", text: request("/openapi.json") },
  { name: "large document, half-closed", text: request("/openapi.json"), isHalfClosed: true },
  {
    name: "compressed documents sent ahead",
    text: [
      request("/openapi.json", "accept-encoding: br"),
      request("/docs", "accept-encoding: gzip"),
    ]
      .join("")
      .repeat(many / 2),
  },
  {
    name: "pages sent ahead",
    text: pages
      .map((path) => request(path))
      .join("")
      .repeat(many / pages.length),
  },
  { name: "account pages sent ahead", text: request("/account/sign-in").repeat(many) },
  {
    name: "head never ended",
    text: request("/docs", `x: ${"x".repeat(15_000)}`).slice(0, -4),
    drip: "x",
  },
  {
    name: "short lines never ended",
    text: request("/docs", shortLines).slice(0, -2),
    drip: "a:\r\n",
  },
  { name: "document with short lines", text: request("/openapi.json", shortLines) },
  {
    name: "GET with a body",
    text: request("/openapi.json", "content-length: 65536") + "x".repeat(large),
    drip: "x",
  },
  {
    name: "GET with bodies sent ahead",
    text: (request("/openapi.json", "content-length: 3000") + "x".repeat(3000)).repeat(20),
  },
  {
    name: "sign-in never ended",
    text: post("/account/sign-in", "x".repeat(large), form, large + 5000),
    drip: "x",
  },
  {
    name: "large sign-ups",
    text: post("/account/sign-up", signIn("x".repeat(large)), form).repeat(16),
  },
  {
    name: "large sign-ins",
    text: post("/account/sign-in", signIn("x".repeat(large)), form).repeat(16),
  },
  {
    name: "sign-ins",
    text: post("/account/sign-in", signIn("wrong-password"), form).repeat(200),
  },
  { name: "message never ended", text: post("/mcp", padded, message, large + 5000), drip: "x" },
  { name: "large messages", text: post("/mcp", padded, message).repeat(16) },
  {
    name: "chunks of one byte",
    text: chunked("/mcp", message, "1\r\nx\r\n".repeat(large / 6)),
    drip: "1\r\nx\r\n",
  },
  {
    name: "GET with chunks of one byte",
    text: chunked("/openapi.json", [], "1\r\nx\r\n".repeat(large / 6)).replace("POST", "GET"),
    drip: "1\r\nx\r\n".repeat(1000),
  },
  {
    name: "POST nowhere with chunks of one byte",
    text: chunked("/nowhere", [], "1\r\nx\r\n".repeat(large / 6)),
    drip: "1\r\nx\r\n".repeat(1000),
  },
  {
    name: "GET with chunks of one byte sent ahead",
    text:
      request("/openapi.json") +
      chunked("/openapi.json", [], "1\r\nx\r\n".repeat(large / 6)).replace("POST", "GET"),
    drip: "1\r\nx\r\n".repeat(1000),
  },
  {
    name: "chunks with extensions",
    text: chunked("/mcp", message, `1;${"x".repeat(15_000)}\r\nx\r\n`.repeat(4)),
    drip: "1;x\r\nx\r\n",
  },
  { name: "trailers", text: chunked("/mcp", message, `0\r\n${shortLines}\r\n`), drip: "a:\r\n" },
];

interface WarmingRequest {
  path: string;
  method?: "POST";
  headers?: Record<string, string>;
  body?: string;
}

const largePosts: readonly WarmingRequest[] = [
  { path: "/account/sign-in", headers: headersOf(form), body: signIn("x".repeat(large)) },
  { path: "/account/sign-up", headers: headersOf(form), body: signIn("x".repeat(large)) },
  { path: "/mcp", headers: headersOf(message), body: padded },
];

/** Loads and compiles whatever the ways ask for; every second request has a large body. */
export const requestsToWarmUp: readonly WarmingRequest[] = [
  ...pages,
  "/openapi.json",
  "/nowhere",
  "/account/sign-in",
].flatMap((path, i) => [{ path }, { ...largePosts[i % largePosts.length]!, method: "POST" }]);

function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map((line) => line.split(": ")));
}

function open({ port, isBehindProxy, way }: Attack): Socket {
  const { text, drip, isHalfClosed } = way;
  const where = { host: "127.0.0.1", port, allowHalfOpen: true };
  const socket = isBehindProxy
    ? connectTls({ ...where, servername: "localhost", rejectUnauthorized: false })
    : connect(where);
  socket.on("error", () => {}).pause();
  socket.once(isBehindProxy ? "secureConnect" : "connect", () => {
    if (text !== "") socket.write(Buffer.from(text, "latin1"));
    if (isHalfClosed) socket.end();
    const dripping = drip === undefined ? undefined : setInterval(() => socket.write(drip), 500);
    socket.once("close", () => clearInterval(dripping));
  });
  return socket;
}

function attack(order: Attack): void {
  for (let i = 0; i < order.connections; i++) open(order);
}

if (import.meta.main) process.once("message", (order: Attack) => attack(order));

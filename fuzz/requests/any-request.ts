/** Draws one request: mostly what clients send, now and then what they should not. */
import { METHODS } from "node:http";
import fc, { type Arbitrary } from "fast-check";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import { sometimes, weighted } from "../arbitraries.ts";
import { anyHeaders } from "./any-headers.ts";
import { anyMessage } from "./any-message.ts";
import { anyQuery, escapeOf, unreadable } from "./any-query.ts";
import { contentTypes, hosts } from "./header-values.ts";
import { formPath, operationPaths } from "./promised.ts";
import type { FuzzRequest, Header } from "./request.ts";

/** Public documents that have been there from the first version on. */
export const publicPaths = [
  "/",
  "/docs",
  "/errors",
  "/errors/invalid-parameters",
  "/errors/quota-exceeded",
  "/changelog",
  "/privacy",
  "/openapi.json",
  "/health",
  "/ready",
] as const;

const nowhere = [
  "/v2/fetch-gp",
  "/v9/fetch-gp",
  "/fetch-gps",
  "/list-gp",
  "/fetch-g",
  "/FETCH-GP",
  "/fetch-gp/",
  "//fetch-gp",
  "/v1//fetch-gp",
  "/v1/../fetch-gp",
  "/%2e%2e/fetch-gp",
  "/v1%2Ffetch-gp",
  "/fetch-gp;x=1",
  "/fetch-gp%00",
  "/fetch-gp%20",
  "/v1/mcp",
  "/mcp/",
  "/mcp/messages",
  "/metrics",
  "/explain/",
  "/explain/gp_0000000000000000",
  "/explain/%00%2F..%2f__proto__",
  "/favicon.ico",
  "/.env",
  "/../../../../etc/passwd",
  "/assets/../../package.json",
  "/assets/%2e%2e%2fpackage.json",
  "/assets/",
  "/assets/style.css",
  "/assets/style.0123456789abcdef.css",
  "/errors/nothing-of-the-kind",
  "/errors/__proto__",
  "/constructor",
  "/__proto__",
  "/\xe9",
  "/{{valid-a}}",
  `/${"x".repeat(101)}`,
  `/errors/${"x".repeat(5000)}`,
];

const respelt: Arbitrary<(path: string) => string> = sometimes(
  5,
  // Percent-encoded where it need not be: the same path (RFC 3986 §6.2.2.2).
  fc.tuple(fc.constantFrom(/[a-z]/, /-/, /[a-f]/g, /[a-z-]/g), fc.boolean()).map(
    ([letters, isLowerCase]) =>
      (path: string) =>
        path.replace(letters, (one) => escapeOf(one.charCodeAt(0), isLowerCase)),
  ),
  (path) => path,
);

function anyTarget(questions: readonly ReferenceQuery[]): Arbitrary<string> {
  const operation = fc.oneof(
    ...operationPaths.map((path) =>
      fc
        .tuple(respelt, anyQuery(path, questions), sometimes(20, fc.constant("?"), ""))
        .map(([spell, query, mark]) => spell(path) + (query === "" ? mark : `?${query}`)),
    ),
  );
  const joined = (...parts: readonly (readonly string[])[]) =>
    fc.tuple(...parts.map((part) => fc.constantFrom(...part))).map((texts) => texts.join(""));
  // White space would end the target.
  const origins = ["evil.example", "", ...hosts.filter((host) => !/\s/.test(host))];
  return weighted(
    [120, operation],
    [24, operation.map((target) => `/v1${target}`)],
    [10, joined(publicPaths, ["", "", "?x=1", "?"])],
    [6, joined(nowhere, ["", "?gp_name=stone"])],
    [2, joined(["/fetch-gp", "/x", "/"], unreadable)],
    [
      3,
      fc
        .tuple(fc.constantFrom(...origins), operation)
        .map(([host, target]) => `http://${host}${target}`),
    ],
    [
      1,
      fc
        .constantFrom(8200, 9000, 12_000)
        .map((length) => `/fetch-gp?gp_name=${"x".repeat(length)}`),
    ],
    [
      1,
      fc.constantFrom("*", "http://evil.example", "HTTP://x:80/health?a#b", "/fetch-gp#x?limit=1"),
    ],
  );
}

const methods = weighted(
  [170, fc.constant("GET")],
  [14, fc.constant("HEAD")],
  [6, fc.constant("OPTIONS")],
  [8, fc.constantFrom(...METHODS)],
  [1, fc.constantFrom("FOO", "get", "G", "GETX", "PRI")],
);

const versions = weighted(
  [96, fc.constant("HTTP/1.1")],
  [2, fc.constant("HTTP/1.0")],
  [1, fc.constantFrom("HTTP/0.9", "HTTP/2.0", "HTTP/1.2", "http/1.1", "HTTP/1.1 ")],
);

interface Framed {
  framing: Header[];
  body: string;
}

const framed = (body: string): Framed => ({
  framing: [["content-length", ` ${body.length}`]],
  body,
});
const inner = "GET /fetch-gp?gp_name=smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
const chunked: Header = ["transfer-encoding", " chunked"];

/** Bodies nobody asked for, with their framing. */
const bodies: Arbitrary<Framed> = fc.constantFrom(
  framed("x"),
  framed(inner),
  framed("x".repeat(60_000)),
  framed("x".repeat(70_000)),
  {
    framing: [chunked],
    body: `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
  },
  { framing: [chunked], body: "1;a=b\r\nx\r\n0\r\ntrailer: y\r\n\r\n" },
  { framing: [chunked], body: "0\r\n\r\n" },
  { framing: [["transfer-encoding", " gzip"]], body: "" },
  {
    framing: [
      ["content-length", " 3"],
      ["content-length", " 4"],
    ],
    body: "abcd",
  },
  { framing: [["content-length", " 3"], chunked], body: "0\r\n\r\n" },
);

/** None of them comes from a page of the account: whatever it holds, it changes nothing. */
const anyForm: Arbitrary<FuzzRequest> = fc
  .tuple(anyHeaders, sometimes(90, fc.constantFrom(...contentTypes), null))
  .map(([headers, type]) => {
    const { framing, body } = framed("email=ada%40example.org&password=x");
    const others = headers.filter(([name]) => !/^content-type$/i.test(name));
    const typed: Header[] = type === null ? [] : [["content-type", ` ${type}`]];
    return {
      method: "POST",
      target: formPath,
      version: "HTTP/1.1",
      headers: [...others, ...typed, ...framing],
      body,
    };
  });

export function anyRequest(questions: readonly ReferenceQuery[]): Arbitrary<FuzzRequest> {
  const read = fc
    .record({
      method: methods,
      target: anyTarget(questions),
      version: versions,
      headers: anyHeaders,
      content: sometimes(2, bodies, { framing: [], body: "" }),
    })
    .map(({ headers, content: { framing, body }, ...line }) => ({
      ...line,
      headers: [...headers, ...framing],
      body,
    }));
  return weighted([96, read], [3, anyMessage], [1, anyForm]);
}

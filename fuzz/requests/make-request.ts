/** One request of the grammar: mostly what clients send, now and then what they should not. */
import { METHODS } from "node:http";
import { chance, pick, weighted, type Random } from "#demo/random.ts";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import { contentTypes } from "./header-values.ts";
import { makeHeaders } from "./make-headers.ts";
import { makeMessage } from "./make-message.ts";
import { makeTarget } from "./make-target.ts";
import { formPath } from "./promised.ts";
import type { FuzzRequest, Header } from "./request.ts";

const methods = weighted<(random: Random) => string>([
  [() => "GET", 85],
  [() => "HEAD", 7],
  [() => "OPTIONS", 3],
  [(random) => pick(random, METHODS), 4],
  [(random) => pick(random, ["FOO", "get", "G", "GETX", "PRI"]), 0.5],
]);

const versions = weighted([
  ["HTTP/1.1", 96],
  ["HTTP/1.0", 2],
  ["HTTP/0.9", 0.3],
  ["HTTP/2.0", 0.3],
  ["HTTP/1.2", 0.3],
  ["http/1.1", 0.3],
  ["HTTP/1.1 ", 0.2],
]);

const inner = "GET /fetch-gp?gp_name=smuggled HTTP/1.1\r\nHost: x\r\n\r\n";

/** Bodies nobody asked for, with their framing. */
const bodies = weighted<() => { headers: Header[]; body: string }>([
  [() => framed("x"), 3],
  [() => framed(inner), 3],
  [() => framed("x".repeat(60_000)), 1],
  [() => framed("x".repeat(70_000)), 1],
  [() => chunked(`${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`), 3],
  [() => chunked(`1;a=b\r\nx\r\n0\r\ntrailer: y\r\n\r\n`), 1],
  [() => chunked("0\r\n\r\n"), 1],
  [() => ({ headers: [["transfer-encoding", " gzip"]], body: "" }), 1],
  [
    () => ({
      headers: [
        ["content-length", " 3"],
        ["content-length", " 4"],
      ],
      body: "abcd",
    }),
    1,
  ],
  [
    () => ({
      headers: [
        ["content-length", " 3"],
        ["transfer-encoding", " chunked"],
      ],
      body: "0\r\n\r\n",
    }),
    1,
  ],
]);

const framed = (body: string) => ({
  headers: [["content-length", ` ${body.length}`]] as Header[],
  body,
});
const chunked = (body: string) => ({
  headers: [["transfer-encoding", " chunked"]] as Header[],
  body,
});

/** None of them comes from a page of the account: whatever it holds, it changes nothing. */
function makeForm(random: Random): FuzzRequest {
  const { headers: framing, body } = framed("email=ada%40example.org&password=x");
  const type: Header = ["content-type", ` ${pick(random, contentTypes)}`];
  const headers = makeHeaders(random).filter(([name]) => !/^content-type$/i.test(name));
  return {
    method: "POST",
    target: formPath,
    version: "HTTP/1.1",
    headers: [...headers, ...(chance(random, 0.9) ? [type] : []), ...framing],
    body,
  };
}

export function makeRequest(random: Random, questions: readonly ReferenceQuery[]): FuzzRequest {
  if (chance(random, 0.01)) return makeForm(random);
  if (chance(random, 0.03)) return makeMessage(random);
  const method = methods(random)(random);
  const target = makeTarget(random, questions);
  const version = versions(random);
  const headers = makeHeaders(random);
  const { headers: framing, body } = chance(random, 0.02)
    ? bodies(random)()
    : { headers: [], body: "" };
  return { method, target, version, headers: [...headers, ...framing], body };
}

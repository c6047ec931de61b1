/** Holds answers to openapi.json: whatever is sent stands there, every header and every member, of the type it is said to be. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Compile } from "typebox/compile";

interface DescribedResponse {
  headers?: Readonly<Record<string, unknown>>;
  content?: Readonly<Record<string, { schema: object }>>;
}

interface Description {
  paths: Readonly<Record<string, { get: { responses: Readonly<Record<number, object>> } }>>;
  components: { responses: Readonly<Record<string, object>> };
}

const described = JSON.parse(readFileSync("openapi.json", "utf8")) as Description;

/** What frames or carries the content; OpenAPI describes none of it (OAS 3.1 §4.8.17, RFC 9110, RFC 9112). */
const framing = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

interface SentAnswer {
  status: number;
  /** Lower-case names and values. */
  headers: Iterable<readonly [string, string]>;
  /** The content; undefined where there is none, or where it is no JSON. */
  json: unknown;
  /** What was asked for; needed only where the headers do not tell. */
  path?: string;
}

/** An answer that was read whole and is as openapi.json says. */
export interface ReadAnswer<Body = any> {
  status: number;
  headers: Headers;
  text: string;
  /** The body read as JSON; undefined where there is none. */
  body: Body;
}

/** Reads an answer to its end and holds it to openapi.json. @param path as of `SentAnswer`. */
export async function readAnswer(response: Response, path?: string): Promise<ReadAnswer> {
  const text = await response.text();
  const isJson = /[/+]json/.test(response.headers.get("content-type") ?? "") && text !== "";
  const body: unknown = isJson ? JSON.parse(text) : undefined;
  const { status, headers } = response;
  assertDescribed({ status, headers, json: body, ...(path !== undefined && { path }) });
  return { status, headers, text, body };
}

/** Errors, and answers of the operations; pages, documents and preflights are in no description. */
export function assertDescribed({ status, headers, json, path = "" }: SentAnswer): void {
  const sent = new Map(headers);
  const type = sent.get("content-type") ?? "";
  const place = type.startsWith("application/problem+json")
    ? `Problem${status}`
    : sent.has("dataset-version")
      ? readOf(path, sent)
      : undefined;
  if (place === undefined) return;
  const { names, types, faultsIn } = responseAt(place, status);
  const undescribed = [...sent.keys()].filter((name) => !names.has(name) && !framing.has(name));
  assert.deepEqual(undescribed, [], `headers of ${status} that openapi.json does not describe`);
  if (type !== "") assert.ok(types.has(mediaTypeOf(type)), `openapi.json describes no ${type}`);
  if (json !== undefined)
    assert.deepEqual(
      faultsIn(json),
      [],
      `content of ${status} that openapi.json does not describe`,
    );
}

/** Pages name their operation in `Link`; a vocabulary is no page, and a 304 is the same of all. */
function readOf(path: string, sent: ReadonlyMap<string, string>): string {
  if (path.startsWith("/exports/")) return "exports/{version}/{file}";
  if (path.startsWith("/exports")) return "exports";
  if (/^(?:\/v1)?\/changes\//.test(path)) return "changes/{from}..{to}.ndjson";
  if (/^(?:\/v1)?\/explain\//.test(path)) return "explain/{id}";
  const [, operation] =
    /<[^>]*\/((?:fetch|list)-[a-z]+|changes)\?/.exec(sent.get("link") ?? "") ?? [];
  return operation ?? (sent.has("link") ? "vocabulary" : "fetch-gp");
}

const mediaTypeOf = (contentType: string) => contentType.split(";")[0]!;

interface Reader {
  names: ReadonlySet<string>;
  types: ReadonlySet<string>;
  faultsIn(json: unknown): readonly object[];
}

const readers = new Map<string, Reader>();

/** @param place an operation, or a response of `components`; made once, for the cases ask by the thousand. */
function responseAt(place: string, status: number): Reader {
  const key = `${place} ${status}`;
  let reader = readers.get(key);
  if (reader === undefined) {
    const found = place.startsWith("Problem")
      ? described.components.responses[place]
      : described.paths[`/${place}`]?.get.responses[status];
    assert.ok(found !== undefined, `openapi.json describes no ${status} at ${place}`);
    readers.set(key, (reader = readerOf(found as DescribedResponse)));
  }
  return reader;
}

function readerOf({ headers = {}, content = {} }: DescribedResponse): Reader {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const types = new Set(Object.keys(content));
  const json = Object.entries(content).find(([type]) => /[/+]json$/.test(type));
  if (json === undefined) return { names, types, faultsIn: () => [{ message: "no content" }] };
  const [, { schema }] = json;
  const validator = Compile(closed(schema) as { type: "object" });
  return {
    names,
    types,
    faultsIn: (value) => (validator.Check(value) ? [] : validator.Errors(value)),
  };
}

/**
 * The schema with its references followed, and nothing beside the members it names.
 * @param isPart the whole has members of other parts too.
 */
function closed(schema: object, isPart = false): object {
  const { $ref } = schema as { $ref?: string };
  if ($ref !== undefined) return closed(follow($ref), isPart);
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    inside(value, key === "allOf"),
  ]);
  return {
    ...Object.fromEntries(entries),
    ...("properties" in schema && !isPart && { unevaluatedProperties: false }),
  };
}

function inside(value: unknown, isPart: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => inside(one, isPart));
  return typeof value === "object" && value !== null ? closed(value, isPart) : value;
}

const follow = (ref: string): object =>
  ref
    .slice(2)
    .split("/")
    .reduce((at: any, key) => at[key], described);

/** One question to the service: sent, waited for and asked again where that is worth it. */
import { NetworkError, ProblemError, UnexpectedAnswerError } from "./errors.ts";
import type { Problem, QuotaPolicy } from "./types.ts";

export interface ClientOptions {
  /** Where the service is, such as `https://records.example.org`; a path is kept. */
  baseUrl: string;
  /** Your API key. It is sent in the header `x-api-key` to `baseUrl` alone: redirects are refused. */
  key: string;
  /** Longest wait for `Retry-After`, in seconds; where the service says more, its problem is thrown at once. 300 by default. */
  waitMaxSeconds?: number;
  /** How often one question is asked again after a 429, a 503 or a network error. 5 by default; 0 never. */
  retriesMax?: number;
  /** How long one try may take, its body included; of a file, how long nothing may come. 30 by default. */
  timeoutSeconds?: number;
  /** Keeps answers with their ETags, so that unchanged ones are not sent again. A `Map` will do. None by default. */
  cache?: AnswerCache;
  /** Told before each wait. */
  onWait?: (wait: Wait) => void;
  /** In place of the platform's own. */
  fetch?: (url: string, options: RequestInit) => Promise<Response>;
  /** In place of a timer: resolves after so many milliseconds, or rejects with the signal's reason. */
  sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface AnswerCache {
  get(address: string): CachedAnswer | undefined | Promise<CachedAnswer | undefined>;
  set(address: string, answer: CachedAnswer): unknown;
}

export interface CachedAnswer {
  etag: string;
  /** The body as it was sent. */
  body: string;
}

export interface Wait {
  seconds: number;
  /** What is waited for: the answer with its code, or the connection. */
  error: ProblemError | NetworkError | UnexpectedAnswerError;
  /** Number of the try that failed, from 1. */
  attempt: number;
}

export interface RequestOptions {
  /** Ends the request, or the wait before the next try, with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** What comes with an answer beside its body. */
export interface Received {
  requestId: string;
  /** What the account has left, window by window. */
  quota: QuotaPolicy[];
}

/** Values as they are sent; undefined is left out, several are repeated. */
type QueryValue = string | number | readonly string[] | undefined;

/** All throw a ProblemError, NetworkError or UnexpectedAnswerError, or the signal's reason where it was aborted. */
export interface Transport {
  getJson(path: string, query: object, options?: RequestOptions): Promise<object & Received>;
  /** The values of an answer in NDJSON. */
  getLines(path: string, query: object, options?: RequestOptions): Promise<Listed>;
  /** An answer in JSON that is no page; all of it is in `data`. */
  getList(path: string, options?: RequestOptions): Promise<Listed>;
  /** The bytes of a file as they come. A connection that is lost goes on where it was; the file must still be the same one. */
  getFile(path: string, options?: RequestOptions): AsyncGenerator<Uint8Array, void, undefined>;
}

interface Listed extends Received {
  data: object[];
}

interface Answer extends Received {
  content: object;
}

/** What a try that failed came to; `waitSeconds` is null where another would not help. */
interface Failure {
  error: Wait["error"];
  waitSeconds: number | null;
}

/** How an answer is asked for and read: undefined where it is something else. */
interface Reader {
  accept: string;
  read(body: string): object | undefined;
}

const json: Reader = {
  accept: "application/json",
  read(body) {
    const page = parseObject(body) as { data?: unknown; pagination?: unknown; meta?: unknown };
    return Array.isArray(page?.data) && isObject(page.pagination) && isObject(page.meta)
      ? page
      : undefined;
  },
};
const list: Reader = {
  accept: "application/json",
  read(body) {
    const answer = parseObject(body) as { data?: unknown } | undefined;
    return Array.isArray(answer?.data) ? answer : undefined;
  },
};
const lines: Reader = {
  accept: "application/x-ndjson",
  read(body) {
    const values = body
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map(parseObject);
    return values.includes(undefined) ? undefined : values;
  },
};

/** @throws TypeError for an address or a key that cannot be sent; it never shows the key. */
export function openTransport(options: ClientOptions): Transport {
  const {
    waitMaxSeconds = 300,
    retriesMax = 5,
    timeoutSeconds = 30,
    cache,
    onWait,
    fetch = globalThis.fetch,
    sleep = sleepFor,
  } = options;
  const base = baseOf(options.baseUrl);
  // What fetch says of a header it cannot send would show the key.
  if (!/^[\x21-\x7e]+$/.test(options.key))
    throw new TypeError("The key is empty or holds a character that no header can carry.");
  const { key } = options;

  async function attemptOnce(
    address: string,
    { accept, read }: Reader,
    requestId: string,
    attempt: number,
    signal: AbortSignal | undefined,
  ): Promise<Answer | Failure> {
    const kept = await cache?.get(address);
    const headers: Record<string, string> = {
      accept,
      "x-api-key": key,
      "x-request-id": requestId,
    };
    if (kept !== undefined) headers["if-none-match"] = kept.etag;
    const deadline = openDeadline(timeoutSeconds, signal);
    let response: Response;
    let body: string;
    try {
      response = await send(address, headers, deadline);
      body = await response.text();
    } catch (cause) {
      signal?.throwIfAborted();
      return failureOf(deadline.reasonOf(cause), cause, address, requestId, attempt);
    } finally {
      deadline.end();
    }
    const { status, headers: got } = response;
    const isKept = status === 304 && kept !== undefined;
    if (isKept || status === 200) {
      const content = read(isKept ? kept.body : body);
      const etag = got.get("etag");
      if (content !== undefined && !isKept && etag !== null)
        await cache?.set(address, { etag, body });
      if (content !== undefined)
        return {
          content,
          requestId: got.get("x-request-id") ?? requestId,
          quota: quotaOf(got),
        };
    }
    return refusalOf(response, body, address, requestId, attempt);
  }

  function send(address: string, headers: Record<string, string>, deadline: Deadline) {
    deadline.start();
    const { signal } = deadline;
    return fetch(address, { headers, redirect: "manual", credentials: "omit", signal });
  }

  /** @throws the error of the try that failed where another would not help. */
  async function waitAfter(
    { error, waitSeconds }: Failure,
    attempt: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (waitSeconds === null || attempt > retriesMax || waitSeconds > waitMaxSeconds) throw error;
    onWait?.({ seconds: waitSeconds, error, attempt });
    await sleep(waitSeconds * 1000, signal);
  }

  /** @throws what the last try came to. */
  async function get(
    path: string,
    query: object,
    reader: Reader,
    { signal }: RequestOptions = {},
  ): Promise<Answer> {
    const address = base + path + queryOf(query);
    const id = newRequestId();
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const outcome = await attemptOnce(address, reader, `${id}.${attempt}`, attempt, signal);
      if ("content" in outcome) return outcome;
      await waitAfter(outcome, attempt, signal);
    }
  }

  async function* getFile(path: string, { signal }: RequestOptions = {}) {
    const address = base + path;
    const id = newRequestId();
    let bytes = 0;
    let tag: string | null = null;
    // Each byte that is new is progress, after which the tries are counted anew.
    for (let attempt = 1, number = 1; ; attempt++, number++) {
      signal?.throwIfAborted();
      const requestId = `${id}.${number}`;
      const deadline = openDeadline(timeoutSeconds, signal);
      const headers: Record<string, string> = { "x-api-key": key, "x-request-id": requestId };
      if (bytes > 0) headers["range"] = `bytes=${bytes}-`;
      let failure: Failure;
      try {
        const response = await send(address, headers, deadline);
        const { status } = response;
        if (status === 200 || status === 206) {
          const etag = response.headers.get("etag");
          if (etag === null || etag !== (tag ?? etag))
            failure = anotherFile(address, response, requestId);
          else {
            tag = etag;
            // Who ignores ranges sends again what is known.
            let known = status === 200 ? bytes : 0;
            const reader = response.body!.getReader();
            for (;;) {
              const { done, value } = await reader.read();
              if (done) return;
              const fresh = value.subarray(Math.min(known, value.length));
              known -= value.length - fresh.length;
              if (fresh.length > 0) {
                bytes += fresh.length;
                attempt = 1;
                deadline.stop();
                yield fresh;
              }
              deadline.start();
            }
          }
        } else {
          failure = refusalOf(response, await response.text(), address, requestId, attempt);
          // The connection was lost after the last byte.
          if (status === 416 && (failure.error as ProblemError).problem?.["bytes"] === bytes)
            return;
        }
      } catch (cause) {
        signal?.throwIfAborted();
        failure = failureOf(deadline.reasonOf(cause), cause, address, requestId, attempt);
      } finally {
        deadline.end();
      }
      await waitAfter(failure, attempt, signal);
    }
  }

  return {
    async getJson(path, query, options) {
      const { content, requestId, quota } = await get(path, query, json, options);
      const { offset = 0 } = query as { offset?: number };
      const { pagination } = content as { pagination: { offset?: unknown } };
      // Whoever goes by next_offset would go on for ever where a cache leaves out the query.
      if (pagination.offset !== Number(offset))
        throw new UnexpectedAnswerError(
          `${base + path} answered offset=${offset} with another page: does a cache before it leave out the query?`,
          requestId,
          200,
        );
      return { ...content, requestId, quota };
    },
    async getLines(path, query, options) {
      const { content, ...received } = await get(path, query, lines, options);
      return { data: content as object[], ...received };
    },
    async getList(path, options) {
      const { content, ...received } = await get(path, {}, list, options);
      return { data: (content as Listed).data, ...received };
    },
    getFile,
  };
}

/** Ends a try that takes too long, or whose caller gives it up. */
interface Deadline {
  signal: AbortSignal;
  /** Counts the time from now on. */
  start(): void;
  stop(): void;
  /** Ends the try, if it still goes on. */
  end(): void;
  reasonOf(cause: unknown): string;
}

function openDeadline(seconds: number, signal: AbortSignal | undefined): Deadline {
  // AbortSignal.any is younger than the oldest Node and browsers this runs in.
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  return {
    signal: controller.signal,
    start() {
      stop();
      timer = setTimeout(() => {
        isLate = true;
        controller.abort();
      }, seconds * 1000);
    },
    stop,
    end() {
      stop();
      signal?.removeEventListener("abort", abort);
      controller.abort();
    },
    reasonOf: (cause) => (isLate ? `not within ${seconds} s` : reasonOf(cause)),
  };
}

function baseOf(baseUrl: string): string {
  const { protocol, username, password, origin, pathname, search, hash } = new URL(baseUrl);
  if (!/^https?:$/.test(protocol))
    throw new TypeError("baseUrl must begin with https:// or http://.");
  if (username + password + search + hash !== "")
    throw new TypeError("baseUrl must have no user, password, query or fragment.");
  return origin + pathname.replace(/\/+$/, "");
}

function queryOf(query: object): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Record<string, QueryValue>))
    for (const one of value === undefined ? [] : [value].flat()) pairs.append(name, String(one));
  const text = pairs.toString();
  return text === "" ? "" : `?${text}`;
}

/** No answer, or not the whole of one. */
function failureOf(
  reason: string,
  cause: unknown,
  address: string,
  requestId: string,
  attempt: number,
): Failure {
  const error = new NetworkError(`${address} gave no answer: ${reason}.`, requestId, { cause });
  return { error, waitSeconds: backoffSeconds(attempt) };
}

/** An answer with a file that is not the one whose beginning was read, or with none that has a tag. */
function anotherFile(address: string, response: Response, requestId: string): Failure {
  const { status, headers } = response;
  const message = headers.has("etag")
    ? `${address} became another file while it was read; begin again.`
    : unexpected(address, response);
  const id = headers.get("x-request-id") ?? requestId;
  return { error: new UnexpectedAnswerError(message, id, status), waitSeconds: null };
}

/** Of an answer that is not what was asked for. */
function refusalOf(
  response: Response,
  body: string,
  address: string,
  requestId: string,
  attempt: number,
): Failure {
  const { status, headers } = response;
  const ours = headers.get("x-request-id") ?? requestId;
  const problem = problemOf(response, body);
  if (problem !== undefined) {
    const error = new ProblemError(problem, ours);
    return { error, waitSeconds: waitFor(error, headers, attempt) };
  }
  // A proxy has limits of its own, and says so without a problem of ours.
  const isOfProxy = [429, 502, 503, 504].includes(status);
  return {
    error: new UnexpectedAnswerError(unexpected(address, response), ours, status),
    waitSeconds: isOfProxy ? (retryAfterSeconds(headers) ?? backoffSeconds(attempt)) : null,
  };
}

/** The innermost cause says most: "connect ECONNREFUSED …" rather than "fetch failed". */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.cause instanceof Error) return reasonOf(cause.cause);
  // Of a host with several addresses Node gives the code alone.
  return cause.message || (cause as { code?: string }).code || cause.name;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function parseObject(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function problemOf({ status, headers }: Response, body: string): Problem | undefined {
  const type = headers.get("content-type") ?? "";
  if (status < 400 || !type.startsWith("application/problem+json")) return undefined;
  const problem = parseObject(body) as Problem | undefined;
  return typeof problem?.code === "string" ? problem : undefined;
}

/** Seconds after which another try is worth it; null for a problem that would only come again. */
function waitFor(error: ProblemError, headers: Headers, attempt: number): number | null {
  const { problem } = error;
  const { code, retry_after: seconds, "violated-policies": violated } = problem;
  if (code !== "quota-exceeded" && code !== "unavailable") return null;
  // A valid key is never refused for this: the key is wrong, and would still be later.
  if (Array.isArray(violated) && violated.includes("failed-keys")) return null;
  const said = typeof seconds === "number" ? seconds : backoffSeconds(attempt);
  return retryAfterSeconds(headers) ?? said;
}

/** Seconds, or a date (RFC 9110 §10.2.3), as a proxy may write it; undefined where there is neither. */
function retryAfterSeconds(headers: Headers): number | undefined {
  const value = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(value)) return Number(value);
  const seconds = Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}

/** 0.5 s, 1 s, 2 s, … 30 s at most; a random part of it is left out, so that many clients do not come back as one. */
const backoffSeconds = (attempt: number) =>
  Math.min(30, 0.5 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);

function unexpected(address: string, { status, type, headers }: Response): string {
  const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
  if (isRedirect)
    return `${address} redirects elsewhere, where the key must not go: set baseUrl to where the service is.`;
  const contentType = headers.get("content-type") ?? "no content type";
  return `${address} answered ${status} with ${contentType}, which gp-records does not: is baseUrl where the service is?`;
}

/** `"minute";r=57;t=48`, with the numbers of the policy beside it. */
function quotaOf(headers: Headers): QuotaPolicy[] {
  const policies = headers.get("ratelimit-policy") ?? "";
  const left = headers.get("ratelimit") ?? "";
  const read = [...policies.matchAll(/"(\w+)";q=(\d+);w=(\d+)/g)];
  return read.map(([, name = "", quota, window]) => {
    const [, remaining = "0", reset = "0"] =
      new RegExp(`"${name}";r=(\\d+);t=(\\d+)`).exec(left) ?? [];
    return {
      name,
      quota: Number(quota),
      window: Number(window),
      remaining: Number(remaining),
      reset: Number(reset),
    };
  });
}

/** The service keeps it, so that a request without an answer has an id, too. */
function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return `client_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function sleepFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    };
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

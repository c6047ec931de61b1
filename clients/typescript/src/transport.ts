/** Sends a request to the service, and retries it if that can help. */
import { NetworkError, ProblemError, UnexpectedAnswerError } from "./errors.ts";
import type { Problem, QuotaPolicy } from "./types.ts";

export interface ClientOptions {
  /** Address of the service, such as `https://records.example.org`. A path is kept. */
  baseUrl: string;
  /** Your API key. It is sent in the header `x-api-key`, to `baseUrl` only: redirects are refused. */
  key: string;
  /** Longest wait for `Retry-After`, in seconds; 300 by default. An answer that asks for more is thrown as an error. */
  waitMaxSeconds?: number;
  /** Maximum number of retries after a 429, 502, 503, 504 or network error; 5 by default, 0 for none. */
  retriesMax?: number;
  /** Longest time to receive a whole answer, in seconds; 30 by default. For a file, longest time without new bytes. */
  timeoutSeconds?: number;
  /** Cache of answers with their ETags, so that unchanged ones are not sent again. A `Map` will do. None by default. */
  cache?: AnswerCache;
  /** Called before each wait. */
  onWait?: (wait: Wait) => void;
  /** Replaces the platform's `fetch`. */
  fetch?: (url: string, options: RequestInit) => Promise<Response>;
  /** Replaces the timer. Resolves after the milliseconds given, or rejects with the signal's reason. */
  sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface AnswerCache {
  get(address: string): CachedAnswer | undefined | Promise<CachedAnswer | undefined>;
  set(address: string, answer: CachedAnswer): unknown;
}

export interface CachedAnswer {
  etag: string;
  /** Body, decompressed and decoded. */
  body: string;
}

export interface Wait {
  seconds: number;
  /** Cause of the wait: an error answer, or no complete answer. */
  error: ProblemError | NetworkError | UnexpectedAnswerError;
  /** Number of the failed try, from 1. */
  attempt: number;
}

export interface RequestOptions {
  /** Ends the request, or the wait before the next try, with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Facts that come with every answer, besides its body. */
export interface Received {
  requestId: string;
  /** Quota left to the account, window by window. */
  quota: QuotaPolicy[];
}

/** Value of a parameter. Undefined and null are left out, but sent as empty in a list, which repeats the parameter. */
type QueryValue = string | number | boolean | readonly string[] | null | undefined;

/** Sender of requests. Each method throws a GpRecordsError, or the reason of an aborted signal. */
export interface Transport {
  getJson(path: string, query: object, options?: RequestOptions): Promise<object & Received>;
  /** Returns the values of an answer in NDJSON. */
  getLines(path: string, query: object, options?: RequestOptions): Promise<Listed>;
  /** Returns the `data` of a JSON answer that has no pages. */
  getData(path: string, options?: RequestOptions): Promise<object>;
  /** Yields the bytes of a file as they arrive. Resumes a lost connection at the next byte if the file is unchanged. */
  getFile(path: string, options?: RequestOptions): AsyncGenerator<Uint8Array, void, undefined>;
  /** Waits for the time that a request would wait after this failed try, counted from 1. */
  pause(attempt: number, options?: RequestOptions): Promise<void>;
}

interface Listed extends Received {
  data: object[];
}

interface ReadAnswer extends Received {
  content: object;
}

/** A failed try. `waitSeconds` is null if another try would not help. */
interface Failure {
  error: Wait["error"];
  waitSeconds: number | null;
}

/** Format of an answer. `read` returns undefined if the body is something else. */
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
const whole: Reader = {
  accept: "application/json",
  read(body) {
    const { data } = (parseObject(body) ?? {}) as { data?: object | null };
    return typeof data === "object" ? (data ?? undefined) : undefined;
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

/** Opens a transport. @throws TypeError if the address or the key cannot be sent. The error never shows the key. */
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
  // fetch quotes a header that it cannot send, and would show the key.
  if (!/^[\x21-\x7e]+$/.test(options.key))
    throw new TypeError("The key is empty or has a character that a header cannot carry.");
  const { key } = options;

  async function attemptOnce(
    address: string,
    { accept, read }: Reader,
    requestId: string,
    attempt: number,
    signal: AbortSignal | undefined,
  ): Promise<ReadAnswer | Failure> {
    const kept = await cache?.get(address);
    signal?.throwIfAborted();
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

  /** Waits before another try. @throws the failed try's error if another would not help or a limit is reached. */
  async function waitAfter(
    { error, waitSeconds }: Failure,
    attempt: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (waitSeconds === null || attempt > retriesMax || waitSeconds > waitMaxSeconds) throw error;
    onWait?.({ seconds: waitSeconds, error, attempt });
    signal?.throwIfAborted();
    await sleep(waitSeconds * 1000, signal);
  }

  /** Sends a request, and retries it if that can help. @throws the error of the last try. */
  async function get(
    path: string,
    query: object,
    reader: Reader,
    { signal }: RequestOptions = {},
  ): Promise<ReadAnswer> {
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
    let tag: string | undefined;
    // Every new byte is progress: the tries are counted from 1 again.
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
          // A proxy may compress only whole files, not ranges. The tag of a whole file is then weak.
          const etag = response.headers.get("etag")?.replace(/^W\//, "");
          if (etag === undefined || etag !== (tag ?? etag))
            failure = anotherFile(address, response, requestId);
          else {
            tag = etag;
            // A server that ignores ranges sends the known bytes again.
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
      const offset = (query as { offset?: number | null }).offset ?? 0;
      const { pagination } = content as { pagination: { offset?: unknown } };
      // Following next_offset would never end behind a cache that ignores the query.
      if (pagination.offset !== Number(offset))
        throw new UnexpectedAnswerError(
          `${base + path} answered offset=${offset} with another page: does a cache in front of it ignore the query?`,
          requestId,
          200,
        );
      return { ...content, requestId, quota };
    },
    async getLines(path, query, options) {
      const { content, ...received } = await get(path, query, lines, options);
      return { data: content as object[], ...received };
    },
    getData: async (path, options) => (await get(path, {}, whole, options)).content,
    getFile,
    async pause(attempt, { signal } = {}) {
      signal?.throwIfAborted();
      await sleep(backoffSeconds(attempt) * 1000, signal);
    },
  };
}

/** Time limit of one try. The caller's AbortSignal may end the try earlier. */
interface Deadline {
  signal: AbortSignal;
  /** Starts or restarts the time limit. */
  start(): void;
  stop(): void;
  /** Ends the try if it is still running. */
  end(): void;
  reasonOf(cause: unknown): string;
}

function openDeadline(seconds: number, signal: AbortSignal | undefined): Deadline {
  // AbortSignal.any is newer than the oldest Node and browsers that the client supports.
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
      timer = startTimer(() => {
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
    reasonOf: (cause) => (isLate ? `it took longer than ${seconds} s` : reasonOf(cause)),
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
  for (const [name, value] of Object.entries(query as Record<string, QueryValue>)) {
    // Without its values a filter would be dropped. The service refuses an empty value.
    const values = Array.isArray(value) && value.length === 0 ? [""] : [value ?? []].flat();
    for (const one of values) pairs.append(name, String(one ?? ""));
  }
  const text = pairs.toString();
  return text === "" ? "" : `?${text}`;
}

/** Returns the failure of a try without a complete answer. */
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

/** Returns the failure of a file that changed since its beginning was read, or that has no ETag. */
function anotherFile(address: string, response: Response, requestId: string): Failure {
  const { status, headers } = response;
  const message = headers.has("etag")
    ? `${address} changed while it was being read; begin again.`
    : unexpected(address, response);
  const id = headers.get("x-request-id") ?? requestId;
  return { error: new UnexpectedAnswerError(message, id, status), waitSeconds: null };
}

/** Returns the failure of an answer without the requested content. */
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
  // A proxy has its own limits and reports them without our problem details.
  const isOfProxy = [429, 502, 503, 504].includes(status);
  return {
    error: new UnexpectedAnswerError(unexpected(address, response), ours, status),
    waitSeconds: isOfProxy ? (retryAfterSeconds(headers) ?? backoffSeconds(attempt)) : null,
  };
}

/** Returns the innermost reason, which is the most specific: "connect ECONNREFUSED …" rather than "fetch failed". */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.cause instanceof Error) return reasonOf(cause.cause);
  // For a host with several addresses Node gives only the code.
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
  return typeof problem?.code === "string" && typeof problem.detail === "string"
    ? problem
    : undefined;
}

/** Returns the seconds to wait before another try, or null if the same problem would recur. */
function waitFor(error: ProblemError, headers: Headers, attempt: number): number | null {
  const { problem } = error;
  const { code, retry_after: seconds, "violated-policies": violated } = problem;
  if (code !== "quota-exceeded" && code !== "unavailable") return null;
  // A valid key is never refused for this: the key is wrong and stays wrong.
  if (Array.isArray(violated) && violated.includes("failed-keys")) return null;
  const said = typeof seconds === "number" ? seconds : backoffSeconds(attempt);
  return retryAfterSeconds(headers) ?? said;
}

/** Returns the seconds in `Retry-After` or until its date (RFC 9110 §10.2.3). Returns undefined if it has neither. */
function retryAfterSeconds(headers: Headers): number | undefined {
  const value = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(value)) return Number(value);
  // Engines read "0.5" as a day in 2001.
  if (!/^[A-Z]/.test(value)) return undefined;
  // The obsolete form without a zone is in UTC, too.
  const until = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  const seconds = Math.ceil((until - Date.now()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}

/** Returns 0.5, 1, 2, … 30 s for try 1, 2, 3, …, less up to half at random so that clients spread out. */
const backoffSeconds = (attempt: number) =>
  Math.min(30, 0.5 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);

function unexpected(address: string, { status, type, headers }: Response): string {
  const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
  if (isRedirect)
    return `${address} redirects elsewhere, and the key must not follow: set baseUrl to the service's own address.`;
  const contentType = headers.get("content-type") ?? "no content type";
  return `${address} answered ${status} with ${contentType}, which gp-records never does: is baseUrl the address of the service?`;
}

/** Returns the quotas in `ratelimit`, such as `"minute";r=57;t=48`, with the limits that `ratelimit-policy` gives. */
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

/** Returns a new request id. The client makes the id, so that a request without an answer has one, too. */
function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return `client_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Starts a timer of at most 25 days, because with a longer time it would end at once. */
const startTimer = (end: () => void, milliseconds: number) =>
  setTimeout(end, Math.min(milliseconds, 2 ** 31 - 1));

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
    const timer = startTimer(end, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Runs a test with the client in TypeScript and with the one in Python: what they promise is the same. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { inspect } from "node:util";
import {
  type CachedAnswer,
  type ClientOptions,
  createClient,
  type ListOptions,
} from "../../clients/typescript/src/index.ts";
import { type Problem } from "../../clients/typescript/src/types.ts";
import { hasTool } from "../support/machine.ts";

export type Operation = "gps" | "principals" | "signals" | "projects" | "changes";

export interface Order {
  /** `show` is how it looks printed; `list` gathers records of one dataset, `records` takes them one by one. */
  what: "show" | "page" | "pages" | "records" | "list" | "step" | "explain" | "exports" | "file";
  operation?: Operation | "gp";
  /** Asks the list of these records, by any of their values. */
  isList?: boolean;
  query?: Record<string, unknown>;
  onVersionChange?: ListOptions["onVersionChange"];
  /** Of a step its two versions, of a file its version and name, of an explanation the id. */
  of?: readonly [string, string?];
  options: Pick<
    ClientOptions,
    "baseUrl" | "key" | "waitMaxSeconds" | "retriesMax" | "timeoutSeconds"
  > & { usesCache?: boolean };
  /** In place of waiting; true stops the client. */
  onSleep?: (seconds: number) => void | true | Promise<void | true>;
  onPage?: (page: any) => void | Promise<void>;
}

/** An error as both clients give it. */
export interface GivenError {
  name: string;
  message: string;
  requestId: string | null;
  problem?: Problem;
  code?: string;
  status?: number;
  from?: string;
  to?: string;
}

export interface Result {
  value?: any;
  error?: GivenError;
  /** With the stack, or the trace: all that a log could show. */
  trace: string;
  waits: { seconds: number; attempt: number; error: GivenError }[];
}

export interface DrivenClient {
  name: "TypeScript" | "Python";
  do(order: Order): Promise<Result>;
}

/** A test for each client; the one in Python is skipped where there is none, but never in CI. */
export function forEachClient(
  name: string,
  run: (t: TestContext, client: DrivenClient) => Promise<void>,
): void {
  test(`${name} (TypeScript)`, (t) => run(t, typescriptClient()));
  test(`${name} (Python)`, async (t) => {
    if (hasPython(t)) await run(t, pythonClient(t));
  });
}

export function hasPython(t: TestContext): boolean {
  if (!hasTool(t, "python3")) return false;
  const isNewEnough = "import sys; sys.exit(sys.version_info < (3, 11))";
  if (spawnSync("python3", ["-c", isNewEnough]).status === 0) return true;
  if (process.env["CI"]) throw new Error("python3 is older than 3.11.");
  t.skip("skipped: python3 is older than 3.11");
  return false;
}

function typescriptClient(): DrivenClient {
  const cache = new Map<string, CachedAnswer>();
  return {
    name: "TypeScript",
    async do(order) {
      const { what, query, onVersionChange, options, onSleep, onPage } = order;
      const { operation = "", isList = false } = order;
      const waits: Result["waits"] = [];
      const aborter = new AbortController();
      const { signal } = aborter;
      const { usesCache = false, ...rest } = options;
      const clientOptions: ClientOptions = {
        ...rest,
        ...(usesCache && { cache }),
        onWait: ({ seconds, attempt, error }) =>
          void waits.push({ seconds, attempt, error: errorOf(error) }),
        async sleep(milliseconds) {
          if (await onSleep?.(milliseconds / 1000)) aborter.abort();
        },
      };
      const more = { signal, ...(onVersionChange !== undefined && { onVersionChange }) };
      const perform = async (): Promise<unknown> => {
        const client: any = createClient(clientOptions);
        if (what === "show") return `${inspect(client, { depth: 9 })} ${JSON.stringify(client)}`;
        if (what === "page")
          return await client[camelCase(isList ? "list" : "fetch", operation)](query, more);
        if (what === "step") return await client.step(...order.of!, { signal });
        if (what === "explain") return await client.explain(order.of![0], { signal });
        if (what === "exports") return await client.exports({ signal });
        if (what === "file")
          return String(
            Buffer.concat(await Array.fromAsync(client.exportFile(...order.of!, more))),
          );
        const listing = client[isList ? camelCase("all", operation) : operation](query, more);
        if (what === "list") return await listing.toArray();
        if (what === "records") return await Array.fromAsync(listing);
        for await (const page of listing.pages()) await onPage?.(page);
        return undefined;
      };
      try {
        return { value: await perform(), trace: "", waits };
      } catch (error) {
        const isAborted = error === signal.reason;
        return {
          error: { ...errorOf(error), ...(isAborted && { name: "Stopped" }) },
          trace: inspect(error, { depth: 9, showHidden: true }),
          waits,
        };
      }
    },
  };
}

const camelCase = (verb: string, operation: string) =>
  `${verb}${operation.charAt(0).toUpperCase()}${operation.slice(1)}`;

function errorOf(error: unknown): GivenError {
  const given = error as GivenError;
  const { name, message, problem, status, from, to } = given;
  // What is no error of the clients' own has none.
  const requestId = (error as Partial<GivenError>).requestId ?? null;
  const own = { code: given.code, problem, status, from, to };
  const known = Object.entries(own).filter(([, value]) => value !== undefined);
  return { name, message, requestId, ...(requestId === null ? {} : Object.fromEntries(known)) };
}

/** A process of its own, which asks back by lines of JSON. */
function pythonClient(t: TestContext): DrivenClient {
  const child = spawn("python3", ["-B", "test/clients/driver.py"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, "exit");
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name: "Python",
    async do({ onSleep, onPage, ...order }) {
      const waits: Result["waits"] = [];
      child.stdin.write(`${JSON.stringify({ query: {}, ...order })}\n`);
      for (;;) {
        const { value: line, done } = await lines.next();
        if (done) throw new Error("The Python client ended before its answer.");
        const said = JSON.parse(line) as Record<string, any>;
        let answer = "";
        if ("wait" in said) waits.push(said["wait"] as Result["waits"][number]);
        else if ("sleep" in said) answer = (await onSleep?.(said["sleep"] as number)) ? "stop" : "";
        else if ("page" in said) await onPage?.(said["page"]);
        else return { trace: "", ...said, waits };
        child.stdin.write(`${answer}\n`);
      }
    },
  };
}

/** The account worker without its thread: each request is a function call, and every hash and query is counted. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { Kysely } from "kysely";
import { type Hasher, openPasswords, type Passwords } from "#accounts/passwords.ts";
import { readConfig } from "#config.ts";
import { answerRequest } from "#dashboard/answer-request.ts";
import type { Mail } from "#dashboard/mail-templates.ts";
import {
  type AccountWorkerSettings,
  formType,
  type PageAnswer,
  type PageRequest,
} from "#dashboard/messages.ts";
import { openChangesReader } from "#datasets/joined-steps.ts";
import { openPersonLimiter } from "#dashboard/person-limits.ts";
import type { AccountServices } from "#dashboard/screen.ts";
import { routes } from "#dashboard/screens/index.ts";
import type { ControlTables } from "#store/control-tables.ts";
import { controlFile } from "#store/sqlite-file.ts";
import { type ControlStore, nodeSqliteDialect, openControl, openUsage } from "#store/stores.ts";
import { noon } from "./control.ts";
import { storePlace } from "./for-each-store.ts";
import { cheap, goodPassword } from "./people.ts";

/** Settings of a worker on a file, without mail. */
export const workerSettings: AccountWorkerSettings = {
  ...readConfig({ SIGN_UP: "open", MAIL_FROM: "records@example.org" }),
  linkBase: "http://127.0.0.1:8080",
};

export async function openInsideWorker(
  t: TestContext,
  settings: Partial<AccountWorkerSettings> = {},
  otherwise: Partial<AccountServices> = {},
) {
  const place = await storePlace(t);
  const { dataDir } = place;
  /** Texts of the queries so far, of a store in a file. */
  const queries: string[] = [];
  const control =
    place.databaseUrl === null
      ? await watchedControl(dataDir, queries)
      : await openControl(dataDir, place);
  const usage = await openUsage(dataDir, place);
  t.after(() => Promise.all([control.close(), usage.close()]));
  /** None ends before `gate` is resolved. */
  const hashes = { count: 0, running: 0, most: 0, gate: Promise.resolve() };
  /** Mail sent so far. */
  const messages: Mail[] = [];
  const passwords = countedPasswords(hashes);
  const services = {
    settings: { ...workerSettings, dataDir, ...settings },
    control,
    usage,
    passwords,
    mailer: {
      send: (message: Mail) => void messages.push(message),
      isOff: false,
      async close() {},
    },
    lookAtQuota: () => assert.fail(),
    takeQuota: () => assert.fail(),
    personLimiter: openPersonLimiter(),
    changes: openChangesReader(join(dataDir, "datasets")),
    model: () => null,
    explain: () => null,
    browse: () => settings.browse ?? workerSettings.browse,
    reportError: (error: string) => assert.fail(error),
    ...otherwise,
  };
  const ask = async (request: Partial<PageRequest>) => {
    const answer = await answerRequest(services, routes, {
      method: "GET",
      path: "/account",
      query: "",
      body: new Uint8Array(),
      bodyType: formType,
      address: "127.0.0.1",
      now: noon,
      monotonicMicroseconds: noon * 1000,
      ...request,
      headers: { host: "127.0.0.1:8080", ...request.headers },
    });
    return { ...answer, body: String(answer.body) };
  };
  const post = (
    path: string,
    fields: Readonly<Record<string, string>>,
    request: Partial<PageRequest> = {},
  ) => {
    const body = Buffer.from(new URLSearchParams(fields).toString());
    const own = {
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
    };
    const headers = { ...own, ...request.headers };
    return ask({ method: "POST", path, body, ...request, headers });
  };
  return {
    place,
    control,
    passwords,
    messages,
    queries,
    hashes,
    get(target: string, request: Partial<PageRequest> = {}) {
      const [path = "", query = ""] = target.split("?");
      return ask({ path, query, ...request });
    },
    post,
    /** Signs somebody up by the link in their mail. @returns the answer that signs them in. */
    async signUp(email: string) {
      await post("/account/sign-up", { email });
      const fields = { token: tokenFor(messages, email), password: goodPassword };
      return post("/account/link", fields);
    },
  };
}

/** On a connection of its own, without fsync: no test here loses power. */
async function watchedControl(dataDir: string, queries: string[]): Promise<ControlStore> {
  await (await openControl(dataDir)).close();
  const file = controlFile(dataDir);
  const connection = new DatabaseSync(file, { enableForeignKeyConstraints: true });
  connection.exec("pragma synchronous = off");
  const database = new Kysely<ControlTables>({
    dialect: nodeSqliteDialect(connection, file),
    log: ({ query }) => void queries.push(query.sql),
  });
  return {
    database,
    write: (work) => database.transaction().execute(work),
    close: () => database.destroy(),
  };
}

interface Hashes {
  count: number;
  running: number;
  most: number;
  gate: Promise<void>;
}

function countedPasswords(hashes: Hashes): Passwords {
  const passwords = openPasswords(cheap);
  const counted = async <R>(work: Promise<R>): Promise<R> => {
    hashes.count += 1;
    hashes.running += 1;
    hashes.most = Math.max(hashes.most, hashes.running);
    const [result] = await Promise.all([work, hashes.gate]);
    hashes.running -= 1;
    return result;
  };
  const watched = (hasher: Hasher): Hasher => ({
    hash: (password) => counted(hasher.hash(password)),
    isPassword: (password, stored) => counted(hasher.isPassword(password, stored)),
  });
  return { inTurn: (work, trust) => passwords.inTurn((hasher) => work(watched(hasher)), trust) };
}

/** The token in the last message to an address. */
export function tokenFor(messages: readonly Mail[], address: string): string {
  const message = messages.findLast(({ to }) => to === address);
  return (
    /token=([\w-]{43})/.exec(message?.text ?? "")?.[1] ?? assert.fail(`no link for ${address}`)
  );
}

/** What a browser sends back after an answer that set cookies. */
export const cookiesOf = ({ headers }: PageAnswer): string =>
  headers
    .filter(([name, value]) => name === "set-cookie" && !value.includes("Max-Age=0"))
    .map(([, value]) => value.split(";")[0])
    .join("; ");

/** The services that users would write or install instead: how each is started beside its database, asked, and understood. */
import { execFileSync, fork } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Principal } from "#records/principal.ts";
import { gpMembers } from "#records/gp.ts";
import { principalMembers } from "#records/principal.ts";
import { projectMembers } from "#records/project.ts";
import { signalMembers } from "#records/signal.ts";
import type { DatasetParts } from "#search/dataset-parts.ts";
import { freePort } from "../test/support/free-port.ts";
import { endWithUs, temporaryFolder } from "./clean-up.ts";
import { type Cluster, makeCluster } from "./postgres.ts";
import { peerLines } from "./peer-records.ts";
import { spawnRedis } from "./redis.ts";
import { byPath, compressedByPath, type Question } from "./requests.ts";
import { messageFrom, type RunningServer, stop } from "./servers.ts";

export const peerNames = ["cached", "same", "compressed", "fastify", "postgraphile"] as const;
export type PeerName = (typeof peerNames)[number];

interface PeerKind {
  title: string;
  file: string;
  settings: Readonly<Record<string, string>>;
  /** Is there a Redis for it? */
  hasRedis?: boolean;
  /** How it is asked for a target of the mix. */
  questionOf(target: string, key: string): Question;
  foundIn(body: unknown): Found;
}

/** What an answer says was found. */
export interface Found {
  total: number;
  ids: string[];
}

/** More than there are questions. */
const answersMax = "10000";

const fastify = (title: string, settings: PeerKind["settings"]): PeerKind => ({
  title,
  file: "fastify-service.js",
  settings,
  questionOf: byPath,
  foundIn: foundByPath,
});

export const peerKinds: Readonly<Record<PeerName, PeerKind>> = {
  cached: fastify("Fastify + pg, with an LRU of answers", { ANSWERS_MAX: answersMax }),
  same: {
    ...fastify("the same with a log line, windows in Redis, metrics and a row a request", {
      ANSWERS_MAX: answersMax,
    }),
    hasRedis: true,
  },
  compressed: {
    ...fastify("the same, compressing", { ANSWERS_MAX: answersMax, COMPRESS: "true" }),
    questionOf: compressedByPath,
    hasRedis: true,
  },
  fastify: fastify("Fastify + pg", {}),
  postgraphile: {
    title: "PostGraphile",
    file: "postgraphile-service.js",
    settings: {},
    questionOf: graphqlQuestion,
    foundIn(body) {
      const { data, errors } = body as GraphqlBody;
      if (errors !== undefined) throw new Error(`PostGraphile: ${JSON.stringify(errors)}`);
      const { totalCount, nodes } = Object.values(data)[0]!;
      return { total: totalCount, ids: nodes.map(({ rowId }) => rowId) };
    },
  },
};

interface GraphqlBody {
  data: Record<string, { totalCount: number; nodes: { rowId: string }[] }>;
  errors?: unknown[];
}

/** In an answer of the program, or of a service with the same paths. */
export function foundByPath(body: unknown): Found {
  const { data, pagination } = body as { data: { id: string }[]; pagination: { total: number } };
  return { total: pagination.total, ids: data.map(({ id }) => id) };
}

export interface RunningPeer extends RunningServer {
  /** First process of its database. */
  databasePid: number;
}

export interface Peers {
  start(name: PeerName): Promise<RunningPeer>;
}

const sources = join(import.meta.dirname, "peers");

/**
 * Installs what they need into an empty folder, and makes a database of the records.
 * @throws NoPostgres
 */
export async function openPeers(
  folder: string,
  parts: DatasetParts,
  keys: readonly string[],
  tell: (what: string) => void,
): Promise<Peers> {
  tell("installing the packages of the peers");
  const installed = join(folder, "peers");
  mkdirSync(installed);
  cpSync(sources, installed, { recursive: true });
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: installed,
    stdio: ["ignore", "ignore", "inherit"],
  });
  tell("loading the records into PostgreSQL");
  const lines = [...peerLines(parts, keys)].join("");
  const cluster = await makeCluster(join(installed, "schema.sql"), lines);
  const clusters = Object.fromEntries(peerNames.map((name) => [name, cluster.copy()])) as Record<
    PeerName,
    Cluster
  >;
  return {
    start: (name) => startPeer(join(installed, peerKinds[name].file), name, clusters[name], parts),
  };
}

async function startPeer(
  path: string,
  name: PeerName,
  cluster: Cluster,
  { version, updatedAt }: DatasetParts,
): Promise<RunningPeer> {
  const database = await cluster.start();
  const { settings, hasRedis = false } = peerKinds[name];
  const redis = hasRedis ? await startRedis() : null;
  const child = endWithUs(
    fork(path, {
      // Its log is read, as somebody collects it.
      stdio: ["ignore", "pipe", "inherit", "ipc"],
      env: {
        PATH: process.env["PATH"],
        NODE_ENV: "production",
        DATABASE_URL: database.url,
        DATASET_VERSION: version,
        DATASET_UPDATED_AT: updatedAt,
        ...(redis !== null && { COUNTERS_URL: redis.url }),
        ...settings,
      },
    }),
  );
  child.stdout!.resume();
  return {
    pid: child.pid!,
    databasePid: database.pid,
    ...(redis !== null && { helpers: new Map([["Redis", redis.child.pid!]]) }),
    port: await messageFrom<number>(child),
    async stop() {
      await stop(child);
      await Promise.all([database.stop(), redis === null ? undefined : stop(redis.child)]);
    },
  };
}

async function startRedis() {
  const port = await freePort();
  const child = await spawnRedis({ port, folder: temporaryFolder("bench") });
  return { child, url: `redis://127.0.0.1:${port}` };
}

const memberNames = (members: object) => Object.keys(members).filter((name) => name !== "id");
const fieldsOf = (members: object) => ["rowId", ...memberNames(members).map(camelCase)].join(" ");
const camelCase = (name: string) =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** What a GP embeds, through the table that links them. */
const embedded = (kind: "Principal" | "Signal", members: object) =>
  `gp${kind}sByGpId(first: 100) { totalCount nodes { ${kind.toLowerCase()}By${kind}Id { ${fieldsOf(members)} } } }`;

const { gps: _gps, ...principalAlone } = Principal.properties;

const linkedFields = (kind: "Principal" | "Signal" | "Project", members: object) =>
  `${fieldsOf(members)} gp${kind}sBy${kind}Id { nodes { gpByGpId { rowId name } } }`;

interface GraphqlRead {
  /** The field for a filter, and that for the whole list in its order. */
  found: string;
  all: string;
  fields: string;
}

const reads: Readonly<Record<string, GraphqlRead>> = {
  "/fetch-gp": {
    found: "fetchGp",
    all: "",
    fields: `${fieldsOf(gpMembers)} ${embedded("Principal", principalMembers)} ${embedded("Signal", signalMembers)}`,
  },
  "/fetch-principals": {
    found: "fetchPrincipals",
    all: "allPrincipals(orderBy: [SORT_NAME_ASC, ROW_ID_ASC], ",
    fields: linkedFields("Principal", principalAlone),
  },
  "/fetch-signals": {
    found: "fetchSignals",
    all: "allSignals(orderBy: [DATE_DESC, ROW_ID_ASC], ",
    fields: linkedFields("Signal", signalMembers),
  },
  "/fetch-projects": {
    found: "fetchProjects",
    all: "allProjects(orderBy: [SORT_NAME_ASC, ROW_ID_ASC], ",
    fields: linkedFields("Project", projectMembers),
  },
};

const variableTypes = {
  gp_name: "String",
  tag: "[String]",
  theme: "[String]",
  market: "[String]",
} as const;
type Variable = keyof typeof variableTypes;

/** The same question, with its values as variables, so that the text of a query is one of few. */
function graphqlQuestion(target: string): Question {
  const { pathname, searchParams } = new URL(target, "http://127.0.0.1");
  const { found, all, fields } = reads[pathname]!;
  const filters = (Object.keys(variableTypes) as Variable[]).filter((name) =>
    searchParams.has(name),
  );
  const declared = filters.map((name) => `$${camelCase(name)}: ${variableTypes[name]}`);
  const passed = filters.map((name) => `${camelCase(name)}: $${camelCase(name)}, `).join("");
  const read = filters.length > 0 ? `${found}(${passed}` : all;
  const query = `query (${[...declared, "$first: Int!", "$offset: Int!"].join(", ")}) { ${read}first: $first, offset: $offset) { totalCount nodes { ${fields} } } }`;
  const variables: Record<string, unknown> = {
    first: Number(searchParams.get("limit") ?? 20),
    offset: Number(searchParams.get("offset") ?? 0),
  };
  for (const name of filters)
    variables[camelCase(name)] =
      name === "gp_name" ? searchParams.get(name) : searchParams.getAll(name);
  return {
    path: "/graphql",
    headers: { "content-type": "application/json" },
    body: asciiJson({ query, variables }),
  };
}

/** Requests are sent a byte a character. */
const asciiJson = (value: unknown) =>
  JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** A server to be fuzzed and what its answers are judged by, made from the seed alone. */
import { knownAnswers, type KnownAnswers } from "./known-answers.ts";
import type { Court } from "./judge.ts";
import { learnWorld } from "./learn-world.ts";
import { source, startServer, type FuzzServer } from "./server.ts";

export interface Session {
  server: FuzzServer;
  court: Court;
  known: KnownAnswers;
}

export async function openSession(seed: number): Promise<Session> {
  const known = knownAnswers(seed, source);
  const server = await startServer(known.records);
  const { port, secrets } = server;
  const court = { world: await learnWorld(port), secrets, comparePage: known.comparePage };
  return { server, court, known };
}

/** Has the server remember as many questions as it ever does, so that afterwards nothing may grow any more. */
import { startRandom, type Random } from "#demo/random.ts";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import { converse } from "./converse.ts";
import type { Conversation } from "./make-conversation.ts";
import { makeMessage } from "./make-message.ts";
import { makeQuery, type OperationPath } from "./make-query.ts";
import { operationPaths } from "./make-target.ts";
import { predictQuery } from "./predict-query.ts";
import { promisedOperations } from "./promised.ts";
import type { FuzzRequest } from "./request.ts";
import type { Secrets } from "./secrets.ts";
import type { FuzzServer } from "./server.ts";

/** More than the server keeps of any operation, each short enough to be kept. */
const questionsOfOperation = 5500;
const lengthMax = 300;
const questionsAtATime = 100;
const messages = 3000;
/** Connections for messages at a time. */
const lanes = 16;

/** Of the same kind as those that follow: what takes the place of one takes the same room. */
export async function fillMemory(
  { port, secrets }: FuzzServer,
  seed: number,
  questions: readonly ReferenceQuery[],
): Promise<void> {
  const random = startRandom(seed, "questions to remember");
  for (const path of operationPaths) {
    const queries = [...newQueries(random, path, questions)];
    for (let from = 0; from < queries.length; from += questionsAtATime) {
      const some = queries.slice(from, from + questionsAtATime);
      const requests = some.map((query) => requestOf(`${path}?${query}`));
      await converse({ ...conversation, requests }, port, secrets);
    }
  }
  // What answers messages is loaded with the first one, reads the dataset for its lists, and takes some thousand to be compiled.
  await Promise.all(Array.from({ length: lanes }, () => sendMessages(random, port, secrets)));
}

const conversation: Omit<Conversation, "requests"> = {
  number: 0,
  manner: "pipelined",
  damage: (bytes) => bytes,
  cuts: [],
  halfCloses: false,
  dropsAfterBytes: null,
  address: "127.0.0.1",
};

/** Valid queries, none of them twice. */
function newQueries(
  random: Random,
  path: OperationPath,
  questions: readonly ReferenceQuery[],
): Set<string> {
  const queries = new Set<string>();
  while (queries.size < questionsOfOperation) {
    const query = makeQuery(random, path, questions);
    const { faults, isCertain } = predictQuery(query, promisedOperations[path]!);
    if (faults.length === 0 && isCertain && query.length <= lengthMax) queries.add(query);
  }
  return queries;
}

/** One after the other, as some of them end their connection. */
async function sendMessages(random: Random, port: number, secrets: Secrets): Promise<void> {
  for (let sent = 0; sent < messages / lanes; sent++) {
    const requests = [makeMessage(random)];
    await converse({ ...conversation, requests }, port, secrets);
  }
}

const requestOf = (target: string): FuzzRequest => ({
  method: "GET",
  target,
  version: "HTTP/1.1",
  headers: [
    ["host", " 127.0.0.1"],
    ["x-api-key", " {{valid-a}}"],
  ],
  body: "",
});

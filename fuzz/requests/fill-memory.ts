/** Has the server remember as many questions as it ever does, so that afterwards nothing may grow any more. */
import { startRandom, type Random } from "#demo/random.ts";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import { converse } from "./converse.ts";
import type { Conversation } from "./make-conversation.ts";
import { makeQuery, type OperationPath } from "./make-query.ts";
import { operationPaths } from "./make-target.ts";
import { predictQuery } from "./predict-query.ts";
import { messagesPath, messageType, promisedOperations, promisedTools } from "./promised.ts";
import type { FuzzRequest, Header } from "./request.ts";
import type { FuzzServer } from "./server.ts";

/** More than the server keeps of any operation, each short enough to be kept. */
const questionsOfOperation = 5500;
const lengthMax = 300;
const questionsAtATime = 100;

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
  // What answers messages is loaded with the first one, and reads the dataset for its lists.
  await converse(
    { ...conversation, requests: Object.keys(promisedTools).map(callOf) },
    port,
    secrets,
  );
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

function callOf(name: string): FuzzRequest {
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{}}}`;
  const { headers, ...request } = requestOf(messagesPath);
  const framing: Header[] = [
    ["content-type", ` ${messageType}`],
    ["content-length", ` ${body.length}`],
  ];
  return { ...request, method: "POST", headers: [...headers, ...framing], body };
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

/** Has the server remember as many questions as it ever does, so that afterwards nothing may grow any more. */
import fc from "fast-check";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import { converse } from "./converse.ts";
import type { Conversation } from "./any-conversation.ts";
import { anyMessage } from "./any-message.ts";
import { operationPaths } from "./promised.ts";
import type { FuzzRequest } from "./request.ts";
import type { FuzzServer } from "./server.ts";

/** More than the server keeps of any operation. */
const questionsOfOperation = 5500;
const questionsAtATime = 16;
const messages = 3000;
/** Connections for messages at a time. */
const lanes = 16;

/** Of the same kind as those that follow: what takes the place of one takes the same room. */
export async function fillMemory(
  { port, secrets }: FuzzServer,
  seed: number,
  questions: readonly ReferenceQuery[],
): Promise<void> {
  for (const path of operationPaths) {
    const queries = newQueries(path.slice(1), questions);
    for (let from = 0; from < queries.length; from += questionsAtATime) {
      const some = queries.slice(from, from + questionsAtATime);
      const requests = some.map((query) => requestOf(`${path}?${query}`));
      await converse({ ...conversation, requests }, port, secrets.beforehand);
    }
  }
  // What answers messages is loaded with the first one, reads the dataset for its lists, and takes some thousand to be compiled.
  const left = fc.sample(anyMessage, { seed, numRuns: messages });
  const lane = async () => {
    // One after the other, as some of them end their connection.
    for (let one = left.pop(); one !== undefined; one = left.pop())
      await converse({ ...conversation, requests: [one] }, port, secrets.beforehand);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

const conversation: Omit<Conversation, "requests"> = {
  manner: "pipelined",
  damages: [],
  cuts: [],
  halfCloses: false,
  dropsAfterBytes: null,
  address: "127.0.0.1",
};

/** Returns valid queries, none of them twice: each question at one offset after the other. */
function newQueries(operation: string, questions: readonly ReferenceQuery[]): string[] {
  // A list takes what the read of GPs takes, and more.
  const asked = operation.startsWith("list-") ? "fetch-gp" : operation;
  const own = questions.filter((question) => question.operation === asked);
  return Array.from({ length: questionsOfOperation }, (_, at) => {
    const { operation: _own, ...question } = { ...own[at % own.length]!, offset: at };
    const pairs = Object.entries(question).flatMap(([name, value]) =>
      [value].flat().map((one) => [name, String(one)]),
    );
    return new URLSearchParams(pairs).toString();
  });
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

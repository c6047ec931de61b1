/** Has the server remember as many questions as it ever does, so that afterwards nothing may grow any more. */
import fc from "fast-check";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import { converse } from "./converse.ts";
import type { Conversation } from "./any-conversation.ts";
import { anyMessage } from "./any-message.ts";
import { anyQuery } from "./any-query.ts";
import { type OperationPath, operationPaths } from "./promised.ts";
import type { FuzzRequest } from "./request.ts";
import type { FuzzServer } from "./server.ts";

/** Enough that more of them are valid than the server keeps of any operation: of nine, five at least. */
const queriesOfOperation = 9000;
const queriesAtATime = 16;
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
    const queries = differentQueries(path, seed, questions);
    for (let from = 0; from < queries.length; from += queriesAtATime) {
      const some = queries.slice(from, from + queriesAtATime);
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

/** Draws queries as the fuzz does, without wrong pairs. Nearly all differ, as each has an offset. */
const differentQueries = (
  path: OperationPath,
  seed: number,
  questions: readonly ReferenceQuery[],
) =>
  fc
    .sample(anyQuery(path, questions, 0), { seed, numRuns: queriesOfOperation })
    .map((query, at) => (/(^|&)offset=/.test(query) ? query : `${query}&offset=${at}`));

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

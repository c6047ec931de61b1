import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { type AnyDraft, eachImport } from "../../fuzz/imports/fuzz-imports.ts";
import { type Court, judgeAnswer } from "../../fuzz/requests/judge.ts";
import { type Answer, readAnswers } from "../../fuzz/requests/read-answers.ts";
import { startService, type TestService } from "../support/service.ts";

interface Found {
  /** What was sent, and what came of it then. */
  name: string;
  /** One character a byte; a pair is a text and how often it is repeated. */
  parts: (string | [string, number])[];
  statuses: number[];
}

const found = JSON.parse(readFileSync("fuzz/corpus/requests.json", "utf8")) as Found[];

/** All answers on one connection, which is left open on our side until the server has closed it or given all. */
function answersTo({ port }: TestService, found: Found, bytes: Buffer): Promise<Answer[]> {
  const methods = bytes.toString("latin1").match(/^[A-Za-z]+(?= \S+ HTTP)/gm)!;
  return new Promise((resolve, reject) => {
    const reader = readAnswers((index) => methods[index] ?? null);
    const answers: Answer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk: Buffer) => {
      answers.push(...reader.push(chunk).filter(({ status }) => status >= 200));
      if (answers.length >= found.statuses.length) socket.end();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answers));
  });
}

test("what the fuzz has found once is answered as promised", async (t) => {
  const service = await startService(t);
  const court: Court = {
    secrets: { of: () => service.key, all: [service.key] },
    comparePage: () => null,
  };
  for (const one of found) {
    const text = one.parts.map((part) =>
      typeof part === "string" ? part : part[0].repeat(part[1]),
    );
    const bytes = Buffer.from(text.join("").replaceAll("{{valid}}", service.key), "latin1");
    const answers = await answersTo(service, one, bytes);
    assert.deepEqual(
      answers.map(({ status }) => status),
      one.statuses,
      one.name,
    );
    for (const answer of answers)
      assert.deepEqual(judgeAnswer(court, answer, null, bytes), [], one.name);
  }
  assert.ok(!service.log.join("").includes(service.key.slice(8, 30)));
});

test("damaged files are taken with their sums right or refused in words, and sound ones taken whole", async () => {
  const sound = { sample: "plain", part: "table", damages: [], encoding: "as it is" } as const;
  const folder = { path: "larch.txt", damages: [], unpacked: [], zipDamages: [] };
  const examples = [true, false].flatMap((isWhole): [AnyDraft][] => [
    [{ ...sound, isWhole }],
    [{ ...folder, isWhole }],
  ]);
  await fc.assert(await eachImport(), { seed: 3, numRuns: 32, examples });
});

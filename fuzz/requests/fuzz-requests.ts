/** Sends requests to the real program by the hundred thousand and judges every answer. */
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { printable, refuse, run, type FuzzOptions, type Violation } from "../run.ts";
import { anyConversation, type Conversation } from "./any-conversation.ts";
import { converse, type Exchange } from "./converse.ts";
import { fillMemory } from "./fill-memory.ts";
import { readProblem } from "./judge-problem.ts";
import { judgeExchange } from "./judge.ts";
import { knownAnswers } from "./known-answers.ts";
import { growthFaults, memoryText, settle, type MemoryReading } from "./memory.ts";
import { faultCodes, formPath, problemCodes, promisedSuccesses } from "./promised.ts";
import { source, startServer } from "./server.ts";

/** Connections at a time, at most, and how many requests they send together on average. */
const lanes = 48;
const requestsOfRun = 80;
/** A shorter run tells nothing about memory, and does not meet every outcome. */
const requestsForAll = 20_000;
/** What is given back at a rest in between cannot pile up: only what is kept does. */
const requestsBetweenRests = 25_000;
/** Answers come before what the log says of them, and before the end of a process that dies of them. */
const lateMilliseconds = 300;

/** Returns what was found. */
export async function fuzzRequests(options: FuzzOptions): Promise<string[]> {
  const { seed, path, count } = options;
  const known = knownAnswers(seed, source);
  let session = await startSession();
  const memory: MemoryReading[] = [];
  const met = new Set<string>();
  const sums = { conversations: 0, requests: 0, answers: 0, logLines: 0 };
  const isWhole = count >= requestsForAll && path === undefined;

  async function startSession() {
    const server = await startServer(known.records);
    const { port, secrets } = server;
    // What reads forms starts when it is first asked for something, and takes memory from then on.
    await (await fetch(`http://127.0.0.1:${port}${formPath}`)).text();
    const court = { secrets, comparePage: known.comparePage };
    return { server, court };
  }

  async function rest() {
    if (isWhole) memory.push(await settle(session.server, sums.requests));
  }

  const logFaults = (): Violation[] =>
    session.server.log.takeFaults().map((detail) => ({ rule: "log", detail }));

  /** Tells of a server that has died, and starts another. */
  async function judgeServer(): Promise<Violation[]> {
    const { server } = session;
    const death = server.death();
    const violations = logFaults();
    if (death === null) return violations;
    session = await startSession();
    return [...violations, { rule: "the server died", detail: death }];
  }

  const property = fc.asyncProperty(
    fc.array(anyConversation(known.questions), { minLength: 1, maxLength: lanes, size: "max" }),
    async (conversations) => {
      const { server, court } = session;
      const held = await Promise.all(
        conversations.map(async (conversation) => {
          const exchange = await converse(conversation, server.port, server.secrets);
          return { exchange, broken: judgeExchange(court, conversation, exchange) };
        }),
      );
      const violations = held.flatMap(({ broken }) => broken);
      if (violations.length > 0) await setTimeout(lateMilliseconds);
      violations.push(...(await judgeServer()));
      // Where no answer is to blame, each of them may be.
      const blamed = held.filter(({ broken }) => broken.length > 0);
      refuse(violations, () =>
        (blamed.length > 0 ? blamed : held).map(({ exchange }) => evidenceOf(exchange)).join("\n"),
      );
      const rests = Math.floor(sums.requests / restEvery);
      countIn(
        conversations,
        held.map(({ exchange }) => exchange),
      );
      if (Math.floor(sums.requests / restEvery) > rests) await rest();
    },
  );
  const restEvery = Math.min(requestsBetweenRests, count / 2);

  function countIn(conversations: readonly Conversation[], exchanges: readonly Exchange[]) {
    sums.conversations += conversations.length;
    for (const { requests } of conversations) sums.requests += requests.length;
    for (const { answers } of exchanges) {
      sums.answers += answers.length;
      for (const { status, body } of answers) {
        const problem = status >= 400 ? readProblem(body.toString()) : null;
        const faults = problem?.faults.map((fault) => fault.split(" ").at(-1)!) ?? [];
        for (const outcome of [String(status), problem?.code ?? "", ...faults]) met.add(outcome);
      }
    }
  }

  await rest();
  if (isWhole) await fillMemory(session.server, seed, known.questions);
  await rest();
  const found = await run(property, options, Math.ceil(count / requestsOfRun), "--imports");
  await rest();
  const { exitCode } = await session.server.stop();
  const atEnd = logFaults();
  if (exitCode !== 0)
    atEnd.push({ rule: "the server did not end well", detail: `exit code ${exitCode}` });
  const { conversations, requests, answers } = sums;
  console.log(
    `${requests} requests in ${conversations} conversations, ${answers} answers, ${known.compared()} pages compared with the reference, ${session.server.log.lines()} log lines read\n${memoryText(memory)}`,
  );
  return [
    ...found,
    ...atEnd.map(({ rule, detail }) => `${rule}: ${detail}`),
    ...growthFaults(memory),
    ...(requests < requestsForAll || found.length > 0 ? [] : unmet(met)),
  ];
}

function evidenceOf({ sent, answers, rest, ending }: Exchange): string {
  const heads = answers.flatMap(({ status, headers, body }) => [
    `< ${status} ${JSON.stringify(Object.fromEntries(headers))}`,
    `< ${printable(body)}`,
  ]);
  return [`> ${printable(sent)}`, ...heads, `< ${printable(rest)}`, `ended: ${ending}`].join("\n");
}

/** Never seen while all is well, not within the time of a run, or only of files that the fuzz does not ask for. */
const unreachable = new Set([
  "internal-error",
  "unavailable",
  "request-timeout",
  "range-not-satisfiable",
]);

/** What a whole run ought to have met and has not. */
const unmet = (met: ReadonlySet<string>): string[] =>
  [
    ...promisedSuccesses.map(String),
    ...problemCodes.filter((code) => !unreachable.has(code)),
    ...faultCodes,
  ]
    .filter((outcome) => !met.has(outcome))
    .map((outcome) => `the fuzz does not reach what it should: ${outcome}`);

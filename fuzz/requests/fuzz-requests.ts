/** Sends requests to the real program by the hundred thousand and judges every answer. */
import { collectFindings, type Findings } from "../finding.ts";
import type { FuzzOptions } from "../options.ts";
import { converse } from "./converse.ts";
import { openSession, type Session } from "./court.ts";
import { evidenceOf } from "./evidence.ts";
import { judgeExchange } from "./judge.ts";
import { fillMemory } from "./fill-memory.ts";
import { makeConversation } from "./make-conversation.ts";
import { growthIn, settle, type MemoryReading } from "./memory.ts";
import type { FuzzServer } from "./server.ts";
import { count, openTally, unmet, type Tally } from "./tally.ts";

export interface RequestsResult {
  tally: Tally;
  findings: Findings;
  /** Before the first request, before the first of the fuzz, and at every rest; fewer where the server has died. */
  memory: readonly MemoryReading[];
  seconds: number;
  pagesCompared: number;
  logLines: number;
}

/** Connections at a time. */
const lanes = 48;
const requestsForMemory = 20_000;
/** What is given back at a rest in between cannot pile up: only what is kept does. */
const requestsBetweenRests = 25_000;
const progressMilliseconds = 5000;
/** Whoever has found so much need not look further. */
const findingsMax = 2000;

export async function fuzzRequests(options: FuzzOptions): Promise<RequestsResult> {
  const { seed, requests, secondsMax } = options;
  const session = await openSession(seed);
  const { server, known } = session;
  const run: Run = { seed, session, findings: collectFindings(), tally: openTally(), number: 0 };
  const memory: MemoryReading[] = [];
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const progress = setInterval(() => tell(run, seconds(), requests), progressMilliseconds);
  const read = async () => {
    const reading = server.death() === null ? await settle(server, run.tally.requests) : null;
    if (reading !== null) memory.push(reading);
  };
  try {
    await read();
    // A short run tells nothing about memory.
    if (requests >= requestsForMemory) await fillMemory(server, seed, known.questions);
    await read();
    for (const upTo of restsOf(requests)) {
      await converseUpTo(run, upTo, () => seconds() > secondsMax);
      await read();
      if (seconds() > secondsMax) break;
    }
  } finally {
    clearInterval(progress);
    const death = server.death();
    judgeEnd(run, server, death, await server.stop());
  }
  judgeWhole(run, memory);
  const { tally, findings } = run;
  const logLines = server.log.lines();
  return { tally, findings, memory, seconds: seconds(), pagesCompared: known.compared(), logLines };
}

/** After how many requests it rests: half-way and at the end, and in between. */
function restsOf(requests: number): number[] {
  const count = Math.max(2, 2 * Math.round(requests / requestsBetweenRests / 2));
  return Array.from({ length: count }, (_, at) => (requests * (at + 1)) / count);
}

interface Run {
  seed: number;
  session: Session;
  findings: Findings;
  tally: Tally;
  /** Of the latest conversation. */
  number: number;
}

/** Has conversations, many at a time, until so many requests are sent in all. */
async function converseUpTo(run: Run, upTo: number, isOver: () => boolean): Promise<void> {
  const { session, findings, tally } = run;
  const goesOn = () =>
    tally.requests < upTo &&
    !isOver() &&
    session.server.death() === null &&
    findings.count < findingsMax;
  const lane = async () => {
    while (goesOn()) await converseOnce(run, ++run.number);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

async function converseOnce({ seed, session, findings, tally }: Run, number: number) {
  const { server, court, known } = session;
  const conversation = makeConversation(seed, number, known.questions);
  const exchange = await converse(conversation, server.port, server.secrets);
  count(tally, conversation, exchange);
  for (const violation of judgeExchange(court, conversation, exchange))
    findings.add({
      ...violation,
      replay: `--only ${number}`,
      evidence: evidenceOf(conversation, exchange),
    });
}

function judgeEnd(
  { findings }: Run,
  { log }: FuzzServer,
  death: string | null,
  exitCode: number | null,
): void {
  if (death !== null) findings.add(ofWholeRun("the server died", death));
  else if (exitCode !== 0)
    findings.add(ofWholeRun("the server did not end well", `exit code ${exitCode}`));
  for (const violation of log.faults()) findings.add(ofWholeRun("log", violation));
}

function judgeWhole({ findings, tally }: Run, memory: readonly MemoryReading[]): void {
  const growth = tally.requests >= requestsForMemory ? growthIn(memory) : null;
  for (const fault of growth?.faults ?? []) findings.add(ofWholeRun("memory", fault));
  for (const outcome of unmet(tally))
    findings.add(ofWholeRun("the fuzz does not reach what it should", outcome));
}

const ofWholeRun = (rule: string, detail: string) => ({ rule, detail, replay: "", evidence: "" });

function tell({ tally, findings }: Run, seconds: number, wanted: number): void {
  const { requests, answers, byStatus } = tally;
  const statuses = [...byStatus]
    .toSorted(([a], [b]) => a - b)
    .map(([status, times]) => `${status}×${times}`);
  process.stderr.write(
    `${requests} of ${wanted} requests, ${answers} answers, ${Math.round(requests / seconds)}/s, ${findings.count} findings; ${statuses.join(" ")}\n`,
  );
}

/** Judges an exchange: how many answers there are, and whether each is one the interface promises. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Violation } from "../run.ts";
import type { Exchange } from "./converse.ts";
import type { Conversation } from "./any-conversation.ts";
import { judgeCourse } from "./judge-course.ts";
import { judgeMessage } from "./judge-message.ts";
import { judgeHeaders, pageType } from "./judge-headers.ts";
import { leaksIn } from "./judge-leaks.ts";
import { judgePage, type PageJudge } from "./judge-page.ts";
import { judgeProblem, readProblem, type ProblemRead } from "./judge-problem.ts";
import { anyName } from "./predict-query.ts";
import { preferredOf } from "./predict-accept.ts";
import { predict, type Before, type World } from "./predict.ts";
import type { Outcome } from "./stages.ts";
import type { Answer } from "./read-answers.ts";
import { targetOf } from "./predict-target.ts";
import { valueOf, type FuzzRequest } from "./request.ts";
import {
  formPath,
  messagesPath,
  messageType,
  promisedOperations,
  promisedProblems,
  promisedSuccesses,
} from "./promised.ts";
import type { Secrets } from "./secrets.ts";

export interface Court {
  world: World;
  secrets: Secrets;
  /** Compares a page with what the reference says; null where that is not to be done. */
  comparePage: PageJudge;
}

/** Every rule that was broken. */
export function judgeExchange(
  court: Court,
  conversation: Conversation,
  exchange: Exchange,
): Violation[] {
  const { requests, manner } = conversation;
  const violations = judgeCourse(court.world, conversation, exchange);
  for (const answer of exchange.interim)
    if (answer.status !== 100)
      violations.push({ rule: "interim answer", detail: `${answer.status}` });
  exchange.answers.forEach((answer, at) => {
    const request = manner === "raw bytes" ? null : (requests[at] ?? null);
    const before =
      at === 0 || manner !== "one by one"
        ? null
        : { request: requests[at - 1]!, etag: exchange.answers[at - 1]!.headers.get("etag") };
    violations.push(...judgeAnswer(court, answer, request, before, exchange.sent));
  });
  return violations;
}

export function judgeAnswer(
  { world, secrets, comparePage }: Court,
  answer: Answer,
  request: FuzzRequest | null,
  before: Before | null,
  sent: Buffer,
): Violation[] {
  const violations: Violation[] = answer.faults.map((detail) => ({ rule: "not HTTP", detail }));
  const { status } = answer;
  const statuses = Object.values(promisedProblems).map((promised) => promised.status);
  if (![...promisedSuccesses, ...statuses].includes(status))
    violations.push({ rule: "status not promised", detail: String(status) });
  const content = contentOf(answer);
  if (content instanceof Error) {
    violations.push({ rule: "content cannot be read", detail: content.message });
    return violations;
  }
  const isMessage = isOfMessages(answer, request, sent);
  violations.push(...judgeHeaders(answer, request, sent, isMessage));
  violations.push(...leaksIn(answer, content, secrets, sent, request === null));
  const isPage = status >= 400 && mayBePage(answer, request, sent);
  const problem =
    status >= 400 && !isPage && !isMessage && !answer.isWithoutContent
      ? readProblem(content)
      : null;
  if (isMessage && !answer.isWithoutContent)
    violations.push(...judgeMessage(answer, content, request));
  else if (isPage && !answer.isWithoutContent) violations.push(...judgeErrorPage(answer, content));
  else if (status >= 400 && !answer.isWithoutContent)
    violations.push(...judgeProblem(answer, problem));
  if (request === null) return violations;
  const outcomes = predict(request, world, before);
  const fault = outcomeFault(outcomes, answer, problem);
  if (fault !== null) return [...violations, { rule: "not as predicted", detail: fault }];
  const page = pageExpected(outcomes, status);
  if (page !== undefined && !answer.isWithoutContent)
    violations.push(
      ...judgePage(
        answer,
        content,
        page,
        preferredOf(valueOf(request, "accept"), world.formats),
        comparePage,
      ),
    );
  return violations;
}

/** Is it JSON-RPC? What is refused before it is read as a message is a problem like any other. */
function isOfMessages({ headers }: Answer, request: FuzzRequest | null, sent: Buffer): boolean {
  if (headers.get("content-type") !== messageType) return false;
  return request === null
    ? sent.includes(messagesPath)
    : targetOf(request.target).path === messagesPath;
}

/** A browser gets its errors as pages, except those of an operation. */
function mayBePage({ headers }: Answer, request: FuzzRequest | null, sent: Buffer): boolean {
  if (headers.get("content-type") !== pageType) return false;
  if (request === null) return /text\/html|text\/\*|\/account/i.test(sent.toString("latin1"));
  const { path } = targetOf(request.target);
  if (path === formPath) return true;
  const isOperation = promisedOperations[path.replace(/^\/v1(?=\/)/, "")] !== undefined;
  return !isOperation && /text\/(?:html|\*)/i.test(valueOf(request, "accept") ?? "");
}

function judgeErrorPage({ status, headers }: Answer, content: string): Violation[] {
  const wrong: string[] = [];
  if (!content.startsWith("<!doctype html>")) wrong.push("doctype");
  if (!/<h1>[^<]{5,}<\/h1>/.test(content)) wrong.push("heading");
  if (/<script(?! src="\/assets\/)/.test(content)) wrong.push("script");
  if (!/\bscript-src 'self'/.test(headers.get("content-security-policy") ?? ""))
    wrong.push("policy");
  return wrong.map((part) => ({ rule: `page of an error: ${part}`, detail: String(status) }));
}

const pageExpected = (outcomes: readonly Outcome[], status: number) =>
  status === 200 ? outcomes.find((outcome) => outcome.page !== undefined)?.page : undefined;

/** Compares an answer with the outcomes that were foreseen: null where one of them has come. */
function outcomeFault(
  outcomes: readonly Outcome[],
  answer: Answer,
  problem: ProblemRead | null,
): string | null {
  const { status } = answer;
  // Under load it may say so at any time.
  if (status === 503 && problem?.code === "unavailable") return null;
  const isLikely = (outcome: Outcome) =>
    outcome.status === status &&
    (problem === null || outcome.code === undefined || outcome.code === problem.code);
  const likely = outcomes.filter(isLikely);
  if (likely.length === 0)
    return `${status} ${problem?.code ?? ""}; foreseen ${wordsFor(outcomes)}`;
  if (problem === null) return null;
  const found = problem.faults.filter(isFirst);
  const isRight = (outcome: Outcome) =>
    outcome.faults === undefined || isSameList(outcome.faults.filter(isFirst), found);
  if (likely.some(isRight)) return null;
  return `faults ${JSON.stringify(found)}; foreseen ${JSON.stringify(likely.map(({ faults }) => faults))}`;
}

/** The same fault of the same name said twice says no more than once. */
const isFirst = (one: string, at: number, all: readonly string[]) => all.indexOf(one) === at;

function isSameList(foreseen: readonly string[], found: readonly string[]): boolean {
  const wanted = foreseen.map((one) => one.split(" ") as [string, string]);
  if (!wanted.some(([name]) => name === anyName)) return foreseen.join("\n") === found.join("\n");
  return foreseen.every((one) => one.startsWith(anyName) || found.includes(one));
}

const wordsFor = (outcomes: readonly Outcome[]) =>
  outcomes
    .map(({ status, code }) => (code === undefined ? `${status}` : `${status} ${code}`))
    .join(", ");

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the content of an answer as text, whatever it was compressed with. */
function contentOf({ body, headers }: Answer): string | Error {
  if (body.length === 0) return "";
  const coding = headers.get("content-encoding");
  try {
    const bytes =
      coding === "br" ? brotliDecompressSync(body) : coding === "gzip" ? gunzipSync(body) : body;
    return utf8.decode(bytes);
  } catch (error) {
    return error as Error;
  }
}

/** Judges an exchange: how many answers there are, and whether each is one the interface promises. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { assertDescribed } from "../../test/support/described.ts";
import type { Violation } from "../run.ts";
import type { Exchange } from "./converse.ts";
import type { Conversation } from "./any-conversation.ts";
import { judgeCourse } from "./judge-course.ts";
import { judgeMessage } from "./judge-message.ts";
import { judgeHeaders, pageType } from "./judge-headers.ts";
import { leaksIn } from "./judge-leaks.ts";
import { judgePage, questionOf, type PageJudge } from "./judge-page.ts";
import { judgeProblem, readProblem } from "./judge-problem.ts";
import type { Answer } from "./read-answers.ts";
import { targetOf, valueOf, type FuzzRequest } from "./request.ts";
import { formPath, messagesPath, messageType, idPrefixes, promisedStatuses } from "./promised.ts";
import { type Role, validRoles, type Secrets } from "./secrets.ts";

export interface Court {
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
  const violations = judgeCourse(conversation, exchange);
  for (const answer of exchange.interim)
    if (answer.status !== 100)
      violations.push({ rule: "interim answer", detail: `${answer.status}` });
  exchange.answers.forEach((answer, at) => {
    const request = manner === "raw bytes" ? null : (requests[at] ?? null);
    violations.push(...judgeAnswer(court, answer, request, exchange.sent));
  });
  return violations;
}

export function judgeAnswer(
  { secrets, comparePage }: Court,
  answer: Answer,
  request: FuzzRequest | null,
  sent: Buffer,
): Violation[] {
  const violations: Violation[] = answer.faults.map((detail) => ({ rule: "not HTTP", detail }));
  const { status } = answer;
  if (!promisedStatuses.includes(status))
    violations.push({ rule: "status not promised", detail: String(status) });
  const content = contentOf(answer);
  if (content instanceof Error) {
    violations.push({ rule: "content cannot be read", detail: content.message });
    return violations;
  }
  violations.push(...judgeDescribed(answer, content));
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
  const question = request === null || status !== 200 ? null : questionOf(request);
  if (question === null) return violations;
  if (!keysServed.includes(valueOf(request!, "x-api-key") ?? ""))
    violations.push({ rule: "served without a key", detail: question.operation });
  if (!answer.isWithoutContent)
    violations.push(...judgePage(answer, content, question, comparePage));
  return violations;
}

/** Every header, and every member of JSON, has to stand in openapi.json. */
function judgeDescribed({ status, headers }: Answer, content: string): Violation[] {
  const isJson = /[/+]json\b/.test(headers.get("content-type") ?? "") && content !== "";
  try {
    assertDescribed({ status, headers, json: isJson ? JSON.parse(content) : undefined });
    return [];
  } catch (error) {
    return [{ rule: "not described", detail: (error as Error).message }];
  }
}

const rolesServed: readonly Role[] = [...validRoles, "small"];
const keysServed = rolesServed.map((role) => `{{${role}}}`);

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
  const isOperation = Object.hasOwn(idPrefixes, path.replace(/^(?:\/v1)?\//, ""));
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

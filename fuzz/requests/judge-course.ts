/** One answer for each request, in their order, and an end of the connection that somebody announced. */
import type { Exchange } from "./converse.ts";
import type { Violation } from "../run.ts";
import type { Conversation } from "./any-conversation.ts";
import type { Answer } from "./read-answers.ts";

export function judgeCourse(conversation: Conversation, exchange: Exchange): Violation[] {
  const { answers, ending } = exchange;
  if (ending === "stuck") return [{ rule: "no end", detail: `after ${answers.length} answers` }];
  const rules =
    conversation.manner === "raw bytes" ? rawRules(exchange) : rulesFor(conversation, exchange);
  return rules
    .filter(([, isBroken]) => isBroken)
    .map(([rule]) => ({
      rule,
      detail: `${answers.length} answers to ${conversation.requests.length} requests, ${ending}`,
    }));
}

type Rule = readonly [rule: string, isBroken: boolean];

function rawRules({ answers, ending, rest, sent }: Exchange): Rule[] {
  return [
    ["too many answers", answers.length > requestsMax(sent)],
    ["broken answer", rest.length > 0 && ending !== "reset"],
    ["answer after the last", answers.slice(0, -1).some(saysClose)],
  ];
}

/** Each request ends with a blank line, and what cannot be read is answered once. */
const requestsMax = (sent: Buffer) => sent.toString("latin1").split(/\n\r?\n|\r\r/).length + 1;

function rulesFor(
  { requests, manner, halfCloses }: Conversation,
  { answers, ending, rest }: Exchange,
): Rule[] {
  const isDropped = manner === "dropped";
  const isAnnounced = answers.some(saysClose);
  const isShort = answers.length < requests.length && !isAnnounced && !isDropped;
  return [
    ["too many answers", answers.length > requests.length],
    ["answer after the last", answers.slice(0, -1).some(saysClose)],
    ["broken answer", rest.length > 0 && !isDropped],
    // Whoever has closed already gets what it asked for, and need not be told what could not be read.
    ["missing answer", isShort && !halfCloses],
    ["closed unannounced", ending === "closed" && !isAnnounced && !halfCloses && !isDropped],
    ["reset", ending === "reset" && !isAnnounced && !isDropped],
  ];
}

const saysClose = ({ headers }: Answer) => /close/i.test(headers.get("connection") ?? "");

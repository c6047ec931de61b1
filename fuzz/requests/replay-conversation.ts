/** Has one conversation of a run alone and tells everything about it. */
import { setTimeout } from "node:timers/promises";
import { converse } from "./converse.ts";
import { openSession } from "./court.ts";
import { evidenceOf } from "./evidence.ts";
import { judgeExchange } from "./judge.ts";
import { makeConversation } from "./make-conversation.ts";

/** Answers come before what the log says of them. */
const logMilliseconds = 300;

export async function replayConversation(seed: number, number: number): Promise<string> {
  const { server, court, known } = await openSession(seed);
  try {
    const conversation = makeConversation(seed, number, known.questions);
    const exchange = await converse(conversation, server.port, server.secrets);
    const violations = judgeExchange(court, conversation, exchange);
    await setTimeout(logMilliseconds);
    const death = server.death();
    return [
      evidenceOf(conversation, exchange, Number.POSITIVE_INFINITY),
      ...violations.map(({ rule, detail }) => `BROKEN ${rule}: ${detail}`),
      ...server.log.faults().map((line) => `LOG ${line}`),
      ...(death === null ? [] : [`DIED ${death}`]),
      `${violations.length} rules broken`,
    ].join("\n");
  } finally {
    await server.stop();
  }
}

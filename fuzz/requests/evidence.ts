/** An exchange in words and escaped bytes: how it was held, what was sent, what came. */
import { escapedBriefly } from "../escaped.ts";
import type { Exchange } from "./converse.ts";
import type { Conversation } from "./make-conversation.ts";

/** @param bodyLengthMax of the bodies that are shown; the rest of them is counted. */
export function evidenceOf(
  conversation: Conversation,
  { sent, answers, rest, ending }: Exchange,
  bodyLengthMax = 600,
): string {
  const heads = answers.flatMap(({ status, headers, body }) => [
    `< ${status} ${[...headers].map(([name, value]) => `${name}: ${value}`).join("\\r\\n")}`,
    `< ${escapedBriefly(body, bodyLengthMax)}`,
  ]);
  return [
    mannerOf(conversation, sent.length),
    `> ${escapedBriefly(sent, bodyLengthMax * 5)}`,
    ...heads,
    ...(rest.length > 0 ? [`< rest ${escapedBriefly(rest, bodyLengthMax)}`] : []),
    `ended: ${ending}`,
  ].join("\n");
}

function mannerOf(conversation: Conversation, length: number): string {
  const { manner, address, halfCloses, cuts, dropsAfterBytes } = conversation;
  const places = cuts.map((cut) => Math.floor(cut * length));
  return [
    `${manner}, from ${address}`,
    halfCloses && "half-closed",
    cuts.length > 0 && `cut at ${places.join(" ")}`,
    dropsAfterBytes !== null && `dropped after ${dropsAfterBytes} bytes`,
  ]
    .filter((one) => one !== false)
    .join(", ");
}

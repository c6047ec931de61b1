/** Has one conversation with the server, over a socket of its own. */
import { connect, type Socket } from "node:net";
import { openListener, type Listener } from "./listener.ts";
import { wholeOf, type Conversation } from "./make-conversation.ts";
import type { Answer } from "./read-answers.ts";
import { bytesOf } from "./request.ts";
import type { Secrets } from "./secrets.ts";
import { sendInPieces } from "./send-in-pieces.ts";

export interface Exchange {
  /** Everything that was sent. */
  sent: Buffer;
  /** Whole answers in their order, without interim ones (1xx). */
  answers: readonly Answer[];
  interim: readonly Answer[];
  /** What came and is no whole answer. */
  rest: Buffer;
  ending: Ending;
}

/**
 * `closed` and `reset` by the server; `left` by us, with all answers there; `dropped` by us before that;
 * `stuck` where neither side did anything for a long time.
 */
export type Ending = "closed" | "reset" | "left" | "dropped" | "stuck";

/** Longer than any wait of the server. */
const patienceMilliseconds = 25_000;

const noTag = 'W/"none"';

export function converse(
  conversation: Conversation,
  port: number,
  secrets: Secrets,
): Promise<Exchange> {
  const { manner, address, dropsAfterBytes } = conversation;
  const listener = openListener(conversation);
  const { answers, interim } = listener;
  const sent: Buffer[] = [];
  const socket = connect({ port, host: "127.0.0.1", localAddress: address, noDelay: true });
  let ending: Ending | null = null;
  const end = (how: Ending) => {
    ending ??= how;
    socket.destroy();
  };
  const speaks = manner === "one by one" ? sendNext : sendAll;
  socket.on("connect", () => speaks(conversation, listener, socket, sent, secrets));
  if (dropsAfterBytes === 0) socket.on("connect", () => setImmediate(() => end("dropped")));
  socket.on("data", (chunk: Buffer) => {
    const before = answers.length;
    listener.hear(chunk);
    const next = nextStep(conversation, listener);
    if (next === "send" && answers.length > before)
      sendNext(conversation, listener, socket, sent, secrets);
    else if (next === "left" || next === "dropped") end(next);
  });
  socket.on("error", () => (ending ??= "reset"));
  const patience = setTimeout(() => end("stuck"), patienceMilliseconds);
  return new Promise((resolve) => {
    socket.on("close", () => {
      clearTimeout(patience);
      const rest = listener.end();
      resolve({ sent: Buffer.concat(sent), answers, interim, rest, ending: ending ?? "closed" });
    });
  });
}

type Speak = (
  conversation: Conversation,
  listener: Listener,
  socket: Socket,
  sent: Buffer[],
  secrets: Secrets,
) => void;

/** The request after the latest answer. */
const sendNext: Speak = ({ requests }, { answers }, socket, sent, secrets) => {
  const etag = answers.at(-1)?.headers.get("etag") ?? noTag;
  const bytes = bytesOf(requests[answers.length]!, secrets, etag);
  sent.push(bytes);
  socket.write(bytes);
};

const sendAll: Speak = ({ requests, damage, cuts, halfCloses }, _, socket, sent, secrets) => {
  const bytes = damage(wholeOf(requests, secrets, noTag));
  sent.push(bytes);
  sendInPieces(socket, bytes, cuts, halfCloses);
};

/** What to do when something has come. */
function nextStep(
  { requests, manner, halfCloses, dropsAfterBytes }: Conversation,
  { answers, bytesHeard }: Listener,
): "send" | "wait" | "left" | "dropped" {
  if (dropsAfterBytes !== null && bytesHeard() >= dropsAfterBytes) return "dropped";
  const saysClose = /close/i.test(answers.at(-1)?.headers.get("connection") ?? "");
  // Whoever says so has to close, and more than was asked for must not come.
  if (halfCloses || saysClose) return "wait";
  if (answers.length >= requests.length) return "left";
  return manner === "one by one" ? "send" : "wait";
}

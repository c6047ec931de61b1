/** Has one conversation with the server, over a socket of its own. */
import { connect, type Socket } from "node:net";
import { damaged, places } from "../arbitraries.ts";
import type { Conversation } from "./any-conversation.ts";
import { readAnswers, type Answer } from "./read-answers.ts";
import { bytesOf } from "./request.ts";
import type { Keys } from "./secrets.ts";

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

export function converse(conversation: Conversation, port: number, keys: Keys): Promise<Exchange> {
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
  socket.on("connect", () => speaks(conversation, listener, socket, sent, keys));
  if (dropsAfterBytes === 0) socket.on("connect", () => setImmediate(() => end("dropped")));
  socket.on("data", (chunk: Buffer) => {
    const before = answers.length;
    listener.hear(chunk);
    const next = nextStep(conversation, listener);
    if (next === "send" && answers.length > before)
      sendNext(conversation, listener, socket, sent, keys);
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
  keys: Keys,
) => void;

/** The request after the latest answer. */
const sendNext: Speak = ({ requests }, { answers }, socket, sent, keys) => {
  const etag = answers.at(-1)?.headers.get("etag") ?? noTag;
  const bytes = bytesOf(requests[answers.length]!, keys, etag);
  sent.push(bytes);
  socket.write(bytes);
};

const sendAll: Speak = ({ requests, damages, cuts, halfCloses }, _, socket, sent, keys) => {
  const whole = Buffer.concat(requests.map((request) => bytesOf(request, keys, noTag)));
  const bytes = Buffer.from(damaged(whole.toString("latin1"), damages), "latin1");
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

/** Each piece in a turn of its own, so that the server reads them one by one more often than not. */
function sendInPieces(
  socket: Socket,
  bytes: Buffer,
  cuts: readonly number[],
  halfCloses: boolean,
): void {
  const ends = [
    ...new Set(cuts.map((cut) => Math.floor((cut / places) * bytes.length))),
    bytes.length,
  ];
  let from = 0;
  const sendNext = () => {
    const to = ends.shift();
    if (socket.destroyed) return;
    if (to === undefined) {
      if (halfCloses) socket.end();
      return;
    }
    socket.write(bytes.subarray(from, to));
    from = to;
    if (ends.length === 0) sendNext();
    else setImmediate(sendNext);
  };
  sendNext();
}

type Listener = ReturnType<typeof openListener>;

/** Collects what comes back in a conversation and cuts it into answers. */
function openListener({ requests, manner }: Conversation) {
  const isRaw = manner === "raw bytes";
  const reader = readAnswers((index) => (isRaw ? null : (requests[index]?.method ?? null)));
  const answers: Answer[] = [];
  const interim: Answer[] = [];
  const held: Buffer[] = [];
  let bytes = 0;
  const read = (chunk: Buffer) => {
    for (const answer of reader.push(chunk)) (answer.status < 200 ? interim : answers).push(answer);
  };
  return {
    /** Whole answers in their order, without interim ones (1xx). */
    answers,
    interim,
    hear(chunk: Buffer) {
      bytes += chunk.length;
      // Without a method an answer can only be told from its neighbours, so all of them have to be there.
      if (isRaw) held.push(chunk);
      else read(chunk);
    },
    bytesHeard: () => bytes,
    /** Returns what is no whole answer. */
    end() {
      if (held.length > 0) read(Buffer.concat(held));
      return reader.rest();
    },
  };
}

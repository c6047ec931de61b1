/** Collects what comes back in a conversation and cuts it into answers. */
import type { Conversation } from "./make-conversation.ts";
import { readAnswers, type Answer } from "./read-answers.ts";

export interface Listener {
  /** Whole answers in their order, without interim ones (1xx). */
  readonly answers: readonly Answer[];
  readonly interim: readonly Answer[];
  hear(chunk: Buffer): void;
  bytesHeard(): number;
  /** @returns what is no whole answer. */
  end(): Buffer;
}

export function openListener({ requests, manner }: Conversation): Listener {
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
    answers,
    interim,
    hear(chunk) {
      bytes += chunk.length;
      // Without a method an answer can only be told from its neighbours, so all of them have to be there.
      if (isRaw) held.push(chunk);
      else read(chunk);
    },
    bytesHeard: () => bytes,
    end() {
      if (held.length > 0) read(Buffer.concat(held));
      return reader.rest();
    },
  };
}

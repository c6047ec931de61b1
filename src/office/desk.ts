/** The office's side of the desk: asks the HTTP thread, and waits for its word. */
import type { Standing } from "#limits/counters.ts";
import type { ApiAnswer, Desk, DeskQuestion, DeskReply } from "./message.ts";

interface AskedDesk extends Desk {
  /** The word to an earlier question. */
  hear(number: number, reply: DeskReply): void;
}

/** @param ask sends a question under a number. */
export function openDesk(ask: (number: number, question: DeskQuestion) => void): AskedDesk {
  const open = new Map<number, (reply: DeskReply) => void>();
  let number = 0;
  /** @param question decides what the reply is. */
  const put = <R extends DeskReply>(question: DeskQuestion) =>
    new Promise<R>((resolve) => {
      open.set(++number, (reply) => resolve(reply as R));
      ask(number, question);
    });
  return {
    call: (call) => put<ApiAnswer>({ ask: "call", with: [call] }),
    look: (account, quotas) => put<Standing>({ ask: "look", with: [account, quotas] }),
    hear(answered, reply) {
      open.get(answered)?.(reply);
      open.delete(answered);
    },
  };
}

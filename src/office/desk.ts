/** The office's side of the desk: asks the HTTP thread, and waits for its word. */
import type { Standing } from "#limits/counters.ts";
import type { Desk, DeskQuestion } from "./message.ts";

export interface AskedDesk extends Desk {
  /** The word to an earlier question. */
  hear(number: number, standing: Standing): void;
}

/** @param ask sends a question under a number. */
export function openDesk(ask: (number: number, question: DeskQuestion) => void): AskedDesk {
  const open = new Map<number, (standing: Standing) => void>();
  let number = 0;
  const put = (question: DeskQuestion) =>
    new Promise<Standing>((resolve) => {
      open.set(++number, resolve);
      ask(number, question);
    });
  return {
    take: (account, quotas) => put({ ask: "take", with: [account, quotas] }),
    look: (account, quotas) => put({ ask: "look", with: [account, quotas] }),
    hear(answered, standing) {
      open.get(answered)?.(standing);
      open.delete(answered);
    },
  };
}

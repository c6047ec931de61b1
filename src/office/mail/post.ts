/** The office's mail: letters are sent one after the other, and no page waits for it. */
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { OfficeSettings } from "#office/message.ts";
import { openCarrier } from "./carrier.ts";
import type { Letter } from "./letters.ts";
import { sendingFault } from "./sending-fault.ts";

export interface Post {
  /** Returns at once. What cannot be sent is told to the operator. */
  send(letter: Letter): void;
  /** No mail leaves this service. */
  isOff: boolean;
  /** Waits for what is under way, a second or two at most. */
  close(): Promise<void>;
}

interface Patience {
  /** Between the first try and the second, the second and the third. */
  pausesMilliseconds: readonly number[];
  closeMilliseconds: number;
}

const usualPatience: Patience = { pausesMilliseconds: [5000, 60_000], closeMilliseconds: 1500 };
/** Beyond them the mail server has been away for long, and memory is for other things. */
const lettersMax = 1000;

const noPost: Post = { send() {}, isOff: true, async close() {} };

/** @param complain told what an operator should know, never an address, a link or a password. */
export async function openPost(
  { smtpUrl, mailFrom }: Pick<OfficeSettings, "smtpUrl" | "mailFrom">,
  complain: (complaint: string) => void,
  { pausesMilliseconds, closeMilliseconds } = usualPatience,
): Promise<Post> {
  if (smtpUrl === null) return noPost;
  const carrier = await openCarrier(smtpUrl, mailFrom);
  const underWay = new Set<Promise<void>>();
  const isEnding = new AbortController();
  const isOver = new AbortController();
  const carry = inTurn((letter) => carrier.carry(letter, isOver.signal));

  const deliver = async (letter: Letter) => {
    // The answer leaves first: what a letter costs must not tell that somebody gets one.
    await nextTurn();
    for (const wait of [...pausesMilliseconds, null]) {
      try {
        return await carry(letter);
      } catch (error) {
        const fault = sendingFault(error as Error);
        if (wait === null || fault.isFinal)
          return complain(
            `A letter could not be sent through ${carrier.host} (${fault.word}). Whoever waits for it has to ask again.`,
          );
      }
      // Whoever closes the post has no time for pauses: what is left of the tries follows at once.
      await pause(wait, undefined, { signal: isEnding.signal }).catch(() => {});
    }
  };

  return {
    isOff: false,
    send(letter) {
      if (underWay.size >= lettersMax)
        return complain(
          `${lettersMax} letters wait for ${carrier.host} already, so another one was dropped.`,
        );
      const delivery = deliver(letter).finally(() => underWay.delete(delivery));
      underWay.add(delivery);
    },
    async close() {
      isEnding.abort();
      const deadline = setTimeout(() => isOver.abort(), closeMilliseconds);
      await Promise.all(underWay);
      clearTimeout(deadline);
    },
  };
}

/** One at a time: a mail server that is away is not asked by hundreds at once. */
function inTurn(carry: (letter: Letter) => Promise<void>) {
  let last: Promise<unknown> = Promise.resolve();
  return (letter: Letter): Promise<void> => {
    const carried = last.then(() => carry(letter));
    last = carried.catch(() => {});
    return carried;
  };
}

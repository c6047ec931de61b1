/** Hashes and checks passwords, a few at a time: each takes 19 MiB and 30 ms, so a flood could exhaust the machine. */
import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { DomainError } from "#store/store-fault.ts";

/** Levels of trust in a sender. The number is how many of the queue's three shares the sender may fill. */
const shares = { failed: 1, clean: 2, known: 3 } as const;
export type Trust = keyof typeof shares;

export type Passwords = ReturnType<typeof openPasswords>;

const usualOptions = {
  // One of OWASP's equivalent choices: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
  memoryKiB: 19_456,
  passes: 2,
  /**
   * Maximum number of calls to `work` at a time. The thread pool has four threads, which file access and DNS need too.
   */
  runningMax: 2,
  /** Maximum number of callers waiting in each share of the queue. */
  waitingMax: 8,
};

/** Cost of a hash. It is stored with each password. */
type Argon2Cost = Pick<typeof usualOptions, "memoryKiB" | "passes">;

export function openPasswords(options: Partial<typeof usualOptions> = {}) {
  const { runningMax, waitingMax, ...cost } = { ...usualOptions, ...options };
  const hasher = openHasher(cost);
  const waiting: (() => void)[] = [];
  let running = 0;

  /** Passes the slot to the next caller in the queue, or frees it. */
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  const enter = async (trust: Trust) => {
    if (running < runningMax) running += 1;
    else if (waiting.length < waitingMax * shares[trust])
      await new Promise<void>((resolve) => waiting.push(resolve));
    else
      throw new DomainError(
        "busy",
        "The service is checking too many passwords at this moment, so nothing was done. Try again in a few seconds.",
      );
  };

  return {
    /**
     * Runs `work` as soon as fewer than `runningMax` calls are running.
     * @throws DomainError `busy` at once, without running `work`, if too many are waiting for a sender of this trust.
     */
    async inTurn<R>(work: (hasher: Hasher) => Promise<R>, trust: Trust = "failed"): Promise<R> {
      await enter(trust);
      try {
        return await work(hasher);
      } finally {
        leave();
      }
    },
  };
}

const nonceBytes = 16;
const tagBytes = 32;
const shape = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([\w+/]+)\$([\w+/]+)$/;

const compute = promisify(argon2);

export type Hasher = ReturnType<typeof openHasher>;

/** Opens a hasher of this cost. At the usual cost, each hash takes some 30 ms on the thread pool. */
const openHasher = (cost: Argon2Cost) => ({
  async hash(password: string): Promise<string> {
    const nonce = randomBytes(nonceBytes);
    const tag = await tagOf(password, nonce, cost);
    const texts = [nonce, tag].map((bytes) => bytes.toBase64({ omitPadding: true }));
    return `$argon2id$v=19$m=${cost.memoryKiB},t=${cost.passes},p=1$${texts.join("$")}`;
  },
  /**
   * Reports whether a password is right. Takes just as long if nothing is stored, so that the time does not reveal who
   * has an account.
   * @param stored hash; null if there is no such person.
   */
  async isPassword(password: string, stored: string | null): Promise<boolean> {
    const known = (stored === null ? null : read(stored)) ?? {
      cost,
      nonce: randomBytes(nonceBytes),
      tag: randomBytes(tagBytes),
    };
    return timingSafeEqual(await tagOf(password, known.nonce, known.cost), known.tag);
  },
});

const tagOf = (message: string, nonce: Buffer, { memoryKiB, passes }: Argon2Cost) =>
  compute("argon2id", {
    message,
    nonce,
    parallelism: 1,
    tagLength: tagBytes,
    memory: memoryKiB,
    passes,
  });

function read(stored: string): { cost: Argon2Cost; nonce: Buffer; tag: Buffer } | null {
  const [, memory, passes, nonce, tag] = shape.exec(stored) ?? [];
  if (nonce === undefined || tag === undefined) return null;
  return {
    cost: { memoryKiB: Number(memory), passes: Number(passes) },
    nonce: Buffer.from(nonce, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}

const passwordLengthMin = 8;
const passwordLengthMax = 128;

/** Hashes a password chosen through a link. @throws DomainError `invalid` as `checkPassword` does, or `busy`. */
export async function hashNew(
  passwords: Passwords,
  password: string,
  email: string,
): Promise<string> {
  checkPassword(password, email);
  return passwords.inTurn((hasher) => hasher.hash(password), "clean");
}

let common: ReadonlySet<string> | undefined;

/** Endings that make a common word no safer. */
const usualEnding = /(?:!|01|1!?|12|@?123!?|12345?6?|20\d\d)$/;

/**
 * Refuses a password that is too short, too long or common. Passwords are hashed exactly as sent: nothing is trimmed or
 * folded. No kinds of characters are required (NIST SP 800-63B, 3.1.1.2).
 * @param email the person's address. The password must not be the address or its part before the @.
 * @throws DomainError `invalid`.
 */
export function checkPassword(password: string, email = ""): void {
  const reason = faultOf(password, email);
  if (reason !== undefined) throw new DomainError("invalid", `The password ${reason}`);
}

function faultOf(password: string, email: string): string | undefined {
  const length = Array.from(password).length;
  if (length < passwordLengthMin)
    return `must have at least ${passwordLengthMin} characters. Four random words make a good one.`;
  if (length > passwordLengthMax) return `must have at most ${passwordLengthMax} characters.`;
  const lower = password.toLowerCase();
  if (lower === email.toLowerCase() || lower === email.toLowerCase().replace(/@.*/, ""))
    return "must be neither the e-mail address nor the part of it before the @. Four random words make a good one.";
  if (isCommon(lower)) return "is easy to guess. Four random words make a good one.";
  return undefined;
}

/** Reports whether a password is a common one, with or without a usual ending, or only repeats 1 or 2 characters. */
function isCommon(lower: string): boolean {
  common ??= new Set(
    readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8").split("\n"),
  );
  const isListed = common.has(lower) || common.has(lower.replace(usualEnding, ""));
  return isListed || /^(.{1,2})\1+.?$/su.test(lower);
}

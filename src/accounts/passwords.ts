/** Hashes and checks passwords, a few at a time: each costs 19 MiB and 30 ms, which would make a flood of them a weapon. */
import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { DomainError, StoreFault } from "#store/domain-error.ts";

export interface Hasher {
  hash(password: string): Promise<string>;
  /** @param stored null where there is nobody; it takes as long. */
  isPassword(password: string, stored: string | null): Promise<boolean>;
  /** Whether a stored password is to be hashed anew, now that it is known. */
  isOutdated(stored: string): boolean;
}

export interface Passwords {
  /**
   * Does its work once a place is free.
   * @throws DomainError `busy` at once where too many wait already; nothing of the work was done then.
   */
  inTurn<R>(work: (hasher: Hasher) => Promise<R>): Promise<R>;
}

interface PasswordOptions extends Argon2Cost {
  /** At a time. The system's pool has four threads, which files and names need too. */
  runningMax: number;
  waitingMax: number;
}

export function openPasswords(options: Partial<PasswordOptions> = {}): Passwords {
  const { runningMax, waitingMax, ...cost } = {
    ...usualCost,
    runningMax: 2,
    waitingMax: 8,
    ...options,
  };
  const hasher: Hasher = {
    hash: (password) => hashPassword(password, cost),
    isPassword: (password, stored) => isPassword(password, stored, cost),
    isOutdated: (stored) => isOutdated(stored, cost),
  };
  const waiting: (() => void)[] = [];
  let running = 0;

  /** A place that becomes free goes to the next that waits, and is not free in between. */
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  const enter = async () => {
    if (running < runningMax) running += 1;
    else if (waiting.length < waitingMax)
      await new Promise<void>((resolve) => waiting.push(resolve));
    else
      throw new StoreFault(
        "busy",
        "Too many people are signing in at this moment. Try again in a few seconds.",
      );
  };

  return {
    async inTurn(work) {
      await enter();
      try {
        return await work(hasher);
      } finally {
        leave();
      }
    },
  };
}

/** The text a password is stored as: argon2id with its parameters, so that those may change later. */
interface Argon2Cost {
  memoryKiB: number;
  passes: number;
}

/** One of OWASP's equal choices: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html */
const usualCost: Readonly<Argon2Cost> = { memoryKiB: 19_456, passes: 2 };

interface Stored {
  cost: Argon2Cost;
  nonce: Buffer;
  tag: Buffer;
}

const nonceBytes = 16;
const tagBytes = 32;
const shape = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([\w+/]+)\$([\w+/]+)$/;

const compute = promisify(argon2);

/** Off the thread, some 30 ms of a processor. */
async function hashPassword(password: string, cost: Argon2Cost): Promise<string> {
  const nonce = randomBytes(nonceBytes);
  const tag = await tagOf(password, nonce, cost);
  return `$argon2id$v=19$m=${cost.memoryKiB},t=${cost.passes},p=1$${base64(nonce)}$${base64(tag)}`;
}

/** Takes as long for a password that is nobody's (null), so that the time does not tell who has an account. */
async function isPassword(
  password: string,
  stored: string | null,
  usual: Argon2Cost,
): Promise<boolean> {
  const { cost, nonce, tag } = (stored === null ? null : read(stored)) ?? {
    cost: usual,
    nonce: randomBytes(nonceBytes),
    tag: randomBytes(tagBytes),
  };
  return timingSafeEqual(await tagOf(password, nonce, cost), tag);
}

/** Was it made with other parameters than those? */
function isOutdated(stored: string, { memoryKiB, passes }: Argon2Cost): boolean {
  const cost = read(stored)?.cost;
  return cost?.memoryKiB !== memoryKiB || cost.passes !== passes;
}

const tagOf = (message: string, nonce: Buffer, { memoryKiB, passes }: Argon2Cost) =>
  compute("argon2id", {
    message,
    nonce,
    parallelism: 1,
    tagLength: tagBytes,
    memory: memoryKiB,
    passes,
  });

function read(stored: string): Stored | null {
  const [, memory, passes, nonce, tag] = shape.exec(stored) ?? [];
  if (nonce === undefined || tag === undefined) return null;
  return {
    cost: { memoryKiB: Number(memory), passes: Number(passes) },
    nonce: Buffer.from(nonce, "base64"),
    tag: Buffer.from(tag, "base64"),
  };
}

/** Without padding, as the format of such texts has it. */
const base64 = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");

/** Which passwords people may choose: long enough, and none that everybody tries first. */
const passwordLengthMin = 8;
const passwordLengthMax = 128;

let common: ReadonlySet<string> | undefined;

/**
 * Taken exactly as sent: nothing is trimmed, folded or demanded of its characters (NIST SP 800-63B, 3.1.1.2).
 * @param email of whom it is for, which is no password either.
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
    return "must not be the e-mail address.";
  if (isCommon(lower))
    return "is one of those that everybody tries first. Four random words make a good one.";
  return undefined;
}

/** Also the same character, or the same two, over and over. */
function isCommon(lower: string): boolean {
  common ??= new Set(
    readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8").split("\n"),
  );
  return common.has(lower) || /^(.{1,2})\1+.?$/su.test(lower);
}

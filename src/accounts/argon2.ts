/** The text a password is stored as: argon2id with its parameters, so that those may change later. */
import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

export interface Argon2Cost {
  memoryKiB: number;
  passes: number;
}

/** One of OWASP's equal choices: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html */
export const usualCost: Readonly<Argon2Cost> = { memoryKiB: 19_456, passes: 2 };

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
export async function hashPassword(password: string, cost: Argon2Cost): Promise<string> {
  const nonce = randomBytes(nonceBytes);
  const tag = await tagOf(password, nonce, cost);
  return `$argon2id$v=19$m=${cost.memoryKiB},t=${cost.passes},p=1$${base64(nonce)}$${base64(tag)}`;
}

/** Takes as long for a password that is nobody's (null), so that the time does not tell who has an account. */
export async function isPassword(
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
export function isOutdated(stored: string, { memoryKiB, passes }: Argon2Cost): boolean {
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

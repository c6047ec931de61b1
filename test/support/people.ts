/** A control store with people in it, who sign up as anybody does; passwords are hashed cheaply. */
import type { TestContext } from "node:test";
import type { Client } from "#accounts/throttle.ts";
import { listAudit } from "#store/audit.ts";
import { insertMember } from "#accounts/members.ts";
import { openPasswords } from "#accounts/passwords.ts";
import { completeSignUp, requestLink, signIn } from "#accounts/credentials.ts";
import { DomainError, type DomainErrorKind } from "#store/store-fault.ts";
import { noon, openEmptyControl } from "./control.ts";

export const cheap = { memoryKiB: 8, passes: 1 };
export const goodPassword = "four words nobody guesses";

export const clientAt = (address: string, browserToken: string | null = null): Client => ({
  address,
  userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  browserToken,
});

export async function openPeople(t: TestContext) {
  const { place, dataDir, control } = await openEmptyControl(t);
  const passwords = openPasswords(cheap);
  let networks = 0;
  /** Everybody comes from a network of their own, unless a test says otherwise. */
  const client = (browserToken: string | null = null) =>
    clientAt(`10.0.${networks >> 8}.${networks++ & 255}`, browserToken);
  const askFor = (address: string, now = noon) =>
    requestLink(control, "sign-up", { address, client: client(), now });
  const complete = (token: string, now = noon, accountName: string | null = null) =>
    completeSignUp(control, passwords, {
      token,
      password: goodPassword,
      accountName,
      client: client(),
      now,
    });
  const signUp = async (address: string, now = noon) => {
    const { token } = await askFor(address, now);
    const signedUp = await complete(token, now);
    const account = await control.database
      .selectFrom("account")
      .select(["number", "id", "name"])
      .where("id", "=", signedUp.accountId)
      .executeTakeFirstOrThrow();
    return { ...signedUp, account };
  };
  /** Makes somebody a member who was not invited. */
  const add = (account: number, person: string, now = noon) =>
    control.write((transaction) =>
      insertMember(transaction, { account, person, role: "member", now }),
    );
  const tryIn = (address: string, password: string, now = noon, from = client()) =>
    signIn(control, passwords, { address, password, client: from, now });
  /** Actions, the newest first. */
  const actions = async () =>
    (await listAudit(control.database, { limit: 1000 })).map(({ action }) => action);
  const asking = { client, askFor, complete, signUp, add, tryIn };
  return { place, dataDir, control, passwords, ...asking, actions };
}

export const faultOf =
  (kind: DomainErrorKind, words = /./) =>
  (error: unknown): boolean =>
    error instanceof DomainError && error.kind === kind && words.test(error.message);

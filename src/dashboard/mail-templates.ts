/** The messages that are mailed: plain text with at most one link. */
import type { ListedKey } from "#keys/keys.ts";

export interface Mail {
  to: string;
  subject: string;
  /** Plain text; lines end with a line feed. */
  text: string;
}

export interface LinkMail {
  to: string;
  url: string;
  /** Expiry in ISO 8601. */
  expiresAt: string;
}

const mailOf = (to: string, subject: string, ...paragraphs: readonly string[]): Mail => ({
  to,
  subject,
  text: `${paragraphs.join("\n\n")}\n`,
});

const notYou = (deed: string, comfort = "Nothing changes unless the link is used.") =>
  `If you did not ${deed}, ignore this message. ${comfort}`;

/**
 * Messages with a one-time link. `before` has the paragraphs above the link. `after` is for recipients who did not ask
 * for the message.
 */
const linkWords = {
  signUp: {
    subject: "Finish signing up",
    before: ["Choose a password on this page, and your account is ready:"],
    after: notYou("ask to sign up with this address"),
  },
  /** Message to somebody who signs up a second time. The page does not reveal that they signed up before. */
  known: {
    subject: "You have already signed up",
    before: [
      "You asked to sign up, but you have already signed up with this address. Sign in with your password.",
      "If you have forgotten your password, choose a new one on this page:",
    ],
    after: notYou("ask to sign up", "Nothing has changed."),
  },
  reset: {
    subject: "Choose a new password",
    before: [
      "Choose a new password on this page. You will then be signed out of every other browser.",
    ],
    after: notYou("ask for this link", "Your password has not changed."),
  },
  addressChange: {
    subject: "Confirm your new e-mail address",
    before: ["To sign in with this address from now on, confirm the change on this page:"],
    after: notYou("ask to sign in with this address"),
  },
};

type LinkWords = (typeof linkWords)["signUp"];

const withLink = ({ to, url, expiresAt }: LinkMail, { subject, before, after }: LinkWords): Mail =>
  mailOf(to, subject, ...before, url, `The link works once, until ${exact(expiresAt)}.`, after);

export const linkMail = (kind: keyof typeof linkWords, link: LinkMail): Mail =>
  withLink(link, linkWords[kind]);

export const invitationMail = (link: LinkMail, accountName: string): Mail =>
  withLink(link, {
    subject: `Invitation to ${accountName}`,
    before: [`You are invited to the account "${accountName}". Join it on this page:`],
    after: notYou("expect an invitation"),
  });

/** Returns the message to the holder of an address that somebody else wants for their login. */
export const addressTakenMail = (to: string): Mail =>
  mailOf(
    to,
    "This e-mail address is already in use",
    "Somebody asked to change the address of another login to this address, which your login already uses. Nothing was changed.",
    "If it was you, sign in with this address, or delete the login that uses it and then ask for the change again. If it was not you, ignore this message.",
  );

/** Returns the message to a login's former address, where an intruder who changed the address cannot read it. */
export const addressChangedMail = (to: string): Mail =>
  mailOf(
    to,
    "Your e-mail address was changed",
    "The e-mail address of your login was changed. From now on, you sign in with the new address, and this address gets no more mail.",
    "If you did not change the address, tell the operator of the service at once: somebody else can sign in as you.",
  );

/** Returns the message about a changed password. @param url page that mails a link for choosing another password. */
export const passwordChangedMail = (to: string, url: string): Mail =>
  mailOf(
    to,
    "Your password was changed",
    "Your password was changed, and every other browser was signed out.",
    "If you did not change your password, choose a new one at once on this page:",
    url,
  );

interface AccountMail {
  to: string;
  accountName: string;
  /** URL of the page with the details. */
  url: string;
}

type ExpiringKey = Pick<ListedKey, "name" | "hint" | "expiresAt">;

export const keyExpiresMail = ({ to, accountName, url }: AccountMail, key: ExpiringKey): Mail =>
  mailOf(
    to,
    `A key of ${accountName} expires soon`,
    `The key "${key.name}" (${key.hint}…) of the account "${accountName}" expires at ${exact(key.expiresAt!)}. From then on, requests with this key are refused.`,
    "Rotate the key on this page, where you choose how long the old key goes on working beside the new one:",
    url,
  );

/** Returns the message about a day's quota. @param used requests in the last 24 hours. @param quota their maximum. */
export const quotaMail = (
  { to, accountName, url }: AccountMail,
  { used, quota }: { used: number; quota: number },
): Mail =>
  mailOf(
    to,
    `${accountName} has used ${Math.floor((100 * used) / quota)}% of its daily quota`,
    `The account "${accountName}" used ${used} of the ${quota} requests of its quota in the last 24 hours. While the quota is used up, requests are refused; each request stops counting after 24 hours.`,
    "See the usage of the last 24 hours by hour, and of the last 30 days by key and operation, on this page:",
    url,
  );

const exact = (time: string) => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

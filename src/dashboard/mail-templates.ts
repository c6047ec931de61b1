/** The messages that are mailed: plain text with at most one link. */
import type { ListedKey } from "#keys/keys.ts";

export interface Mail {
  to: string;
  subject: string;
  /** Plain text; lines end with a line feed. */
  text: string;
}

/** Recipient, URL and expiry of a link that works once. */
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

const notYou = (deed: string, comfort = "Nothing happens unless the link is opened.") =>
  `If it was not you who ${deed}, do nothing. ${comfort}`;

/** Messages with a link that works once: the paragraphs before it, and the one for a recipient who did not ask for it. */
const linkWords = {
  signUp: {
    subject: "Finish signing up",
    before: ["Choose a password on this page, and your account is ready:"],
    after: notYou("signed up with your address"),
  },
  /** For somebody who signs up a second time. The page does not reveal that. */
  known: {
    subject: "You have already signed up",
    before: [
      "You asked to sign up, but this address is already signed up. Sign in with your password.",
      "If you have forgotten it, choose a new one on this page:",
    ],
    after: notYou("signed up with your address", "Nothing has changed."),
  },
  reset: {
    subject: "Choose a new password",
    before: ["Choose a new password on this page, which signs you out everywhere:"],
    after: notYou("asked for this link", "Your password is still the same."),
  },
  addressChange: {
    subject: "Confirm your new address",
    before: ["Confirm on this page that you will sign in with this address from now on:"],
    after: notYou("wants to sign in with your address"),
  },
};

type LinkWords = (typeof linkWords)["signUp"];

const withLink = ({ to, url, expiresAt }: LinkMail, { subject, before, after }: LinkWords): Mail =>
  mailOf(to, subject, ...before, url, `The link works once, until ${exact(expiresAt)}.`, after);

export const linkMail = (kind: keyof typeof linkWords, link: LinkMail): Mail =>
  withLink(link, linkWords[kind]);

/** Returns an invitation. @param accountName account to join; null for a new account of the recipient's own. */
export const invitationMail = (link: LinkMail, accountName: string | null): Mail =>
  withLink(link, {
    subject: accountName === null ? "Your invitation" : `Invitation to ${accountName}`,
    before: [
      accountName === null
        ? "You are invited to an account of your own. Set it up on this page:"
        : `You are invited to the account "${accountName}". Join it on this page:`,
    ],
    after:
      "If you do not expect an invitation, do nothing. Nothing happens unless the link is opened.",
  });

/** Returns the message to the holder of an address that somebody else wants to change to. */
export const addressTakenMail = (to: string): Mail =>
  mailOf(
    to,
    "This address is already in use",
    "Somebody who is signed in asked to change their e-mail address to this one, but it is already in use, so nothing was changed.",
    "If it was you, sign in with this address, or delete the login that has it and ask again.",
  );

/** Returns the message to the former address. An intruder who changed the address reads only mail to the new one. */
export const addressChangedMail = (to: string): Mail =>
  mailOf(
    to,
    "Your address was changed",
    "You sign in with another address from now on; this one gets no more mail.",
    "If it was not you, tell the operator of the service at once: somebody else is in your account.",
  );

/** Returns the message about a changed password. @param url page that mails a link for choosing another password. */
export const passwordChangedMail = (to: string, url: string): Mail =>
  mailOf(
    to,
    "Your password was changed",
    "Your password was changed, and every other browser was signed out.",
    "If it was not you, choose a new one at once:",
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
    `The key "${key.name}" (${key.hint}…) of the account "${accountName}" expires on ${exact(key.expiresAt!)}. Requests with it are refused from then on.`,
    "Rotate it on this page; the old one goes on working until it expires:",
    url,
  );

/** Returns the message about a day's quota. @param used requests in the last 24 hours, of `quota` that are allowed. */
export const quotaMail = (
  { to, accountName, url }: AccountMail,
  { used, quota }: { used: number; quota: number },
): Mail =>
  mailOf(
    to,
    `${accountName} has used ${Math.floor((100 * used) / quota)}% of its daily quota`,
    `The account "${accountName}" has made ${used} of the ${quota} requests that it may make in 24 hours. Once all are used, further requests are refused until earlier ones are 24 hours old.`,
    "See which keys and operations they come from:",
    url,
  );

const exact = (time: string) => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

/** The messages that are mailed: plain text with at most one link. */
import type { ListedKey } from "#keys/keys.ts";

export interface Mail {
  to: string;
  subject: string;
  /** Plain text; lines end with a line feed. */
  text: string;
}

/** Recipient, URL and expiry of a link that works once. */
interface LinkMail {
  to: string;
  url: string;
  /** Expiry in ISO 8601. */
  expiresAt: string;
}

/**
 * Returns a message with a link.
 * @param before paragraphs above the link. @param notYou paragraph for a recipient who did not ask for the link.
 */
const linkMail = (
  { to, url, expiresAt }: LinkMail,
  subject: string,
  before: readonly string[],
  notYou: string,
): Mail => ({
  to,
  subject,
  text: paragraphs(...before, url, `The link works once, until ${exact(expiresAt)}.`, notYou),
});

export const signUpMail = (link: LinkMail): Mail =>
  linkMail(
    link,
    "Finish signing up",
    ["Choose a password on this page, and your account is ready:"],
    notYou("signed up with your address", "Nothing happens unless the link is opened."),
  );

/** Returns the message for somebody who signs up a second time. The page does not reveal that. */
export const knownMail = (link: LinkMail): Mail =>
  linkMail(
    link,
    "You have already signed up",
    [
      "You asked to sign up, but this address is already signed up. Sign in with your password.",
      "If you no longer know it, choose a new one on this page:",
    ],
    notYou("signed up with your address", "Nothing has changed."),
  );

/** Returns an invitation. @param accountName account to join; null for a new account of the recipient's own. */
export const invitationMail = (link: LinkMail, accountName: string | null): Mail =>
  linkMail(
    link,
    accountName === null ? "Your invitation" : `Invitation to ${accountName}`,
    [
      accountName === null
        ? "You are invited to an account of your own. Set it up on this page:"
        : `You are invited to the account "${accountName}". Join it on this page:`,
    ],
    "If you do not expect an invitation, do nothing. Nothing happens unless the link is opened.",
  );

export const resetMail = (link: LinkMail): Mail =>
  linkMail(
    link,
    "Choose a new password",
    ["Choose a new password on this page, which signs you out everywhere:"],
    notYou("asked for this link", "Your password is still the same."),
  );

export const addressChangeMail = (link: LinkMail): Mail =>
  linkMail(
    link,
    "Confirm your new address",
    ["Confirm on this page that you will sign in with this address from now on:"],
    notYou("wants to sign in with your address", "Nothing happens unless the link is opened."),
  );

/** Returns the message to the holder of an address that somebody else wants to change to. */
export const addressTakenMail = ({ to }: { to: string }): Mail => ({
  to,
  subject: "This address is already in use",
  text: paragraphs(
    "Somebody who is signed in asked to change their e-mail address to this one, but it is already in use, so nothing was changed.",
    "If it was you, sign in with this address, or delete the profile that has it and ask again.",
  ),
});

/** Returns the message to the former address. An intruder who changed the address reads only mail to the new one. */
export const addressChangedMail = ({ to }: { to: string }): Mail => ({
  to,
  subject: "Your address was changed",
  text: paragraphs(
    "You sign in with another address from now on; this one gets no more mail.",
    "If it was not you, tell the operator of the service at once: somebody else is in your account.",
  ),
});

/** Returns the message about a changed password. @param url page that mails a link for choosing another password. */
export const passwordChangedMail = ({ to, url }: { to: string; url: string }): Mail => ({
  to,
  subject: "Your password was changed",
  text: paragraphs(
    "Your password was changed, and every other browser was signed out.",
    "If it was not you, choose a new one at once:",
    url,
  ),
});

interface AccountMail {
  to: string;
  accountName: string;
  /** URL of the page with the details. */
  url: string;
}

interface KeyMail extends AccountMail {
  /** The key that is about to expire. */
  key: Pick<ListedKey, "name" | "hint" | "expiresAt">;
}

export const keyExpiresMail = ({ to, accountName, key, url }: KeyMail): Mail => ({
  to,
  subject: `A key of ${accountName} expires soon`,
  text: paragraphs(
    `The key "${key.name}" (${key.hint}…) of the account "${accountName}" expires on ${exact(key.expiresAt!)}. Requests with it are refused from then on.`,
    "Rotate it on this page; the old one goes on working until it expires:",
    url,
  ),
});

interface QuotaMail extends AccountMail {
  /** Number of requests in the last 24 hours. */
  used: number;
  /** Number of requests allowed in 24 hours. */
  quota: number;
}

export const quotaMail = ({ to, accountName, used, quota, url }: QuotaMail): Mail => ({
  to,
  subject: `${accountName} has used ${Math.floor((100 * used) / quota)}% of its daily quota`,
  text: paragraphs(
    `The account "${accountName}" has made ${used} of the ${quota} requests that it may make in 24 hours. Once all are used, further requests are refused until earlier ones are 24 hours old.`,
    "See which keys and operations they come from:",
    url,
  ),
});

const notYou = (deed: string, comfort: string) =>
  `If it was not you who ${deed}, do nothing. ${comfort}`;

const exact = (time: string) => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

const paragraphs = (...parts: readonly string[]): string => `${parts.join("\n\n")}\n`;

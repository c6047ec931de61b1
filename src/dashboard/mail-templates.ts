/** The texts of all mail: plain text, one link at most, and what to do if it was not you. */
import type { ListedKey } from "#keys/keys.ts";

export interface Mail {
  to: string;
  subject: string;
  /** Plain text; lines end with a line feed. */
  text: string;
}

/** A link that works once. */
interface LinkMail {
  to: string;
  url: string;
  /** ISO 8601. */
  expiresAt: string;
}

export const signUpMail = ({ to, url, expiresAt }: LinkMail): Mail => ({
  to,
  subject: "Finish signing up",
  text: paragraphs(
    "Choose a password on this page, and your account is there:",
    url,
    `The link works once, until ${exact(expiresAt)}.`,
    notYou("signed up with your address", "Without the link nothing comes of it."),
  ),
});

/** Writes to somebody who signs up a second time: the page itself says the same to everybody. */
export const knownMail = ({ to, url, expiresAt }: LinkMail): Mail => ({
  to,
  subject: "You have signed up already",
  text: paragraphs(
    "You asked to sign up, but this address is signed up already. Sign in with your password.",
    "If you no longer know it, choose a new one on this page:",
    url,
    `The link works once, until ${exact(expiresAt)}.`,
    notYou("signed up with your address", "Nothing has changed."),
  ),
});

export const invitationMail = ({
  to,
  url,
  expiresAt,
  accountName,
}: LinkMail & { accountName: string | null }): Mail => ({
  to,
  subject: accountName === null ? "Your invitation" : `Invitation to ${accountName}`,
  text: paragraphs(
    accountName === null
      ? "You are invited to an account of your own. Take it on this page:"
      : `You are invited to the account "${accountName}". Join it on this page:`,
    url,
    `The link works once, until ${exact(expiresAt)}.`,
    "If you expect no invitation, leave the link alone: without it nothing comes of this.",
  ),
});

export const resetMail = ({ to, url, expiresAt }: LinkMail): Mail => ({
  to,
  subject: "Choose a new password",
  text: paragraphs(
    "Choose a new password on this page:",
    url,
    `The link works once, until ${exact(expiresAt)}. The new password signs you out everywhere.`,
    notYou("asked for this link", "Your password is still the same."),
  ),
});

export const addressChangeMail = ({ to, url, expiresAt }: LinkMail): Mail => ({
  to,
  subject: "Confirm your new address",
  text: paragraphs(
    "Confirm on this page that you will sign in with this address from now on:",
    url,
    `The link works once, until ${exact(expiresAt)}.`,
    notYou("wants to sign in with your address", "Without the link nothing comes of it."),
  ),
});

/** Writes to an address that somebody wants to change to, though somebody signs in with it already. */
export const addressTakenMail = ({ to }: { to: string }): Mail => ({
  to,
  subject: "This address is signed up already",
  text: paragraphs(
    "Somebody who is signed in asked to change to this address, but it is signed up by itself already, so nothing was changed.",
    "If it was you, sign in with this address, or delete that sign-up first and ask again.",
  ),
});

/** Writes to the former address: somebody who took over the account reads only the new address's mail. */
export const addressChangedMail = ({ to }: { to: string }): Mail => ({
  to,
  subject: "Your address was changed",
  text: paragraphs(
    "You sign in with another address from now on; no mail comes to this one any more.",
    "If it was not you, tell the operator of the service at once: somebody else is in your account.",
  ),
});

/** Writes that the password was changed. @param url page on which one asks for a new password. */
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
  /** URL of the page that says more. */
  url: string;
}

interface KeyMail extends AccountMail {
  /** A key that expires. */
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
  /** Requests of the last 24 hours. */
  used: number;
  /** Requests that the account may make in 24 hours. */
  quota: number;
}

export const quotaMail = ({ to, accountName, used, quota, url }: QuotaMail): Mail => ({
  to,
  subject: `${accountName} has used ${Math.floor((100 * used) / quota)} % of its day`,
  text: paragraphs(
    `The account "${accountName}" has made ${used} of the ${quota} requests that it may make in 24 hours. Beyond them requests are refused until earlier ones are 24 hours old.`,
    "Which keys and operations they come from:",
    url,
  ),
});

const notYou = (deed: string, comfort: string) =>
  `If it was not you who ${deed}, do nothing. ${comfort}`;

const exact = (time: string) => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

const paragraphs = (...parts: readonly string[]): string => `${parts.join("\n\n")}\n`;

/** How to get a key on this server, as the public pages explain it. */
import { html, type Html, type Part } from "./html.ts";

export interface KeyFacts {
  /** Null if the account pages are not served. */
  account: { url: string; isOpen: boolean } | null;
  /** Whether this is `serve --demo`, which prints a key. */
  isDemo: boolean;
}

export const wayToKey = ({ account, isDemo }: KeyFacts): Html =>
  html`${isDemo && "This is a demo: the key that it printed at its start works for a day. "}${wayOf(account)}`;

function wayOf(account: KeyFacts["account"]): Part {
  if (account === null) return "Ask the operator of this service for an API key.";
  return account.isOpen
    ? html`<a href="${account.url}/sign-up">Sign up</a> and create a key yourself, or
        <a href="${account.url}">sign in</a> to the account you have.`
    : html`Ask the operator of this service for an account, or
        <a href="${account.url}">sign in</a> to the one you have and create a key there.`;
}

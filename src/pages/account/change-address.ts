/** The page on which somebody asks for another e-mail address. */
import { html } from "#pages/html.ts";
import { faultNote, field } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";

interface ChangeAddress {
  frame: Frame;
  typed?: string;
  fault?: string;
}

export const changeAddressPage = ({ frame, typed, fault }: ChangeAddress): string =>
  accountPage({
    title: "Change address",
    frame,
    main: html`<h1>Change your address</h1>
      <p>
        We mail a link to the new address. You go on signing in with
        <strong class="name">${frame.email}</strong> until you have followed it.
      </p>
      ${faultNote(fault)}
      <form class="form" method="post" action="/account/settings/address">
        ${field({ name: "email", label: "New e-mail address", type: "email", autocomplete: "email", value: typed })}
        ${field({ name: "password", label: "Password", type: "password", autocomplete: "current-password" })}
        <button>Mail me a link</button>
      </form>`,
  });

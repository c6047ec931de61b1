/** The page on which somebody who knows the present password chooses another. */
import { html } from "#pages/html.ts";
import { faultNote, field } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";
import { passwordFields } from "./link.ts";

export const changePasswordPage = (frame: Frame, fault?: string): string =>
  accountPage({
    title: "Change password",
    frame,
    main: html`<h1>Change your password</h1>
      <p>Every other browser is signed out.</p>
      ${faultNote(fault)}
      <form class="form" method="post" action="/account/settings/password">
        ${field({ name: "present", label: "Present password", type: "password", autocomplete: "current-password" })}
        ${passwordFields(frame.email, "next")}
        <button>Change password</button>
      </form>
      <p>
        You no longer know it? <a href="/account/forgot">Ask for a link</a> to choose a new one.
      </p>`,
  });

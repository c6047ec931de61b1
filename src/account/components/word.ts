/** A page with a single message: what was done, or why it was not. */
import { html, type Part } from "#pages/html.ts";
import { accountPage, type Frame } from "./frame.ts";

/** @param next the link below the message. */
export const wordPage = (
  title: string,
  text: Part,
  frame: Frame | null = null,
  next: { href: string; label: string } = { href: "/account", label: "To your account" },
): string =>
  accountPage({
    title,
    frame,
    main: html`<h1>${title}</h1>
      <p>${text}</p>
      <p><a class="button" href="${next.href}">${next.label}</a></p>`,
  });

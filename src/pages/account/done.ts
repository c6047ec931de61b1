/** What was just done, in one sentence, on the page one comes back to. */
import { html, type Part } from "#pages/html.ts";

/** @param done the word after `?done=`; what `sentences` does not know says nothing. */
export const doneNote = (sentences: Readonly<Record<string, string>>, done: string | null): Part =>
  done !== null &&
  Object.hasOwn(sentences, done) &&
  html`<p class="done" role="status">${sentences[done]}</p>`;

/** The parts of forms on the account pages: fields, choices, and notes above a form. */
import { html, type Html, type Part } from "#pages/html.ts";

interface Field {
  name: string;
  label: string;
  type?: "text" | "email" | "password" | "search" | "date" | "datetime-local";
  value?: string | undefined;
  /** What browsers fill it with (HTML, autofill). */
  autocomplete?: string;
  hint?: Part;
  isOptional?: boolean;
  lengthMax?: number;
}

export const field = (given: Field): Html => {
  const { name, label, type = "text", value, autocomplete = "off", hint, lengthMax } = given;
  return html`<label
    >${label} ${hint !== undefined && html`<span class="muted">${hint}</span>`}
    <input
      name="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      ${value !== undefined && html`value="${value}"`}
      ${given.isOptional !== true && html`required`}
      ${lengthMax !== undefined && html`maxlength="${lengthMax}"`}
  /></label>`;
};

/** The address somebody signs in with. */
export const emailField = (value: string | undefined): Html =>
  field({
    name: "email",
    label: "E-mail address",
    type: "email",
    autocomplete: "username",
    value,
  });

/** The password somebody has now. */
export const passwordField = (label: string, name = "password"): Html =>
  field({ name, label, type: "password", autocomplete: "current-password" });

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

export interface Choice {
  value: string;
  label: string;
}

export const choice = (
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string,
): Html =>
  html`<label
    >${label}
    <select name="${name}">
      ${choices.map(
        (one) =>
          html`<option value="${one.value}" ${one.value === chosen && html`selected`}>
            ${one.label}
          </option>`,
      )}
    </select></label
  >`;

/** The error, above the form that was sent. */
export const faultNote = (fault: string | undefined): Part =>
  fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`;

/** @param done the word after `?done=`; one that is not in `sentences` shows nothing. */
export const doneNote = (sentences: Readonly<Record<string, string>>, done: string | null): Part =>
  done !== null &&
  Object.hasOwn(sentences, done) &&
  html`<p class="done" role="status">${sentences[done]}</p>`;

/** Blocks of code: a command to copy, a body to read. */
import { bodyText, html, type Html, type Part } from "./html.ts";

/** Returns a block that scrolls in place of the page. It is focusable, so that the keyboard can scroll it. */
const codeBlock = (label: string, content: Part): Html =>
  html`<pre tabindex="0" role="group" aria-label="${label}"><code>${content}</code></pre>`;

/** Returns a block with a button that copies it; without script there is no button. */
export const copyBlock = (label: string, content: Part): Html =>
  html`<div class="copyable">
    ${codeBlock(label, content)}<button type="button" class="quiet" data-copy hidden>Copy</button>
  </div>`;

/** Returns indented JSON, with lists of plain values on one line. */
const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(
    /\[\n\s+([^[\]{}]+?)\n\s+\]/g,
    (_, list: string) => `[${list.replace(/\n\s+/g, " ")}]`,
  );

export const jsonBlock = (label: string, value: unknown): Html =>
  codeBlock(label, bodyText(jsonText(value)));

/**
 * Returns a request as a curl command with a placeholder for the key.
 * @param publicUrl of the service; if null, a script inserts the origin of the page.
 * @param target path and query, without characters that are special between double quotes in a shell.
 */
export const curlLine = (publicUrl: string | null, target: string): Html =>
  html`curl -H "x-api-key: YOUR_KEY" "${serviceOrigin(publicUrl)}${target}"`;

/** Stands for the origin where only the browser knows it. */
export const unknownOrigin = "https://YOUR_HOST";

const originMark = html`<span data-origin>${unknownOrigin}</span>`;

/** Returns the origin of the service. @param publicUrl if null, a script inserts the origin of the page. */
const serviceOrigin = (publicUrl: string | null): Part => publicUrl ?? originMark;

/** Marks the unknown origin in code, so that a script replaces it. */
export const withOrigin = (code: string): Part =>
  code.split(unknownOrigin).flatMap((text, i) => [i > 0 && originMark, bodyText(text)]);

/** Code to read or copy: a command, a body. */
import { bodyText, html, type Html, type Part } from "./html.ts";

/** A block that scrolls by itself, never the page; focusable, so that it scrolls by keyboard too. */
export const codeBlock = (label: string, content: Part): Html =>
  html`<pre tabindex="0" role="group" aria-label="${label}"><code>${content}</code></pre>`;

/** The same with a button that copies it; without script there is no button. */
export const copyBlock = (label: string, content: Part): Html =>
  html`<div class="copyable">
    ${codeBlock(label, content)}<button type="button" class="quiet" data-copy hidden>Copy</button>
  </div>`;

/** JSON as people read it, lists of plain values on one line. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(
    /\[\n\s+([^[\]{}]+?)\n\s+\]/g,
    (_, list: string) => `[${list.replace(/\n\s+/g, " ")}]`,
  );

export const jsonBlock = (label: string, value: unknown): Html =>
  codeBlock(label, bodyText(jsonText(value)));

/**
 * A request as a curl command with the key left out.
 * @param publicUrl where the service is reached; null leaves a place that the script fills with the page's own origin.
 * @param target path and query, in characters that mean nothing between a shell's double quotes.
 */
export const curlLine = (publicUrl: string | null, target: string): Html =>
  html`curl -H "x-api-key: YOUR_KEY" "${origin(publicUrl)}${target}"`;

const origin = (publicUrl: string | null): Part =>
  publicUrl ?? html`<span data-origin>https://YOUR_HOST</span>`;

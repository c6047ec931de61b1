/** Times and days in `<time>`: exact without script, relative with it. */
import { html, type Html } from "./html.ts";

/** @param time RFC 3339 in UTC. */
export function timeElement(time: string): Html {
  const exact = `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
  return html`<time datetime="${time}" title="${exact}" data-relative>${exact}</time>`;
}

/** @param day `YYYY-MM-DD`. */
export const dayElement = (day: string): Html => html`<time datetime="${day}">${day}</time>`;

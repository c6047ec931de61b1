/** Where a list of a GP's records ends before they do: how many there are, and the call that goes on. */
import { html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";

/** A page of every operation. */
const limit = "100";

interface Rest {
  operation: "fetch-principals" | "fetch-signals" | "fetch-projects";
  gp: string;
  shown: number;
  total: number;
}

/** Nothing where all are shown. */
export function restNote({ operation, gp, shown, total }: Rest): Part {
  if (shown >= total) return null;
  const query = new URLSearchParams({ gp_name: gp, limit, offset: String(shown) }).toString();
  return html`<p>
    The first ${grouped(shown)} of ${grouped(total)}. The others:
    <a class="mono" href="/account/explorer?operation=${operation}&amp;${query}#answer"
      >/${operation}?${query}</a
    >
  </p>`;
}

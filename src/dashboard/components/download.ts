/** Downloads of a view of Browse: how many rows somebody may have, what they cost, and the form that asks for them. */
import { quotasInForce } from "#accounts/plans.ts";
import { isSignedIn, type ReaderRequest } from "#dashboard/screen.ts";
import { greatestRequest } from "#limits/policy.ts";
import { html, type Html } from "#pages/html.ts";
import { counted, grouped } from "#pages/prose.ts";
import { browsePaths, keptFields, nouns, type View } from "./view.ts";

/** Formats of a download, by the value of the form's button. */
export const downloadFormats = { csv: "CSV", xlsx: "XLSX" } as const;
export type DownloadFormat = keyof typeof downloadFormats;

const rowsMax = 10_000;
/** Number of rows that count as one request; also the maximum without signing in. */
const rowsOfRequest = 100;

interface Allowance {
  /** Number of rows from the first on. */
  rows: number;
  /** Number of requests that the download counts as; null if it counts as a view of a page. */
  requests: number | null;
}

/** Returns what somebody gets of a view. The quota of a member's account bounds it. @param total rows of the view. */
export async function allowanceOf(request: ReaderRequest, total: number): Promise<Allowance> {
  if (!isSignedIn(request)) return { rows: Math.min(total, rowsOfRequest), requests: null };
  const { database } = request.services.control;
  const quotas = await quotasInForce(database, request.account.number);
  const rows = Math.min(total, rowsMax, rowsOfRequest * greatestRequest(quotas));
  // A file with only its heading counts, too.
  return { rows, requests: Math.max(1, Math.ceil(rows / rowsOfRequest)) };
}

export const downloadPath = (kind: View["kind"]) => `${browsePaths[kind]}/download` as const;

/** Returns the form that downloads a view, with its cost. */
export function downloadForm(view: View, total: number, { rows, requests }: Allowance): Html {
  const all = rows === total ? "All" : `The first ${grouped(rows)} of`;
  const cost =
    requests === null
      ? "The download counts as one page view. People who sign in get more rows."
      : `The download counts as ${counted(requests, "request")} of your quota.`;
  return html`<details class="call">
    <summary class="button">Download</summary>
    <form method="post" action="${downloadPath(view.kind)}">
      ${keptFields(view)}
      <p>${all} ${counted(total, ...nouns[view.kind])}. ${cost}</p>
      ${Object.entries(downloadFormats).map(
        ([format, label]) => html`<button name="format" value="${format}">${label}</button> `,
      )}
    </form>
  </details>`;
}

/** Matches a list of names to GPs, as a page or as CSV. The list is neither kept nor logged. */
import { byteOrderMark, csvTable } from "#csv.ts";
import { headedPage } from "#dashboard/components/page.ts";
import { place, readRecords, recordLink } from "#dashboard/components/records.ts";
import { fileBytesMax, uploadPath } from "#dashboard/messages.ts";
import { download, type Given, type MemberRequest, posting, route } from "#dashboard/screen.ts";
import {
  matchColumns,
  matchCost,
  matchInSlices,
  type MatchRow,
  namesMax,
} from "#operations/match.ts";
import { html, type Part, table } from "#pages/html.ts";
import { counted, grouped } from "#pages/prose.ts";
import type { Match, WantedGp } from "#search/match-list.ts";
import type { ReadModel } from "#search/read-model.ts";
import { DomainError } from "#store/store-fault.ts";
import { charge } from "./download.ts";

export const matchRoutes = [
  route(uploadPath, "member", {
    GET: readRecords((request: MemberRequest) => formPage(request)),
    POST: posting(formPage, readRecords(matchSent, formPage)),
  }),
];

const certaintyWords: Readonly<Record<Match["certainty"], string>> = {
  sure: "Sure",
  probable: "Probable",
  unsure: "Unsure",
  none: "No match",
};

function formPage(request: MemberRequest, fault?: Part): string {
  return headedPage(request, {
    title: "Match a list",
    fault,
    main: html`<p>Finds the GP for each name in your list, and says how sure each match is.</p>
      <form class="form" method="post" action="${uploadPath}" enctype="multipart/form-data">
        <label
          >Names
          <span class="muted"
            >One name per line, or CSV whose first line names the columns: name, and optionally
            city, state, crd and cik</span
          >
          <textarea name="names" rows="12" spellcheck="false">
${request.form.get("names") ?? ""}</textarea>
        </label>
        <label
          >Or a file <span class="muted">CSV, at most 1 MiB</span>
          <input type="file" name="file" accept=".csv,.txt,text/csv,text/plain" />
        </label>
        <p>
          At most ${grouped(namesMax)} names. Every 100 names, or part of 100, count as one request
          against your account's quota. The list is neither kept nor logged.
        </p>
        <p>
          <button name="format" value="page">Show matches</button>
          <button name="format" value="csv" class="quiet">Download CSV</button>
        </p>
      </form>`,
  });
}

async function matchSent(request: MemberRequest, model: ReadModel): Promise<Given> {
  const list = await sentList(request);
  const requests = matchCost(list.length);
  const refused = await charge(request, "match", requests, (why) => formPage(request, why));
  if (refused !== null) return refused;
  const { matches } = await matchInSlices(() => request.services.model() ?? model, list);
  const rows = list.map((wanted, i) => ({ wanted, match: matches[i]! }));
  if (request.form.get("format") !== "csv") return matchesPage(request, rows);
  const text = byteOrderMark + csvTable(matchColumns, rows);
  return download("matches.csv", "text/csv; charset=utf-8; header=present", text);
}

/** Returns the names that were pasted or sent as a file. @throws DomainError `invalid` if they cannot be used. */
async function sentList({ form, file }: MemberRequest): Promise<WantedGp[]> {
  const names = form.get("names") ?? "";
  if (file !== null && names.trim() !== "")
    throw new DomainError("invalid", "Send either names or a file, not both. Nothing was counted.");
  if (file !== null && file.bytes.length > fileBytesMax)
    throw new DomainError(
      "invalid",
      `The file ${file.name.slice(0, 100)} is larger than 1 MiB. Nothing was counted. Split the file.`,
    );
  // Imported here, because few people match a list.
  const [{ readNameList }, { ImportFault }] = await Promise.all([
    import("#importers/name-list.ts"),
    import("#importers/import-fault.ts"),
  ]);
  const bytes = file?.bytes ?? Buffer.from(names);
  try {
    return readNameList(bytes, file === null ? "names" : file.name.slice(0, 100), namesMax);
  } catch (fault) {
    if (!(fault instanceof ImportFault)) throw fault;
    throw new DomainError("invalid", `${fault.message}. Nothing was counted.`);
  }
}

function matchesPage(request: MemberRequest, rows: readonly MatchRow[]): string {
  const byCertainty = Map.groupBy(rows, ({ match }) => match.certainty);
  const totals = Object.entries(certaintyWords).map(
    ([certainty, words]) =>
      `${words} ${grouped(byCertainty.get(certainty as Match["certainty"])?.length ?? 0)}`,
  );
  return headedPage(request, {
    title: "Matches",
    heading: counted(rows.length, "name"),
    main: html`<p>${totals.join(" · ")}. <a href="${uploadPath}">Match another list</a></p>
      ${table({
        label: "Matches",
        columns: ["Name", "GP", "Id", "How sure", "Runner-up"],
        rows: rows.map(({ wanted, match }) => [
          [wanted.name, wanted.crd, wanted.cik].find(Boolean),
          gpCell(match.gp),
          match.gp !== null && html`<code>${match.gp.id}</code>`,
          certaintyWords[match.certainty],
          gpCell(match.runnerUp),
        ]),
      })}`,
  });
}

/** Returns a link to a GP, with its place if known. Returns a dash if there is no GP. */
const gpCell = (gp: Match["gp"]): Part => {
  if (gp === null) return "–";
  const at = place(gp.hq_city, gp.hq_state, null);
  return html`${recordLink("gp", gp)}${at !== "" && html` <span class="muted">${at}</span>`}`;
};

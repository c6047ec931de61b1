/** What an import has done, for people and for programs. */
import type { ImportResult } from "#datasets/publish.ts";

/** Rejections a person is shown; `--json` has up to a thousand. */
const shownMax = 20;

export function importJson(source: string, result: ImportResult): object {
  const { read, accepted, rejections } = result.collected;
  return {
    source,
    read,
    accepted,
    rejected: rejections.count,
    rejections: rejections.listed,
    outcome: outcomeOf(result),
    ...result.changes,
    records: result.draft?.counts ?? null,
    version: result.published?.version ?? null,
  };
}

export function importText(source: string, result: ImportResult): string {
  const { read, accepted, rejections } = result.collected;
  const { added, updated, removed } = result.changes;
  const lines = rejections.listed
    .slice(0, shownMax)
    .map(({ file, line, field, reason }) => `${file}:${line}: ${field} ${reason}`);
  if (rejections.listed.length > shownMax)
    lines.push(`… ${rejections.listed.length - shownMax} more; --json lists them`);
  lines.push(
    `Source '${source}': ${count(read)} read = ${count(accepted)} accepted + ${count(rejections.count)} rejected.`,
  );
  const changes = `${count(added)} added, ${count(updated)} updated, ${count(removed)} removed`;
  const { gp = 0, principal = 0, signal = 0, project = 0 } = result.draft?.counts ?? {};
  const records = `${count(gp)} GPs, ${count(principal)} principals, ${count(signal)} signals, ${count(project)} projects`;
  switch (outcomeOf(result)) {
    case "published":
      lines.push(`${changes}. Published as ${result.published!.version}: ${records}.`);
      break;
    case "dry_run":
      lines.push(`${changes}, had this not been a dry run. The dataset would have ${records}.`);
      break;
    case "unchanged":
      lines.push("Nothing differs from what is published, so nothing was published.");
      break;
    default:
  }
  return lines.join("\n");
}

function outcomeOf({
  outcome,
  published,
}: ImportResult): "published" | "dry_run" | "unchanged" | "refused" {
  if (outcome !== "built") return outcome;
  return published === null ? "dry_run" : "published";
}

const count = (number: number) => number.toLocaleString("en-US");

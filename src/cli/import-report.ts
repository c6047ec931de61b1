/** What an import has done, for people and for programs. */
import type { ImportResult } from "#datasets/publish.ts";
import type { Rejections } from "#datasets/rejections.ts";
import type { Cleared } from "./datasets-prune.ts";
import { onOneLine } from "./output.ts";

/** Lines of a kind a person is shown; `--json` has up to a thousand. */
const shownMax = 20;

export function importJson(
  source: string,
  isMerge: boolean,
  result: ImportResult,
  cleared: Cleared,
): object {
  const { read, accepted, rejections, absent } = result.collected;
  const { added, updated, removed } = result.changes;
  return {
    source,
    mode: isMerge ? "merge" : "replace",
    read,
    accepted,
    rejected: rejections.count,
    rejections: rejections.listed,
    absent: absent.count,
    absences: absent.listed,
    outcome: outcomeOf(result),
    refusal: result.refusal,
    added,
    changed: updated,
    removed,
    unchanged: unchangedOf(result),
    demo_removed: result.droppedCount,
    source_records: result.sourceSize,
    records: result.records,
    version: (result.published ?? result.staged)?.version ?? null,
    pruned: cleared.versions,
  };
}

export function importText(source: string, result: ImportResult, cleared: Cleared): string {
  const { read, accepted, rejections, absent } = result.collected;
  const { added, updated, removed } = result.changes;
  const unchanged = unchangedOf(result) ?? 0;
  const lines = [...listed(rejections), ...listed(absent)];
  lines.push(
    `Source '${source}': ${count(read)} read = ${count(accepted)} accepted + ${count(rejections.count)} rejected.`,
  );
  const changes = `${count(added)} added, ${count(updated)} changed, ${count(removed)} removed, ${count(unchanged)} unchanged`;
  const { gp = 0, principal = 0, signal = 0, project = 0 } = result.records ?? {};
  const records = `${count(gp)} GPs, ${count(principal)} principals, ${count(signal)} signals, ${count(project)} projects`;
  switch (outcomeOf(result)) {
    case "published":
      lines.push(`${changes}. Published as ${result.published!.version}: ${records}.`);
      lines.push(...demoText(result, "went"));
      if (cleared.text !== "") lines.push(cleared.text);
      break;
    case "staged":
      lines.push(`${changes}. Staged as ${result.staged!.version}: ${records}.`);
      lines.push(...demoText(result, "go with its publication"));
      lines.push(...nextSteps(result.staged!));
      break;
    case "dry_run":
      lines.push(`${changes}, had this not been a dry run. The dataset would have ${records}.`);
      lines.push(...demoText(result, "would go"));
      break;
    case "unchanged":
      lines.push("Nothing differs from what is published, so nothing was published.");
      break;
    default:
  }
  return lines.join("\n");
}

/** Without it, people who add records to the demo read of thousands removed and not why. */
const demoText = ({ droppedCount }: ImportResult, what: string): string[] =>
  droppedCount === 0
    ? []
    : [
        `All ${count(droppedCount)} invented records of the demo ${what}: the first import of a real source removes them.`,
      ];

function listed(one: Rejections): string[] {
  const lines = one.listed
    .slice(0, shownMax)
    .map(({ file, line, field, reason, count: times }) =>
      onOneLine(
        `${file}:${line}: ${field} ${reason}${times > 1 ? ` (${count(times)} times)` : ""}`,
      ),
    );
  return one.listed.length > shownMax
    ? [...lines, `… ${one.listed.length - shownMax} more; --json lists them`]
    : lines;
}

function nextSteps({ version, built_from }: NonNullable<ImportResult["staged"]>): string[] {
  const steps = [`gp-records datasets publish ${version}`];
  if (built_from !== null) steps.unshift(`gp-records datasets diff ${built_from} ${version}`);
  return ["Next:", ...steps.map((step) => `  ${step}`)];
}

/** Records of the new dataset that were in the one before just so; null where there is none. */
function unchangedOf({ records, changes }: ImportResult): number | null {
  if (records === null) return null;
  const total = Object.values(records).reduce((a, b) => a + b);
  return total - changes.added - changes.updated;
}

function outcomeOf({ outcome, published, staged }: ImportResult) {
  if (outcome !== "built") return outcome;
  if (published !== null) return "published";
  return staged === null ? "dry_run" : "staged";
}

const count = (number: number) => number.toLocaleString("en-US");

/** `gp-records suppress` keeps people out of the records, wherever a source names them. */
import { Argument, InvalidArgumentError } from "commander";
import {
  addSuppression,
  listSuppressions,
  type NewSuppression,
  removeSuppression,
} from "#datasets/suppressions.ts";
import { fold } from "#records/fold.ts";
import { counted } from "#words.ts";
import { argument, command, family, flag, neededOption, option, parameter } from "./command.ts";
import { usageFault } from "./command-fault.ts";
import { withControl } from "./data-dir.ts";
import { changeDatasets } from "./datasets-folder.ts";
import { parseCount } from "./option-values.ts";
import { table } from "./output.ts";
import { applySuppressions } from "./publishing.ts";

function parseNumber(text: string): string {
  if (/^\d{1,10}$/.test(text) && Number(text) > 0) return text;
  throw new InvalidArgumentError("Write a whole number above 0, of up to 10 digits.");
}

const add = command({
  name: "add",
  description:
    "keep a person out of the records, including published ones; out of all of them, unless limited",
  args: { name: argument("<name>", "full name, as records write it") },
  options: {
    gp: option("--gp <name>", "only in the records of the GP with this name"),
    cik: option(
      "--cik <n>",
      "only in the records of the firm or person with this CIK",
      parseNumber,
    ),
    crd: option(
      "--crd <n>",
      "only in the records of the firm or person with this CRD number",
      parseNumber,
    ),
    reason: neededOption("--reason <text>", "reason for the audit log, without the person's name"),
    isDryRun: flag("--dry-run", "show what would be withheld and removed, and change nothing"),
  },
  example: "suppress add 'Jane Roe' --gp 'Acme Capital' --reason 'objection of 2 March, ticket 17'",
  run: async ({ name, gp = null, cik = null, crd = null, reason, isDryRun }, context) => {
    const order = { name, gp, cik, crd, reason };
    await refuseUnfit(order);
    return changeDatasets(context, (store) =>
      withControl(context, async (control) => {
        const before = await listSuppressions(control.database);
        const number = isDryRun
          ? null
          : await control.write((transaction) => addSuppression(transaction, order, context.now()));
        const known = number === null ? null : before.some((one) => one.number === number);
        const trial = { ...order, number: 0, created_at: "", applied_at: null, gp_ids: "" };
        const withdrawn = await applySuppressions(context, store, control, isDryRun ? trial : null);
        const { published, removed, withheldCount: withheld } = withdrawn!;
        return { number, known, withheld, version: published?.version ?? null, removed };
      }),
    );
  },
  text: ({ number, known, withheld, version, removed }, { isDryRun }) => {
    const hint = known ? "" : " Check how the person's page spells it.";
    if (isDryRun)
      return `${counted(withheld, "record")} of the current dataset would be withheld, and the datasets removed that may contain the person: ${removed.join(", ") || "none"}. This was a dry run: nothing was changed.${withheld === 0 ? hint : ""}`;
    return [
      `Suppression ${number} ${known ? "was already in the list" : "is in force"}.`,
      version === null
        ? `The current dataset has no such name where the suppression applies.${hint}`
        : `${counted(withheld, "record")} withheld. ${version} is the current dataset.`,
      ...removed.map((one) => `Removed the dataset ${one}, which may have contained the person.`),
      "Backups, and copies that others made, may still contain the person (docs/privacy.md).",
    ].join("\n");
  },
});

/**
 * Throws a CommandFault if a suppression could match nobody or too many people, has several limits, or has a reason
 * that is empty or contains the name.
 */
async function refuseUnfit({ name, gp, cik, crd, reason }: NewSuppression): Promise<void> {
  const { masked } = await import("#datasets/withhold.ts");
  const limits = [gp, cik, crd].filter((one) => one !== null);
  if (reason.trim() === "")
    throw usageFault("--reason must not be empty, because the audit log records it.");
  if (limits.length > 1) throw usageFault("Give only one of --gp, --cik and --crd.");
  if (limits.some((one) => fold(one) === "")) throw usageFault("--gp needs the name of a GP.");
  const words = fold(name).split(" ").filter(Boolean).length;
  if (words < (limits.length === 0 ? 2 : 1))
    throw usageFault(
      "The name must be a full name of at least two words; with --gp, --cik or --crd, one word is enough.",
    );
  if (masked(reason, [{ name, gp, cik, crd, number: 0, gp_ids: "" }]) !== reason)
    throw usageFault(
      "--reason must not contain the name, because the audit log keeps the reason. Refer to the request instead, for example by its ticket number.",
    );
}

const list = command({
  name: "list",
  description: "list all suppressions, oldest first",
  example: "suppress list",
  run: (_, context) => withControl(context, ({ database }) => listSuppressions(database)),
  text: (rows) =>
    table(
      rows,
      ["number", "name", "gp", "cik", "crd", "gp_ids", "reason", "created_at", "applied_at"],
      "Nobody is suppressed.",
    ),
});

const remove = command({
  name: "remove",
  description: "end a suppression; the next import brings the person back",
  args: {
    number: parameter<number>(
      new Argument("<number>", "as `suppress list` shows it").argParser(parseCount),
    ),
  },
  example: "suppress remove 3",
  run: async ({ number }, context) => {
    await withControl(context, (control) =>
      control.write((transaction) => removeSuppression(transaction, number, context.now())),
    );
    return { number };
  },
  text: ({ number }) =>
    `Suppression ${number} has ended. To bring the person back, under the same id, import the sources again.`,
});

export const suppressCommands = family("suppress", "keep people out of the records", [
  add,
  list,
  remove,
]);

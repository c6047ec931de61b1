/** `npm run eval:awards`: holds the firms found in cells of award lists against labels; prints how many are right. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compileMapping } from "#importers/compile-mapping.ts";
import { fold } from "#records/fold.ts";
import { splitName } from "#records/legal-forms.ts";
import { rate } from "./rate.ts";

const usage = `npm run eval:awards [-- FILE]

  FILE  labels of your own, in the form of eval/awards.json; docs/importing.md has the rules by which to label`;

/** What a careful reader takes from a row. */
interface Label {
  project: string;
  /** Text of the cell with the developers. */
  cell: string;
  /** Firms, without their roles; none if nobody is named. */
  firms: string[];
  /** True if careful readers may differ; such a label does not count. */
  unsure?: boolean;
}

/** @throws Error that names the label, or says why the file cannot be read. */
function readLabels(file: string): Label[] {
  const labels: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!Array.isArray(labels)) throw new Error(`${file} must be a list of labels`);
  for (const [at, label] of labels.entries()) {
    const { project, cell, firms, unsure = false } = Object(label) as Partial<Label>;
    const isRight =
      typeof project === "string" &&
      typeof cell === "string" &&
      Array.isArray(firms) &&
      firms.every((firm) => typeof firm === "string") &&
      typeof unsure === "boolean";
    if (!isRight)
      throw new Error(
        `${file}: label ${at + 1} must have project, cell and a list of firms; unsure is true or false`,
      );
  }
  return labels as Label[];
}

const { read } = compileMapping({
  records: [{ record: "project", id: "project", fields: { name: "project" } }],
  named_gps: { names: "cell", split: "firms" },
});
const foundIn = ({ project, cell }: Label) =>
  read([project, cell]).namedGps.map(({ name }) => name);

const keysOf = (names: readonly string[]) =>
  new Set(names.map((name) => splitName(fold(name)).core));

function report(labels: readonly Label[]): string[] {
  const cases = labels
    .filter(({ unsure }) => unsure !== true)
    .map((label) => {
      const found = foundIn(label);
      const [said, meant] = [keysOf(found), keysOf(label.firms)];
      return { ...label, found, said, meant, right: said.intersection(meant).size };
    });
  const sum = (of: (one: (typeof cases)[number]) => number) =>
    cases.reduce((total, one) => total + of(one), 0);
  const right = sum((one) => one.right);
  const nobody = cases.filter(({ meant }) => meant.size === 0);
  const misses = cases.filter(({ said, meant }) => said.symmetricDifference(meant).size > 0);
  const listed = (names: readonly string[]) => names.join(" | ") || "nobody";
  return [
    `labels: ${labels.length}; counted: ${cases.length}`,
    `precision  ${rate(
      right,
      sum(({ said }) => said.size),
    )}`,
    `recall     ${rate(
      right,
      sum(({ meant }) => meant.size),
    )}`,
    `nobody     ${rate(nobody.filter(({ said }) => said.size === 0).length, nobody.length)}`,
    ...misses.map(
      ({ project, cell, firms, found }) =>
        `miss: ${cell} (${project}): label ${listed(firms)}, said ${listed(found)}`,
    ),
  ];
}

const [file = join(import.meta.dirname, "awards.json"), ...others] = process.argv.slice(2);
if (others.length > 0 || file.startsWith("-")) {
  console.error(usage);
  process.exitCode = 2;
} else
  try {
    console.log(report(readLabels(file)).join("\n"));
  } catch (error) {
    console.error(`error: ${(error as Error).message}`);
    process.exitCode = 1;
  }

/** Selects the records of each kind with the program of a checkout, in a process of its own, and tells what a question costs. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface ListsOrder {
  /** The checkout whose program selects. */
  root: string;
  /** A data folder with a dataset. */
  dataDir: string;
}

/** Kind of question → µs of processor time for a selection with the documents of its page. */
export type ListsCost = Readonly<Record<string, number>>;

const limit = 20;
/** Different questions of a kind, and how often they are asked for one figure. */
const questionCount = 60;
const repeats = 12;
const warmUpRepeats = 8;

type Kind = "gp" | "principal" | "signal" | "project";
type Filter = import("#search/read-model.ts").Filter;

async function openLists({ root, dataDir }: ListsOrder): Promise<() => ListsCost> {
  const load = (path: string) => import(pathToFileURL(join(root, "src", path)).href);
  const { openCatalogue } = (await load(
    "datasets/catalogue.ts",
  )) as typeof import("#datasets/catalogue.ts");
  const { loadGeneration } = (await load(
    "datasets/served.ts",
  )) as typeof import("#datasets/served.ts");
  const { openReadModel } = (await load(
    "search/read-model.ts",
  )) as typeof import("#search/read-model.ts");
  const { recordText } = (await load("operations/page.ts")) as typeof import("#operations/page.ts");
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const generation = catalogue.current()!;
  const { version } = generation;
  const model = openReadModel(loadGeneration(catalogue.pathOf(version), generation));
  if (!("select" in model)) throw new Error("This commit has no select of every kind.");

  const ask = (kind: Kind, filter: Filter) => {
    for (const position of model.select(kind, filter, { limit, offset: 0 }).positions)
      recordText(model.parts, kind, position);
  };
  const questions = questionsOf((kind, name) => model.values(kind, name));
  const askAll = (times: number) => {
    const costs: Record<string, number> = {};
    for (const { name, kind, filters } of questions) {
      const before = process.cpuUsage();
      for (let time = 0; time < times; time++) for (const filter of filters) ask(kind, filter);
      const { user, system } = process.cpuUsage(before);
      costs[name] = (user + system) / (times * filters.length);
    }
    return costs;
  };
  askAll(warmUpRepeats);
  return () => askAll(repeats);
}

/** @param valuesOf the values that records of a kind carry. */
function questionsOf(valuesOf: (kind: Kind, name: string) => readonly string[]) {
  const questions: { name: string; kind: Kind; filters: Filter[] }[] = [];
  const add = (name: string, kind: Kind, filterOf: (i: number) => Filter) =>
    questions.push({
      name: `${kind} by ${name}`,
      kind,
      filters: Array.from({ length: questionCount }, (_, i) => filterOf(i)),
    });
  const pickOf = (kind: Kind, name: string) => {
    const values = valuesOf(kind, name);
    return (i: number) => [values[i % values.length]!];
  };
  for (const [kind, carriers, other] of [
    ["gp", "gp", "property_type"],
    ["principal", "gp", "tag"],
    ["signal", "signal", "type"],
    ["project", "project", "status"],
  ] as const) {
    const market = pickOf(carriers, "market");
    const another = pickOf(carriers, other);
    add("one value", kind, (i) => ({ market: market(i) }));
    add("two values", kind, (i) => ({ market: market(i), [other]: another(i) }));
  }
  add("a range", "gp", (i) => ({ signal: { date: daysOf(i) } }));
  add("a range", "signal", (i) => ({ date: daysOf(i) }));
  add("a range", "project", (i) => ({ start_date: daysOf(i) }));
  return questions;
}

const dayMilliseconds = 86_400_000;
const monthDays = 30;

/** From a day on, or in every other question a month. */
function daysOf(i: number) {
  const day = (days: number) =>
    new Date(Date.UTC(2024, 0, 1) + days * dayMilliseconds).toISOString().slice(0, 10);
  const since = day(17 * i);
  return i % 2 === 0 ? { since } : { since, until: day(17 * i + monthDays) };
}

process.on("disconnect", () => process.exit());
process.once("message", async (order: ListsOrder) => {
  const measure = await openLists(order);
  process.on("message", () => process.send!(measure()));
  process.send!("ready");
});

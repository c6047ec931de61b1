/** Answers lists of each kind with the program of a checkout, in a process of its own, and tells what an answer costs. */
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
type Order = import("#search/read-model.ts").Order;

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
  const { answer } = (await load("operations/page.ts")) as typeof import("#operations/page.ts");
  const { lists } = (await load("operations/lists.ts")) as typeof import("#operations/lists.ts");
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const generation = catalogue.current()!;
  const { version } = generation;
  const model = openReadModel(loadGeneration(catalogue.pathOf(version), generation));
  const ask = ({ kind, order, offset = 0 }: Question, filter: Filter) =>
    answer(lists[kind], model, { filter, order, values: {}, limit, offset });
  const { readDocuments } = (await load(
    "search/dataset-parts.ts",
  )) as typeof import("#search/dataset-parts.ts");
  const nameAt = (kind: Kind, position: number) =>
    readDocuments<{ name: string }>(model.parts.documents[kind], [position])[0]!.name;
  const questions = questionsOf((kind, name) => model.values(kind, name), nameAt);
  const askAll = (times: number) => {
    const costs: Record<string, number> = {};
    for (const question of questions) {
      const { name, filters } = question;
      const before = process.cpuUsage();
      for (let time = 0; time < times; time++) for (const filter of filters) ask(question, filter);
      const { user, system } = process.cpuUsage(before);
      costs[name] = (user + system) / (times * filters.length);
    }
    return costs;
  };
  askAll(warmUpRepeats);
  return () => askAll(repeats);
}

interface Question {
  name: string;
  kind: Kind;
  filters: Filter[];
  order?: Order;
  offset?: number;
}

/**
 * @param valuesOf the values that records of a kind carry.
 * @param nameAt the name of a record.
 */
function questionsOf(
  valuesOf: (kind: Kind, name: string) => readonly string[],
  nameAt: (kind: Kind, position: number) => string,
) {
  const questions: Question[] = [];
  const add = (
    name: string,
    kind: Kind,
    filterOf: (i: number) => Filter,
    more: Pick<Question, "order" | "offset"> = {},
  ) =>
    questions.push({
      ...more,
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
  const descending = (by: string) => ({ order: { by, isDescending: true } });
  for (const [kind, number] of [
    ["gp", "aum_usd"],
    ["signal", "amount_usd"],
    ["project", "units"],
  ] as const) {
    const market = pickOf(kind, "market");
    const order = descending(number);
    add("a number, sorted", kind, (i) => ({ [number]: { from: 10 * i } }), order);
    add("one value, sorted", kind, (i) => ({ market: market(i) }), order);
    add("a number, sorted, far down", kind, (i) => ({ [number]: { from: 10 * i } }), {
      ...order,
      offset: 2000,
    });
  }
  for (const kind of ["principal", "project"] as const)
    add("a word of the name", kind, (i) => ({ name: nameAt(kind, 17 * i).split(" ")[0]! }));
  return questions;
}

const dayMilliseconds = 86_400_000;
const monthDays = 30;

/** From a day on, or in every other question a month. */
function daysOf(i: number) {
  const day = (days: number) =>
    new Date(Date.UTC(2024, 0, 1) + days * dayMilliseconds).toISOString().slice(0, 10);
  const from = day(17 * i);
  return i % 2 === 0 ? { from } : { from, to: day(17 * i + monthDays) };
}

process.on("disconnect", () => process.exit());
process.once("message", async (order: ListsOrder) => {
  const measure = await openLists(order);
  process.on("message", () => process.send!(measure()));
  process.send!("ready");
});

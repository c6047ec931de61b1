/** Rounds in which everything is measured in turn, so that noise meets all alike, until the medians are known or the time is up. */
import type { Figure, RowName } from "./rows.ts";

/** One thing to measure; each run gives one figure, or several. */
export interface Candidate<T> {
  name: string;
  /** @param round from 0. */
  run(round: number): T | Promise<T>;
}

/** Runs A B C, C B A, A B C …; the figures of each candidate in the order of the rounds. */
export async function inTurn<T>(
  rounds: number,
  candidates: readonly Candidate<T>[],
): Promise<Map<string, T[]>> {
  const figures = new Map<string, T[]>(candidates.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const { name, run } of inOrderOf(round, candidates))
      figures.get(name)!.push(await run(round));
  return figures;
}

export const inOrderOf = <T>(round: number, all: readonly T[]): readonly T[] =>
  round % 2 === 0 ? all : all.toReversed();

/** One value of each row and checkout. */
export interface Sample {
  row: RowName;
  /** Name of the checkout it was measured on. */
  checkout: string;
  value: number;
}

/** Rows that are measured together, with whatever runs for them. */
export interface Session {
  /** Measures every row on every checkout once, in the reverse order when `round` is odd. */
  round(round: number): Promise<readonly Sample[]>;
  /** What else is to be known of a figure; asked after `close`. */
  note(row: RowName, checkout: string): string;
  close(): Promise<void>;
}

export interface Budget {
  /** At least so many, however long they take. */
  rounds: number;
  roundsMax: number;
  /** No round beyond `rounds` is begun later than this. */
  secondsMax: number;
}

/** @param isKnown are the figures of all rounds so far good enough? */
export async function measureRounds(
  session: Session,
  { rounds, roundsMax, secondsMax }: Budget,
  isKnown: (figures: readonly Figure[]) => boolean,
): Promise<Figure[]> {
  const startedAt = performance.now();
  const isInTime = () => performance.now() - startedAt < secondsMax * 1000;
  const figures = new Map<string, Figure>();
  try {
    for (let round = 0; round < rounds || (round < roundsMax && isInTime()); round++) {
      if (round >= rounds && isKnown([...figures.values()])) break;
      for (const { row, checkout, value } of await session.round(round)) {
        const name = `${row} of ${checkout}`;
        if (!figures.has(name)) figures.set(name, { row, checkout, values: [], note: "" });
        figures.get(name)!.values.push(value);
      }
    }
    for (const figure of figures.values()) figure.note = session.note(figure.row, figure.checkout);
    return [...figures.values()];
  } finally {
    await session.close();
  }
}

/** What is measured of one checkout, while that of the other waits. */
export interface Subject {
  sample(round: number): Promise<Partial<Record<RowName, number>>>;
  note(row: RowName): string;
  close(): Promise<unknown>;
}

/** One checkout after the other, in each round. */
export async function openSession<C extends { name: string }>(
  checkouts: readonly C[],
  open: (checkout: C) => Promise<Subject>,
): Promise<Session> {
  const subjects: (Subject & { checkout: string })[] = [];
  for (const checkout of checkouts)
    subjects.push({ ...(await open(checkout)), checkout: checkout.name });
  return {
    async round(round) {
      const samples: Sample[] = [];
      for (const { sample, checkout } of inOrderOf(round, subjects))
        for (const [row, value] of Object.entries(await sample(round)))
          samples.push({ row: row as RowName, checkout, value });
      return samples;
    },
    note: (row, name) => subjects.find(({ checkout }) => checkout === name)!.note(row),
    async close() {
      for (const subject of subjects) await subject.close();
    },
  };
}

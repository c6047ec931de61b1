/** Locks in PostgreSQL for jobs that only one of several instances does, held for its life or for a step. */
import { connectPostgres, type PostgresPlace, type PostgresSession } from "./postgres.ts";

/**
 * Class of these locks in the whole database. It and the numbers of jobs are the same in every version of the program,
 * because two versions work side by side during an upgrade.
 */
const lockClass = 0x6770_7266;
/** Time between two looks, in ms. So soon a dead holder is succeeded, and a holder notices that it lost its connection. */
const lookEveryMilliseconds = 2000;

export interface JobLocks<Job extends string> {
  isOurs(job: Job): boolean;
  /** Releases all locks, so that another instance can go on. */
  close(): void;
}

interface JobListener<Job extends string> {
  /** Called with the jobs that are ours now. */
  onChange(ours: readonly Job[]): void;
  /** Called for each job that becomes ours. */
  onTaken(job: Job): void;
}

/**
 * Tries to get each of `jobs` while another instance has it. The locks end with a session of their own. A database that is
 * away is tried again; until then no job is ours.
 * @param numbers numbers of the locks.
 */
export function openJobLocks<Job extends string>(
  place: PostgresPlace,
  jobs: readonly Job[],
  numbers: Readonly<Record<Job, number>>,
  { onChange, onTaken }: JobListener<Job>,
): JobLocks<Job> {
  let session: PostgresSession | null = null;
  let isClosed = false;
  let ours: readonly Job[] = [];

  const change = (now: readonly Job[]) => {
    if (isClosed) return;
    const taken = now.filter((job) => !ours.includes(job));
    const isSame = taken.length === 0 && now.length === ours.length;
    ours = now;
    if (!isSame) onChange(ours);
    for (const job of taken) onTaken(job);
  };
  const connect = async () => {
    const opened: PostgresSession = await connectPostgres(place, {
      name: "gp-records jobs",
      onEnd() {
        if (session === opened) change([]);
      },
    });
    if (isClosed) opened.close();
    return opened;
  };
  const look = async () => {
    if (session === null || session.isOver) session = await connect();
    // Even without a wanted job this tells whether the session lasts.
    const wanted = jobs.filter((job) => !ours.includes(job)).map((job) => numbers[job]);
    const rows = await session.query<{ number: number }>(
      "select number from unnest($1::integer[]) as number where pg_try_advisory_lock($2, number)",
      [wanted, lockClass],
    );
    const taken = jobs.filter((job) => rows.some(({ number }) => number === numbers[job]));
    if (!session.isOver) change([...ours, ...taken]);
  };
  let timer: NodeJS.Timeout | undefined;
  const lookAgain = async () => {
    // The reader of keys reports that the database is away.
    await look().catch(() => change([]));
    if (!isClosed) timer = setTimeout(() => void lookAgain(), lookEveryMilliseconds);
  };
  void lookAgain();
  return {
    isOurs: (job) => ours.includes(job),
    close() {
      isClosed = true;
      clearTimeout(timer);
      session?.close();
    },
  };
}

/**
 * Takes one step of a job in a transaction, while no other instance takes one. The lock ends with the transaction, which
 * ends with the connection: a frozen or killed instance holds nobody up for long.
 * @param job number of its lock.
 * @returns the result of the step; false if another instance is at work.
 */
export const inTurn = (
  { query, inTransaction }: PostgresSession,
  job: number,
  step: () => Promise<boolean>,
): Promise<boolean> =>
  inTransaction(async () => {
    const [turn] = await query<{ isOurs: boolean }>(
      'select pg_try_advisory_xact_lock($1, $2) as "isOurs"',
      [lockClass, job],
    );
    return turn!.isOurs && step();
  }, "begin isolation level read committed");

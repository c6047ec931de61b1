/** Which of several instances does a job that only one has to do: whoever holds its lock in PostgreSQL, for as long as it lives or for a step. */
import { connectPostgres, type PostgresPlace, type PostgresSession } from "./postgres.ts";

/** Known by it in the whole database, with the number of the job, which is the same for every version of the program, as two work side by side during an upgrade. */
const lockClass = 0x6770_7266;
/** A holder that died is succeeded this soon; one that lost its connection knows as soon, long before the server does. */
const lookEveryMilliseconds = 2000;

export interface JobLocks<Job extends string> {
  isOurs(job: Job): boolean;
  /** Lets go of all, so that another instance can go on. */
  close(): void;
}

interface JobListener<Job extends string> {
  /** Gets those that are ours now. */
  onChange(ours: readonly Job[]): void;
  /** Called for each that becomes ours. */
  onTaken(job: Job): void;
}

/**
 * Tries to get each of `jobs` for as long as another instance has it; the locks end with a session of their own. A database that is
 * away is tried again; until then nothing is ours.
 * @param numbers of the locks.
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
    // Without any that is wanted it still tells whether the session lasts.
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
    // The keys of this server report that the database is away.
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
 * Takes one step of a job, in a transaction, while no other instance takes one of it. The lock ends with the transaction, and that
 * with the connection: whoever is frozen or killed holds nobody up for long.
 * @param job the number of its lock.
 * @returns what the step did; false where another instance is at it.
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

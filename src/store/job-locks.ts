/** PostgreSQL locks for jobs that only one instance does at a time. They are held for a session or for one step. */
import { connectPostgres, type PostgresPlace, type PostgresSession } from "./postgres.ts";

/**
 * Class of these advisory locks in the database. The class and the jobs' numbers are the same in every version of the
 * program, because two versions may run side by side during an upgrade.
 */
const lockClass = 0x6770_7266;
/** Time between attempts to take locks, in ms. Each attempt also detects a lost connection. */
const lookEveryMilliseconds = 2000;

export interface JobLocks<Job extends string> {
  isOurs(job: Job): boolean;
  /** Releases all locks, so that another instance can take over, and stops trying to take any. */
  close(): void;
}

interface JobListener<Job extends string> {
  /** Called with all of this instance's jobs when they change. */
  onChange(ours: readonly Job[]): void;
  /** Called for each job that this instance takes on. */
  onTaken(job: Job): void;
}

/**
 * Keeps trying to take each job's lock. A separate session holds the locks, which end with it. Reconnects after an
 * outage. Until then this instance has no jobs.
 * @param numbers lock numbers by job.
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
    // This query runs even if no job is wanted, because it also detects a lost session.
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
    // No report is needed: the key reader reports that the database cannot be reached.
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
 * Runs one step of a job in a transaction, unless another instance is running a step. The lock ends with the
 * transaction, which ends with the connection, so a frozen or killed instance does not block the others for long.
 * @param job lock number of the job.
 * @returns the step's result; false if another instance is running a step.
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

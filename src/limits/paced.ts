/** Runs a job soon after it is asked for, but never more often than once in a while and never twice at once. */

interface Paced {
  /** Costs nothing while the job is already due or running. */
  ask(): void;
  /** Nothing begins after this; a job that runs goes on. */
  stop(): void;
}

/**
 * @param everyMilliseconds from one start to the next at the least.
 * @param now in ms on a clock that never steps.
 * @param job must not reject. Its timer does not keep the process alive.
 */
export function paced(
  everyMilliseconds: number,
  now: () => number,
  job: () => Promise<void>,
): Paced {
  let timer: NodeJS.Timeout | null = null;
  let startedAt = Number.NEGATIVE_INFINITY;
  let isRunning = false;
  let isAsked = false;
  let isStopped = false;

  const run = async () => {
    timer = null;
    isAsked = false;
    isRunning = true;
    startedAt = now();
    await job();
    isRunning = false;
    if (isAsked) schedule();
  };
  const schedule = () => {
    if (isStopped) return;
    timer = setTimeout(run, Math.max(0, startedAt + everyMilliseconds - now())).unref();
  };
  return {
    ask() {
      if (isAsked) return;
      isAsked = true;
      if (!isRunning) schedule();
    },
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Says once when counts can no longer be read or saved, and once when all is well again. */

interface JournalHealth {
  isFailing: () => boolean;
  /** A fault to name in any case. */
  report: (fault: Error) => void;
  /** A fault to name unless one is known already. */
  fail: (error: unknown) => void;
  restore: () => void;
}

export function openHealth(folder: string, onFault: (fault: Error | null) => void): JournalHealth {
  let isFailing = false;
  const report = (fault: Error) => {
    isFailing = true;
    onFault(fault);
  };
  return {
    isFailing: () => isFailing,
    report,
    fail(error) {
      if (isFailing) return;
      const reason = `Request counts cannot be saved in ${folder}: ${(error as Error).message}.`;
      report(
        new Error(`${reason} They go on in memory; a restart would forget them.`, { cause: error }),
      );
    },
    restore() {
      if (isFailing) onFault(null);
      isFailing = false;
    },
  };
}

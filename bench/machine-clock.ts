/** The clock of the machine itself, which all of its processes read alike. */

/** Milliseconds; never goes back. */
export const machineMilliseconds = (): number => Number(process.hrtime.bigint()) / 1e6;

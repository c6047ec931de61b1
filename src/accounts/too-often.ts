/** The refusal of a try that comes too soon after others, with the time to wait. */
import { StoreFault } from "#store/store-fault.ts";

export class TooOften extends StoreFault {
  /** At least 1. */
  readonly retryAfterSeconds: number;

  constructor(waitMilliseconds: number) {
    const seconds = Math.max(1, Math.ceil(waitMilliseconds / 1000));
    super("too_often", `That was tried too often. Try again in ${waitText(seconds)}.`);
    this.name = "TooOften";
    this.retryAfterSeconds = seconds;
  }
}

function waitText(seconds: number): string {
  const [count, unit] = seconds < 90 ? [seconds, "second"] : [Math.ceil(seconds / 60), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

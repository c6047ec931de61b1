/** The refusal of a link that does nothing any more: whatever the reason, the person reads one sentence. */
import { StoreFault } from "#store/store-fault.ts";

export type LinkFaultReason = "unknown" | "expired" | "used";

export class LinkFault extends StoreFault {
  /** Not for the sender, whom it would tell which guesses come near. */
  readonly reason: LinkFaultReason;

  constructor(reason: LinkFaultReason) {
    super(
      "not_found",
      "This link does nothing any more: it was used, or its time is over. Ask for a new one.",
    );
    this.name = "LinkFault";
    this.reason = reason;
  }
}

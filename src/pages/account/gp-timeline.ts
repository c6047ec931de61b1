/** What has happened at a GP, newest first. */
import { html, type Html } from "#pages/html.ts";
import { fitting } from "./fitting.ts";
import type { ShownGp } from "./gp-facts.ts";
import { restNote } from "./gp-rest.ts";
import { commonProvenance, provenanceLine, provenanceNote } from "./provenance-note.ts";
import { signalItem, timeline } from "./signal-list.ts";

export function timelineSection({ gp, marketNames }: ShownGp, bytesMax: number): Html {
  const { id, signals, signals_total: total } = gp;
  const common = commonProvenance(signals);
  const items = fitting(
    signals.map((signal) => {
      const marketName = signal.market === null ? null : marketNames[signal.market]!;
      return signalItem({ ...signal, marketName }, [provenanceNote(signal, common)]);
    }),
    bytesMax,
  );
  return html`<section>
    <h2 id="timeline">Timeline</h2>
    ${provenanceLine(common)}
    ${total === 0 ? html`<p>No signal of it is known.</p>` : timeline("Timeline", items)}
    ${restNote({ operation: "fetch-signals", gp: id, shown: items.length, total })}
  </section>`;
}

/** Is the clock plausible: not before what was written last? */
import { builtAtOf } from "#datasets/format.ts";
import { systemClock } from "#limits/clocks.ts";
import { type Check, fail, ok } from "./check.ts";
import { inspectSegments } from "./counts.ts";
import { catalogueIn, wholeVersions } from "./dataset-files.ts";

/** Imports that follow each other within a second are dated slightly ahead. */
const toleranceMilliseconds = 60_000;

interface Trace {
  what: string;
  at: number;
}

export const clock: Check = {
  name: "clock",
  look({ dataDir, now }) {
    const traces = [...datasetTraces(dataDir), ...countTraces(dataDir)];
    const latest = traces.reduce<Trace | null>(
      (one, other) => (one === null || other.at > one.at ? other : one),
      null,
    );
    if (latest !== null && latest.at - now > toleranceMilliseconds)
      return [
        fail(
          `the clock says ${timeText(now)}, but ${latest.what} is of ${timeText(latest.at)}: it was set back, or ran ahead then`,
          "Set it and keep it set (timedatectl set-ntp true): keys that have expired work again meanwhile, and counts are held too long.",
        ),
      ];
    const boot =
      systemClock().bootId === null ? "; each start counts as one of the machine: no boot id" : "";
    return [ok(`${timeText(now)}, not before anything written${boot}`)];
  },
};

function datasetTraces(dataDir: string): Trace[] {
  const catalogue = catalogueIn(dataDir);
  return wholeVersions(catalogue).flatMap((version) => {
    const published = catalogue!.findReadable(version)?.published_at;
    // The build time is part of the name: a different one in its VERSION.json is no fault of the clock.
    return [builtAtOf(version), published]
      .map((time) => ({ what: `the dataset ${version}`, at: Date.parse(time ?? "") }))
      .filter(({ at }) => !Number.isNaN(at));
  });
}

const countTraces = (dataDir: string): Trace[] =>
  inspectSegments(dataDir).flatMap(({ path, state }) =>
    state === null || state.newestMilliseconds === null
      ? []
      : [{ what: `the newest request in ${path}`, at: state.newestMilliseconds }],
  );

const timeText = (milliseconds: number) => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

/** Are the datasets that several machines share whole, and do all servers serve the current one? */
import { type Check, fail, faultsOr, type Finding, warn } from "./check.ts";
import { onDatabase } from "./database.ts";

/** A server that was told of a new dataset may be loading it. */
const takeOverMilliseconds = 60_000;

export const sharedDatasets: Check = {
  name: "shared datasets",
  look: ({ config, isThorough }) =>
    onDatabase(config, async (url, place) => {
      const { inspectShared } = await import("#datasets/inspect-shared.ts");
      const { state, damage, instances, importer, ownFormat } = await inspectShared(
        url,
        isThorough,
      );
      const { current, generations } = state;
      const live = instances.filter(({ isLive }) => isLive);
      const faults: Finding[] = damage.map(({ version, fault }) => {
        const [, found, mend] = /^(.*?)\. (.*)$/s.exec(fault)!;
        return fail(
          `${found} on ${place}${version === current?.version ? "; it is the one to be served" : ""}`,
          mend!,
        );
      });
      if (current !== null && current.format !== ownFormat)
        faults.push(
          fail(
            `${current.version} on ${place} has the format ${current.format}, and this version of gp-records reads ${ownFormat}`,
            "Run the version that made it, or import the sources again.",
          ),
        );
      const publishedAt = Date.parse(current?.published_at ?? "");
      if (current !== null && state.readAt - publishedAt > takeOverMilliseconds)
        for (const { host, pid, served } of live)
          if (served !== current.version)
            faults.push(
              warn(
                `the server on ${host}, process ${pid}, serves ${served ?? "nothing"} and not ${current.version}`,
                "Its log says why: look for 'shared datasets cannot be followed' and 'dataset cannot be served'.",
              ),
            );
      const listed = generations.filter(({ status }) => status !== "added").length;
      const served =
        current === null
          ? `none is published on ${place}`
          : `${current.version} on ${place} is whole by SHA-256, of ${listed} there`;
      const importing = importer === null ? "no import runs" : `an import runs: ${importer}`;
      return faultsOr(faults, `${served}; servers that run: ${live.length}; ${importing}`);
    }),
};

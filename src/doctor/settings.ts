/** Checks settings: are all usable, where do they come from, and where is the data? */
import { missedLinks } from "#config.ts";
import type { EnvironmentFile } from "#config/environment-file.ts";
import { type Check, fail, faultsOr, type Finding, ok, warn } from "./check.ts";

export const settings: Check = {
  name: "settings",
  look({ config, configFaults, environment, environmentFile, dataDir }) {
    const isDefault = (environment["DATA_DIR"]?.trim() ?? "") === "";
    const place =
      environmentFile === null
        ? "the environment"
        : `the environment or in ${environmentFile.path}`;
    const links = config === null ? null : missedLinks(config);
    return [
      ...faultsOr(
        configFaults.map((fault) =>
          fail(fault, `Correct it in ${place}; docs/settings.md says what each setting takes.`),
        ),
        `all can be used; DATA_DIR is ${isDefault ? "not set, so it is " : ""}${dataDir}`,
      ),
      ...(links === null ? [] : [warn(links.found, `${links.mend}.`)]),
      ...(environmentFile === null ? [] : [judgeFile(environmentFile)]),
    ];
  },
};

function judgeFile({ path, used, unknown, ignored }: EnvironmentFile): Finding {
  if (ignored !== null) return warn(`${path} ${ignored.found}: it is ignored`, ignored.mend);
  const settings = used.length === 0 ? "no setting" : used.join(", ");
  if (unknown.length === 0) return ok(`${path} sets ${settings}`);
  // A name in a file meant for something else may be anything, of any length.
  const shown = unknown.filter((name) => /^\w{1,40}$/.test(name)).slice(0, 5);
  const rest = unknown.length - shown.length;
  const others = [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  return ok(`${path} sets ${settings}; other names in it are no settings and not read: ${others}`);
}

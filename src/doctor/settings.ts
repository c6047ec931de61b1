/** Can all settings be used, and where do they say the data is? */
import { type Check, fail, faultsOr } from "./check.ts";

export const settings: Check = {
  name: "settings",
  look({ configFaults, environment, dataDir }) {
    const isDefault = (environment["DATA_DIR"]?.trim() ?? "") === "";
    return faultsOr(
      configFaults.map((fault) =>
        fail(
          fault,
          "Correct it in the environment; docs/settings.md says what each setting takes.",
        ),
      ),
      `all can be used; DATA_DIR is ${isDefault ? "not set, so it is " : ""}${dataDir}`,
    );
  },
};

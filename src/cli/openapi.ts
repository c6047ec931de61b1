/** `gp-records openapi`: prints the description of the API that `/openapi.json` serves. */
import { readConfig } from "#config.ts";
import { command } from "./command.ts";

export const openapiCommand = command({
  name: "openapi",
  description: "print the description of the API (OpenAPI 3.1)",
  example: "openapi > openapi.json",
  run: async (_, { environment, print }) => {
    const { pageSizeMax } = readConfig(environment);
    // Loaded here, so that `--help` does not wait for it.
    const { describeApi } = await import("#http/describe-api.ts");
    const { operations } = await import("#operations/index.ts");
    print(JSON.stringify(describeApi(operations, pageSizeMax), null, 2));
  },
});

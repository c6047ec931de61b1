import { testFourServers } from "./support/instances.ts";

/** Many times as often: test/instances.long.ts. */
testFourServers({ idle: 3, busy: 1, publications: 3 });

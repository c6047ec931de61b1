import { testFourServers } from "./support/instances.ts";

testFourServers({ idle: 100, busy: 20, publications: 10 });

import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { outcomeOf } from "../support/command-line.ts";
import { whyNoNetwork } from "../support/network.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const silent = "127.0.0.53";

/** Connects eight times, and tells how many names were looked up at once at most. */
const connecting = `
import { openValkeyEngine } from "#limits/valkey-engine.ts";
const engine = await openValkeyEngine("redis://counts.example");
const faults = new Set();
let most = 0;
for (let attempt = 0; attempt < 8; attempt++) {
  await engine.connect(() => {}).catch(({ message }) => faults.add(message));
  const underWay = process.getActiveResourcesInfo().filter((one) => one === "GetAddrInfoReqWrap");
  most = Math.max(most, underWay.length);
}
console.log(JSON.stringify({ most, faults: [...faults] }));
`;

test(
  "a name server that does not answer is asked once at a time, and said to be why nothing is connected to",
  { skip: whyNoNetwork() ?? false },
  async (t) => {
    const nameServer = createSocket("udp4");
    nameServer.bind(53, silent);
    await once(nameServer, "listening");
    t.after(() => nameServer.close());
    const file = join(temporaryFolder(t), "resolv.conf");
    writeFileSync(file, `nameserver ${silent}\n`);
    const program = ["--input-type=module", "--eval", connecting];
    const inOwnMounts = ["--mount", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"'];
    const args = [...inOwnMounts, file, process.execPath, ...program];
    const { exitCode, out, err } = await outcomeOf("unshare", args, { PATH: process.env["PATH"] });
    assert.equal(exitCode, 0, err);
    assert.deepEqual(JSON.parse(out), {
      most: 1,
      faults: ["its host name cannot be resolved within 500 ms"],
    });
  },
);

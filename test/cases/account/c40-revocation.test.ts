import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { test } from "node:test";
import { createKey } from "../../support/key-forms.ts";
import { startService } from "../../support/service.ts";
import { signedIn } from "../../support/user.ts";

test("C40 · a key that is revoked by the page is refused from the next request on, also on a connection that is kept busy", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service);
  const { id, key } = await createKey(ada);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const sockets = new Set<unknown>();
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const url = `${service.url}/fetch-projects?limit=1`;
      const sent = get(url, { agent, headers: { "x-api-key": key } }, (answer) => {
        sockets.add(answer.socket.localPort);
        answer.resume().on("end", () => resolve(answer.statusCode!));
      });
      sent.on("error", reject);
    });

  assert.equal(await ask(), 200);
  let isRevoked = false;
  const after: number[] = [];
  const busy = (async () => {
    while (after.length < 3) {
      const isAfter = isRevoked;
      const status = await ask();
      if (isAfter) after.push(status);
    }
  })();
  const path = `/account/keys/${id}`;
  const { status, location } = await ada.submit(path, `${path}/revoke`);
  isRevoked = true;
  await busy;
  assert.deepEqual([status, location], [303, `${path}?done=revoked`]);
  assert.deepEqual(after, [401, 401, 401]);
  assert.equal(sockets.size, 1);
  const again = await ada.post(`${path}/revoke`, {});
  assert.equal(again.status, 303);
  const { text } = await ada.get(path);
  assert.match(text, /revoked <time/);
  assert.doesNotMatch(text, /Revoke key|Rotate key/);
});

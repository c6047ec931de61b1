import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { forEachStore as test } from "../support/for-each-store.ts";
import { openInsideWorker } from "../support/inside-worker.ts";
import { startMailServer } from "../support/mail-server.ts";
import { startService } from "../support/service.ts";
import { signedIn } from "../support/user.ts";

/** A form sent under another name than the one the service has: `fetch` would not let us. */
async function postAs(port: number, host: string, path: string, fields: Record<string, string>) {
  const body = new URLSearchParams(fields).toString();
  const headers = {
    host,
    "content-type": "application/x-www-form-urlencoded",
    "content-length": String(body.length),
    "sec-fetch-site": "same-origin",
  };
  const asked = request({ host: "127.0.0.1", port, path, method: "POST", headers });
  const [answer] = await once(asked.end(body), "response");
  answer.resume();
  await once(answer, "end");
  return answer.statusCode as number;
}

test("a mailed link leads to the service, whatever Host header the request has", async (t) => {
  const mail = await startMailServer(t);
  const settings = { SMTP_URL: mail.url, SIGN_UP: "open" };
  const service = await startService(t, { records: null, settings });
  await signedIn(service, { email: "ada@example.org", accountName: "Ada" });
  const own = `http://127.0.0.1:${service.port}/account/link?token=`;
  for (const [address, path] of [
    ["ada@example.org", "/account/forgot"],
    ["bob@example.org", "/account/sign-up"],
  ] as const) {
    const status = await postAs(service.port, "localhost:6666", path, { email: address });
    assert.equal(status, 200);
    const { text } = await mail.messageTo(address);
    assert.ok(text.includes(own), text);
    assert.ok(!text.includes("6666"), text);
  }
});

test("the link that a demo shows on its page leads to where its user came from, the one in the mail does not", async (t) => {
  const { post, messages } = await openInsideWorker(t, { isDemo: true });
  const headers = { host: "localhost:9000" };
  const answer = await post("/account/sign-up", { email: "ada@example.org" }, { headers });
  assert.match(answer.body, /http:\/\/localhost:9000\/account\/link\?token=/);
  assert.match(messages[0]!.text, /http:\/\/127\.0\.0\.1:8080\/account\/link\?token=/);
});

/** Can OPERATOR_WEBHOOK be reached? Nothing is posted: somebody would be called. */
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Check, fail, type Finding, ok } from "./check.ts";

export const webhook: Check = {
  name: "webhook",
  async look({ config }) {
    const url = config?.operatorWebhook ?? null;
    return url === null ? [] : [await findingOf(new URL(url))];
  },
};

const waitMilliseconds = 5000;

async function findingOf({ protocol, host, hostname, port }: URL): Promise<Finding> {
  const isSecure = protocol === "https:";
  const bare = hostname.replace(/^\[|\]$/g, "");
  const place = { host: bare, port: Number(port || (isSecure ? 443 : 80)) };
  // A certificate is asked for by name; an address is no name (RFC 6066 §3).
  const name = /^[\d.]+$|:/.test(bare) ? {} : { servername: bare };
  try {
    await (isSecure
      ? connected(connectTls({ ...place, ...name }), "secureConnect")
      : connected(connectPlain(place), "connect"));
    return ok(`${host}, the host of OPERATOR_WEBHOOK, can be reached`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return fail(
      `${host}, the host of OPERATOR_WEBHOOK, cannot be reached (${code ?? message}): nobody would be told of an alarm`,
      "Correct OPERATOR_WEBHOOK, or let this machine connect to it; an authority of your own is named by NODE_EXTRA_CA_CERTS.",
    );
  }
}

/** Resolves at the event, and ends the connection either way. */
async function connected(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(event, () => resolve());
  socket.once("error", reject);
  socket.setTimeout(waitMilliseconds, () => reject(new Error("no answer within 5 s")));
  try {
    await promise;
  } finally {
    socket.on("error", () => {});
    socket.destroy();
  }
}

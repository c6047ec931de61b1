/** Sends mail over SMTP (RFC 5321), one message at a time and in the background, so that no page waits for it. */
import { setImmediate as immediate, setTimeout as pause } from "node:timers/promises";
import type { NodemailerError } from "nodemailer";
import { isLoopback } from "#config.ts";
import type { Mail } from "./mail-templates.ts";
import type { AccountWorkerSettings } from "./messages.ts";

export interface Mailer {
  /** Queues a message and returns at once. Failures are reported to the operator. */
  send(message: Mail): void;
  /** True if no mail server is configured; `send` then does nothing. */
  isOff: boolean;
  /** Waits at most 1.5 s for messages under way, then abandons them. */
  close(): Promise<void>;
}

/** Pauses before the second and the third attempt, and the longest wait of `close`. */
const defaultRetries = { pausesMilliseconds: [5000, 60_000], closeMilliseconds: 1500 };
/** Maximum number of messages in the queue. Bounds memory during a long outage of the mail server. */
const queuedMax = 1000;

const mailerOff: Mailer = { send() {}, isOff: true, async close() {} };

const waits = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 10_000 };
/** Time limit of an attempt to send, in ms. Without it, a server that trickles its replies would hold up all mail. */
const messageMilliseconds = 30_000;

/** Opens a mailer. @param reportError receives errors without e-mail addresses, links or passwords. */
export async function openMailer(
  { smtpUrl, mailFrom }: Pick<AccountWorkerSettings, "smtpUrl" | "mailFrom">,
  reportError: (error: string) => void,
  { pausesMilliseconds, closeMilliseconds } = defaultRetries,
): Promise<Mailer> {
  if (smtpUrl === null) return mailerOff;
  // Imported here, because most services send no mail.
  const { createTransport } = await import("nodemailer");
  const server = serverOf(smtpUrl);
  const transport = createTransport({
    ...server,
    ...waits,
    socketTimeout: messageMilliseconds,
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const shownHost = `${server.host}:${server.port}`;
  const underWay = new Set<Promise<void>>();
  const isEnding = new AbortController();
  const isOver = new AbortController();
  let last: Promise<unknown> = Promise.resolve();

  /** Tries to send a message after all earlier attempts, so that the mail server gets one connection at a time. */
  const sendInTurn = ({ to, subject, text }: Mail): Promise<unknown> => {
    const sent = last.then(() =>
      transport.sendMail({
        from: mailFrom,
        // An object is always a single address, whatever characters it contains.
        to: { name: "", address: to },
        subject,
        text,
        textEncoding: "quoted-printable",
        // Asks auto-responders not to reply (RFC 3834).
        headers: { "Auto-Submitted": "auto-generated" },
        signal: AbortSignal.any([isOver.signal, AbortSignal.timeout(messageMilliseconds)]),
      }),
    );
    last = sent.catch(() => {});
    return sent;
  };

  const deliver = async (message: Mail) => {
    // The page's response goes first: its timing must not reveal whether a message is sent.
    await immediate();
    for (const wait of [...pausesMilliseconds, null]) {
      try {
        await sendInTurn(message);
        return;
      } catch (error) {
        if (wait === null || (error as NodemailerError).permanent === true)
          return reportError(
            `A message could not be sent through the mail server ${shownHost} (${wordsOf(error as NodemailerError)}). Check this server and the setting SMTP_URL. A recipient who needs a link must ask for a new one; a notice is not sent again.`,
          );
      }
      // `close` ends the pauses, so that the remaining attempts follow at once.
      await pause(wait, undefined, { signal: isEnding.signal }).catch(() => {});
    }
  };

  return {
    isOff: false,
    send(message) {
      if (underWay.size >= queuedMax)
        return reportError(
          `A message was dropped, because ${queuedMax} messages are already waiting for the mail server ${shownHost}. Check that the server answers. A recipient who needs a link must ask for a new one; a notice is not sent again.`,
        );
      const delivery = deliver(message).finally(() => underWay.delete(delivery));
      underWay.add(delivery);
    },
    async close() {
      isEnding.abort();
      const deadline = setTimeout(() => isOver.abort(), closeMilliseconds);
      await Promise.all(underWay);
      clearTimeout(deadline);
    },
  };
}

/** Returns codes for a log, such as `EENVELOPE 550`, but not the server's text, which may quote addresses. */
const wordsOf = ({ name, code, originalCode, responseCode }: NodemailerError): string =>
  [code ?? name, originalCode, responseCode].filter((word) => word !== undefined).join(" ");

/** Returns the settings for a connection. @param smtpUrl `smtp:` or `smtps:` URL, with credentials or without. */
function serverOf(smtpUrl: string) {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const host = hostname.replace(/^\[|\]$/g, "");
  const secure = protocol === "smtps:";
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return {
    host,
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    // A password is sent unencrypted only to this machine.
    requireTLS: !secure && username !== "" && !isLoopback(host),
    ...(username === "" ? {} : { auth }),
  };
}

/** Sends mail over SMTP (RFC 5321): one message after another in the background, so that no page waits for it. */
import { setImmediate as immediate, setTimeout as pause } from "node:timers/promises";
import type { NodemailerError } from "nodemailer";
import { isLoopback } from "#config.ts";
import type { Mail } from "./mail-templates.ts";
import type { AccountWorkerSettings } from "./messages.ts";

export interface Mailer {
  /** Returns at once. What cannot be sent is reported to the operator. */
  send(message: Mail): void;
  /** Is no mail server configured? Then `send` does nothing. */
  isOff: boolean;
  /** Waits for messages under way, a second or two at most. */
  close(): Promise<void>;
}

interface Retries {
  /** Pauses before the second try and before the third. */
  pausesMilliseconds: readonly number[];
  /** Longest wait of `close`. */
  closeMilliseconds: number;
}

const defaultRetries: Retries = { pausesMilliseconds: [5000, 60_000], closeMilliseconds: 1500 };
/** Bounds memory while the mail server is down for long. */
const queuedMax = 1000;

const mailerOff: Mailer = { send() {}, isOff: true, async close() {} };

const waits = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 10_000 };
/** Longest time for one message: a server that trickles its replies would hold up all the others. */
const messageMilliseconds = 30_000;

/** Opens a mailer. @param reportError takes messages for the operator, never an address, a link or a password. */
export async function openMailer(
  { smtpUrl, mailFrom }: Pick<AccountWorkerSettings, "smtpUrl" | "mailFrom">,
  reportError: (error: string) => void,
  { pausesMilliseconds, closeMilliseconds } = defaultRetries,
): Promise<Mailer> {
  if (smtpUrl === null) return mailerOff;
  // Loaded here, because most services send no mail.
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

  /** Sends one message after another: one connection, however many wait for a mail server that is down. */
  const sendInTurn = ({ to, subject, text }: Mail): Promise<unknown> => {
    const sent = last.then(() =>
      transport.sendMail({
        from: mailFrom,
        // As an object it is a single address, whatever characters it contains.
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
    // The response is sent first: its timing must not reveal whether a message is sent.
    await immediate();
    for (const wait of [...pausesMilliseconds, null]) {
      try {
        await sendInTurn(message);
        return;
      } catch (error) {
        if (wait === null || (error as NodemailerError).permanent === true)
          return reportError(
            `A message could not be sent through ${shownHost} (${wordsOf(error as NodemailerError)}). Whoever waits for it has to ask again.`,
          );
      }
      // `close` ends the pauses: the remaining tries follow at once.
      await pause(wait, undefined, { signal: isEnding.signal }).catch(() => {});
    }
  };

  return {
    isOff: false,
    send(message) {
      if (underWay.size >= queuedMax)
        return reportError(
          `${queuedMax} messages wait for ${shownHost} already, so another one was dropped.`,
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

/** Returns codes such as `EENVELOPE 550`, fit for a log; never the server's own text, which quotes addresses. */
const wordsOf = ({ name, code, originalCode, responseCode }: NodemailerError): string =>
  [code ?? name, originalCode, responseCode].filter((word) => word !== undefined).join(" ");

/** Reads the server. @param smtpUrl `smtp://` or `smtps://`, with name and password if the server asks for them. */
function serverOf(smtpUrl: string) {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const host = hostname.replace(/^\[|\]$/g, "");
  const secure = protocol === "smtps:";
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return {
    host,
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    // A password is sent unencrypted to this machine only.
    requireTLS: !secure && username !== "" && !isLoopback(host),
    ...(username === "" ? {} : { auth }),
  };
}

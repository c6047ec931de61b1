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

/** Opens a mailer. @param reportError takes messages for the operator, never an address, a link or a password. */
export async function openMailer(
  { smtpUrl, mailFrom }: Pick<AccountWorkerSettings, "smtpUrl" | "mailFrom">,
  reportError: (error: string) => void,
  { pausesMilliseconds, closeMilliseconds } = defaultRetries,
): Promise<Mailer> {
  if (smtpUrl === null) return mailerOff;
  const transport = await openSmtpTransport(smtpUrl, mailFrom);
  const underWay = new Set<Promise<void>>();
  const isEnding = new AbortController();
  const isOver = new AbortController();
  const sendInTurn = oneByOne((message) => transport.send(message, isOver.signal));

  const deliver = async (message: Mail) => {
    // The response is sent first: its timing must not reveal whether a message is sent.
    await immediate();
    for (const wait of [...pausesMilliseconds, null]) {
      try {
        return await sendInTurn(message);
      } catch (error) {
        const fault = sendingFault(error as Error);
        if (wait === null || fault.isFinal)
          return reportError(
            `A message could not be sent through ${transport.host} (${fault.word}). Whoever waits for it has to ask again.`,
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
          `${queuedMax} messages wait for ${transport.host} already, so another one was dropped.`,
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

/** Makes a sender with one connection at a time, however many messages wait for a mail server that is down. */
function oneByOne(send: (message: Mail) => Promise<void>) {
  let last: Promise<unknown> = Promise.resolve();
  return (message: Mail): Promise<void> => {
    const sent = last.then(() => send(message));
    last = sent.catch(() => {});
    return sent;
  };
}

/** Reason why the mail server did not accept a message, fit for a log. */
interface SendingFault {
  /** Code such as `EENVELOPE 550`; never the server's own text, which quotes addresses. */
  word: string;
  /** Would the same message be refused again? */
  isFinal: boolean;
}

function sendingFault(error: NodemailerError): SendingFault {
  const { code, originalCode, responseCode, permanent = false } = error;
  const words = [code ?? error.name, originalCode, responseCode?.toString()];
  return { word: words.filter((word) => word !== undefined).join(" "), isFinal: permanent };
}

interface SmtpTransport {
  /** Name and port of the mail server, for error messages. */
  host: string;
  /** Sends a message. @throws NodemailerError. */
  send(message: Mail, signal: AbortSignal): Promise<void>;
}

const waits = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 10_000 };
/** Longest time for one message: a server that trickles its replies would hold up all the others. */
const messageMilliseconds = 30_000;

/** Opens a transport. @param smtpUrl `smtp://` or `smtps://`, with name and password if the server asks for them. */
async function openSmtpTransport(smtpUrl: string, mailFrom: string): Promise<SmtpTransport> {
  // Loaded here, because most services send no mail.
  const { createTransport } = await import("nodemailer");
  const { host, ...server } = serverOf(smtpUrl);
  const transport = createTransport({
    host,
    ...server,
    ...waits,
    socketTimeout: messageMilliseconds,
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    host: `${host}:${server.port}`,
    async send({ to, subject, text }, signal) {
      await transport.sendMail({
        from: mailFrom,
        // As an object it is a single address, whatever characters it contains.
        to: { name: "", address: to },
        subject,
        text,
        textEncoding: "quoted-printable",
        // Asks auto-responders not to reply (RFC 3834).
        headers: { "Auto-Submitted": "auto-generated" },
        signal: AbortSignal.any([signal, AbortSignal.timeout(messageMilliseconds)]),
      });
    },
  };
}

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

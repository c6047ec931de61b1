/** The office's mail: messages are sent one after the other, and no page waits for it. */
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { NodemailerError } from "nodemailer";
import { isLoopback } from "#config.ts";
import type { Mail } from "./mail-templates.ts";
import type { AccountWorkerSettings } from "./messages.ts";

export interface Mailer {
  /** Returns at once. What cannot be sent is told to the operator. */
  send(message: Mail): void;
  /** No mail leaves this service. */
  isOff: boolean;
  /** Waits for what is under way, a second or two at most. */
  close(): Promise<void>;
}

interface Patience {
  /** Between the first try and the second, the second and the third. */
  pausesMilliseconds: readonly number[];
  closeMilliseconds: number;
}

const usualPatience: Patience = { pausesMilliseconds: [5000, 60_000], closeMilliseconds: 1500 };
/** Beyond them the mail server has been away for long, and memory is for other things. */
const lettersMax = 1000;

const noPost: Mailer = { send() {}, isOff: true, async close() {} };

/** @param reportError told what an operator should know, never an address, a link or a password. */
export async function openMailer(
  { smtpUrl, mailFrom }: Pick<AccountWorkerSettings, "smtpUrl" | "mailFrom">,
  reportError: (error: string) => void,
  { pausesMilliseconds, closeMilliseconds } = usualPatience,
): Promise<Mailer> {
  if (smtpUrl === null) return noPost;
  const transport = await openSmtpTransport(smtpUrl, mailFrom);
  const underWay = new Set<Promise<void>>();
  const isEnding = new AbortController();
  const isOver = new AbortController();
  const carry = inTurn((message) => transport.carry(message, isOver.signal));

  const deliver = async (message: Mail) => {
    // The answer leaves first: what a message costs must not tell that somebody gets one.
    await nextTurn();
    for (const wait of [...pausesMilliseconds, null]) {
      try {
        return await carry(message);
      } catch (error) {
        const fault = sendingFault(error as Error);
        if (wait === null || fault.isFinal)
          return reportError(
            `A message could not be sent through ${transport.host} (${fault.word}). Whoever waits for it has to ask again.`,
          );
      }
      // Whoever closes the mailer has no time for pauses: what is left of the tries follows at once.
      await pause(wait, undefined, { signal: isEnding.signal }).catch(() => {});
    }
  };

  return {
    isOff: false,
    send(message) {
      if (underWay.size >= lettersMax)
        return reportError(
          `${lettersMax} messages wait for ${transport.host} already, so another one was dropped.`,
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

/** One at a time: a mail server that is away is not asked by hundreds at once. */
function inTurn(carry: (message: Mail) => Promise<void>) {
  let last: Promise<unknown> = Promise.resolve();
  return (message: Mail): Promise<void> => {
    const carried = last.then(() => carry(message));
    last = carried.catch(() => {});
    return carried;
  };
}

/** Why a message was not taken, in a word that is fit for a log. */
interface SendingFault {
  /** Such as `EENVELOPE 550`; never what the server wrote, for that quotes addresses. */
  word: string;
  /** The same message would be refused again. */
  isFinal: boolean;
}

function sendingFault(error: NodemailerError): SendingFault {
  const { code, originalCode, responseCode, permanent = false } = error;
  const words = [code ?? error.name, originalCode, responseCode?.toString()];
  return { word: words.filter((word) => word !== undefined).join(" "), isFinal: permanent };
}

/** Hands messages to a mail server over SMTP (RFC 5321). */
interface SmtpTransport {
  /** Name and port of the mail server, for complaints. */
  host: string;
  /** @throws NodemailerError. */
  carry(message: Mail, signal: AbortSignal): Promise<void>;
}

const waits = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 10_000 };
/** For a whole message: a server that answers a word a minute would keep all others waiting. */
const letterMilliseconds = 30_000;

/** @param smtpUrl `smtp://` or `smtps://`, with name and password where the server asks for them. */
async function openSmtpTransport(smtpUrl: string, mailFrom: string): Promise<SmtpTransport> {
  // Loaded here: most services send no mail, and then it costs nothing.
  const { createTransport } = await import("nodemailer");
  const { host, ...server } = serverOf(smtpUrl);
  const transport = createTransport({
    host,
    ...server,
    ...waits,
    socketTimeout: letterMilliseconds,
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    host: `${host}:${server.port}`,
    async carry({ to, subject, text }, signal) {
      await transport.sendMail({
        from: mailFrom,
        // As an object it is one address whatever stands in it.
        to: { name: "", address: to },
        subject,
        text,
        textEncoding: "quoted-printable",
        // Asks absence notices not to answer (RFC 3834).
        headers: { "Auto-Submitted": "auto-generated" },
        signal: AbortSignal.any([signal, AbortSignal.timeout(letterMilliseconds)]),
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
    // A password is told to nobody in the clear, but to this machine itself.
    requireTLS: !secure && username !== "" && !isLoopback(host),
    ...(username === "" ? {} : { auth }),
  };
}

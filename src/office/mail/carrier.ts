/** Hands letters to a mail server over SMTP (RFC 5321). */
import { isLoopback } from "#config.ts";
import type { Letter } from "./letters.ts";

interface Carrier {
  /** Name and port of the mail server, for complaints. */
  host: string;
  /** @throws NodemailerError. */
  carry(letter: Letter, signal: AbortSignal): Promise<void>;
}

const waits = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 10_000 };
/** For a whole letter: a server that answers a word a minute would keep all others waiting. */
const letterMilliseconds = 30_000;

/** @param smtpUrl `smtp://` or `smtps://`, with name and password where the server asks for them. */
export async function openCarrier(smtpUrl: string, mailFrom: string): Promise<Carrier> {
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

/** Why a letter was not taken, in a word that is fit for a log. */
import type { NodemailerError } from "nodemailer";

interface SendingFault {
  /** Such as `EENVELOPE 550`; never what the server wrote, for that quotes addresses. */
  word: string;
  /** The same letter would be refused again. */
  isFinal: boolean;
}

export function sendingFault(error: NodemailerError): SendingFault {
  const { code, originalCode, responseCode, permanent = false } = error;
  const words = [code ?? error.name, originalCode, responseCode?.toString()];
  return { word: words.filter((word) => word !== undefined).join(" "), isFinal: permanent };
}

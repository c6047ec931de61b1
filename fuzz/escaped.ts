/** Bytes as text that can be printed, pasted into a test and turned into the same bytes again. */

/** One character a byte; everything but printable ASCII is escaped as in a JavaScript string. */
export function escaped(bytes: Buffer | string): string {
  const text = typeof bytes === "string" ? bytes : bytes.toString("latin1");
  return text.replaceAll(/[^ -[\]-~]/g, (one) => named[one] ?? hex(one));
}

/** Of long ones the beginning and the end. */
export function escapedBriefly(bytes: Buffer | string, lengthMax = 3000): string {
  const text = escaped(bytes);
  if (text.length <= lengthMax) return text;
  const half = Math.floor(lengthMax / 2);
  return `${text.slice(0, half)} … ${text.length - 2 * half} more … ${text.slice(-half)}`;
}

const named: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

const hex = (one: string) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`;

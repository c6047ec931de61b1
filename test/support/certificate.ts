/** A certificate that signs itself, for servers that a test reaches over TLS. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { runTool } from "./installed-tool.ts";

/** Needs openssl. @param names of hosts it is good for. @returns the paths of both, in `folder`. */
export function makeCertificate(folder: string, names: readonly string[] = ["localhost"]) {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const made = runTool("openssl", [
    ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" "),
    "-subj",
    `/CN=${names[0]}`,
    "-addext",
    `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}`,
    "-keyout",
    key,
    "-out",
    certificate,
  ]);
  assert.equal(made.exitCode, 0, made.said);
  return { certificate, key };
}

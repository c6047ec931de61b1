/** Faults of a Valkey or Redis in sentences for the operator. */
import { StoreFault } from "#store/domain-error.ts";

/** Longest time for a connection in ms, which its faults name. */
export const connectMilliseconds = 500;

export const dropped = "the connection was given up";

/**
 * Messages of servers, Node and the package, and their meaning; `$&` stands for the message. A script's error may have
 * the words further on.
 */
const meanings: readonly (readonly [said: RegExp, meaning: string])[] = [
  [/^connect ECONNREFUSED .+/, "nothing listens there ($&)"],
  [
    /^Connection timeout$|^connect ETIMEDOUT.*|^connect E\w+UNREACH.*/,
    `no connection within ${connectMilliseconds} ms: it is down, or a firewall drops packets`,
  ],
  [/^getaddrinfo (?:ENOTFOUND|EAI_AGAIN) .+/, "the name of its host cannot be resolved ($&)"],
  [
    /^Socket closed unexpectedly$|^(?:connect|read|write) E(?:CONNRESET|PIPE)\b.*/,
    "it closed the connection; its log may say why",
  ],
  [
    /^Client network socket disconnected before secure TLS connection was established$|.*error:\w+:SSL routines:.+/s,
    "it does not speak TLS at this port, or no version that this side knows; without TLS the scheme is valkey or redis",
  ],
  [
    /^Hostname\/IP does not match .+/,
    "its certificate is for another host than COUNTERS_URL names",
  ],
  [/^(?:Disconnects client|The client is (?:closed|offline)|Cluster closed)$/, dropped],
  [/^Unknown RESP type.*/s, "it answers as neither Valkey nor Redis does"],
  [
    /^ERR unknown command \W?(\w+).*/s,
    "it does not know the command $1, as Valkey and Redis 6.2 or later do",
  ],
  [/.*\bOOM command not allowed.*/s, "it has no memory left for counts; raise its maxmemory"],
  [/.*\bREADONLY .*/s, "it is a replica, which cannot count; COUNTERS_URL has to name the primary"],
  [/.*\bMISCONF .*/s, "it cannot write to its disk and so takes no counts; its log says why"],
  [
    /.*\bNOREPLICAS .*/s,
    "it has fewer replicas than its min-replicas-to-write and so takes no counts",
  ],
  [/^LOADING .*/s, "it is still loading its data"],
  [/^BUSY .*/s, "it is busy with a script; `redis-cli script kill` ends that"],
  [/^MASTERDOWN .*/s, "it is a replica that has lost its primary"],
  [/^CLUSTERDOWN .*/s, "its cluster is down; `redis-cli --cluster check` says why"],
];

/** The same for faults that somebody has to fix, in the setting or at the server. The text follows the place. */
const misfits: readonly (readonly [said: RegExp, meaning: string])[] = [
  [
    /^ERR AUTH\b.*|^ERR Client sent AUTH.*/s,
    "refuses user or password of COUNTERS_URL: none is set for its default user",
  ],
  [
    /^(?:NOAUTH|WRONGPASS|ERR invalid password)\b.*/s,
    "refuses user or password of COUNTERS_URL: $&",
  ],
  [
    /.*\bNOPERM\b.*|.*\bThe user executing the script can't run this command.*/s,
    "does not give the user of COUNTERS_URL all rights that docs/running.md lists",
  ],
  [/^ERR DB index is out of range$/, "does not have the database that COUNTERS_URL names"],
  [
    /^ERR SELECT is not allowed in cluster mode$/,
    "is a cluster, which has the database 0 alone; leave the number out of COUNTERS_URL",
  ],
];

interface Asked {
  place: string;
  tls: boolean;
  password: string | undefined;
}

/**
 * Returns an error whose message follows the place. Returns a StoreFault, which names the place, if somebody has to fix
 * something. Neither has the password.
 */
export function faultInWords(fault: Error, { place, tls, password }: Asked): Error {
  if (fault instanceof StoreFault) return fault;
  const { message } = fault;
  const said = (found: readonly [RegExp, string] | undefined) => {
    if (found !== undefined) return message.replace(...found).trim();
    // An unknown message is told as it came, and may repeat what was sent.
    return (password === undefined ? message : message.replaceAll(password, "***")).trim();
  };
  const misfit = misfits.find(([words]) => words.test(message));
  if (misfit !== undefined)
    return new StoreFault("unusable", `${place} ${said(misfit).replace(/\.$/, "")}.`);
  // A server without TLS takes the first bytes for a command and waits for the rest.
  if (tls && message === "Connection timeout")
    return new Error(
      `no connection within ${connectMilliseconds} ms: it is down, a firewall drops packets, or it speaks no TLS at this port`,
    );
  if (certificateFaults.has((fault as NodeJS.ErrnoException).code ?? ""))
    return new Error(
      `its certificate is not accepted: ${message.split(";")[0]!}. To trust another authority, put its certificate into a file and name that in NODE_EXTRA_CA_CERTS`,
    );
  return new Error(said(meanings.find(([words]) => words.test(message))));
}

const certificateFaults = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

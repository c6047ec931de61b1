/**
 * Tracks open connections, handles the requests of each connection one at a time, and closes connections without losing
 * responses. Limits the number of connections, in total and for each client network, and the time that an unread
 * response is kept.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Config } from "#config.ts";
import { openNetworkShares } from "#limits/client-network.ts";
import { counter, gauge, openTally, type Tally } from "#metrics/metric.ts";
import { openFilesMax } from "#metrics/process-metrics.ts";
import { clientAddress, isTrusted } from "./routes.ts";

interface Connection {
  readonly socket: Socket;
  /** True from the start of a request's handling until its response closes. */
  isAnswering: boolean;
  /** Responses to pipelined requests that wait for an earlier response. */
  readonly waiting: ServerResponse[];
  /** Response to the latest request, sent or not. */
  latest: ServerResponse | undefined;
  /** Response to the request before the latest. */
  previous: ServerResponse | undefined;
  /** Request whose chunked body is arriving, and the function that gives its share back; null if there is none. */
  chunked: { request: IncomingMessage; giveBack: () => void } | null;
}

export type Connections = ReturnType<typeof watchConnections>;

/**
 * Reasons to refuse or end a connection: too many in total, too many from one client network, too many pipelined
 * requests, or a client that does not read its response.
 */
const cutReasons = ["limit", "client_limit", "overrun", "slow_reader"] as const;

/** Maximum number of requests on one connection that wait for an earlier response. */
export const waitingMax = 16;
/** Maximum number of waiting requests on all connections together. */
const waitingMaxOfAll = 512;

/**
 * Maximum number of connections on which one client network may send chunked bodies at a time. A chunk may be a single
 * byte, which Node parses in 2 µs, and one read can bring 10,000 of them.
 */
const chunkedMax = 1;

/** Reports whether the client is still waiting for a response. */
const owes = ({ isAnswering, waiting }: Connection) => isAnswering || waiting.length > 0;

/**
 * Hands a server's requests to `handle`, its only handler. Starts at most one of a connection's waiting requests in
 * each turn of the event loop, and only once the response before it is closed. So at most one response is buffered for
 * each connection. Reads no more from a connection while its requests wait, but a single read can hold thousands of
 * requests. Accepts no more from a connection if one more would exceed `waitingMax` or `waitingMaxOfAll`, and ends it
 * after the response to the latest accepted request (RFC 9112 §9.3.2).
 * @param takeChunked takes a share for a chunked body. Returns a function that gives it back; null if none is left.
 */
export function watchConnections(
  server: Server,
  handle: RequestListener,
  takeChunked: (request: IncomingMessage) => (() => void) | null,
  lingerMilliseconds: number,
) {
  const open = new Map<Socket, Connection>();
  const ready = new Set<Connection>();
  const cut = openTally(
    "gp_records_connections_cut_total",
    "Connections refused or ended by the server, by reason",
    ["reason"],
    cutReasons.map((reason) => [reason]),
  );
  let aborted = 0;
  let waitingOfAll = 0;

  const begin = (connection: Connection, response: ServerResponse) => {
    connection.isAnswering = true;
    // Unlike "finish", "close" also comes if the connection ends before the whole response is sent.
    response.on("close", () => {
      connection.isAnswering = false;
      if (!response.writableFinished) aborted++;
      if (connection.waiting.length > 0) soon(connection);
    });
    handle(response.req, response);
  };
  const forget = ({ waiting }: Connection) => {
    waitingOfAll -= waiting.length;
    waiting.length = 0;
  };
  const endChunked = (connection: Connection) => {
    connection.chunked?.giveBack();
    connection.chunked = null;
  };
  /** Takes a share for a chunked body until that body ends. Returns false if none is left. */
  const beginChunked = (connection: Connection, request: IncomingMessage): boolean => {
    const giveBack = connection.chunked?.giveBack ?? takeChunked(request);
    if (giveBack === null) return false;
    connection.chunked = { request, giveBack };
    // Given back in a later turn of the event loop, so that each turn parses chunks from one connection of a network.
    const end = () => connection.chunked?.request === request && endChunked(connection);
    request.once("end", () => setImmediate(end));
    return true;
  };
  const soon = (connection: Connection) => {
    ready.add(connection);
    if (ready.size === 1) setImmediate(beginNext);
  };
  const beginNext = () => {
    const connections = [...ready];
    ready.clear();
    for (const connection of connections) {
      if (connection.socket.writableEnded) forget(connection);
      const next = connection.waiting.shift();
      if (next === undefined) continue;
      waitingOfAll--;
      if (connection.waiting.length === 0) connection.socket.resume();
      begin(connection, next);
    }
  };

  server.on("connection", (socket: Socket) => {
    const connection: Connection = {
      socket,
      isAnswering: false,
      waiting: [],
      latest: undefined,
      previous: undefined,
      chunked: null,
    };
    open.set(socket, connection);
    closeLingering(socket, lingerMilliseconds);
    stopParsing(socket, (request) => {
      // The last response has been sent, so this request gets none.
      if (socket.writableEnded) return true;
      const isChunked = request.headers["transfer-encoding"] !== undefined;
      if (isChunked && !beginChunked(connection, request)) leaveUnread(socket);
      if (!owes(connection)) return false;
      const isFull = connection.waiting.length === waitingMax || waitingOfAll === waitingMaxOfAll;
      if (!isFull) return false;
      cut.add("overrun");
      const response = connection.latest!;
      // A response in progress may have promised in its headers to keep the connection open.
      if (response.headersSent) response.once("close", () => socket.destroySoon());
      else response.shouldKeepAlive = false;
      return true;
    });
    // Node resumes the socket after each response, even if it was paused here. It must stay paused while requests wait
    // or bytes must stay unread, until the last response is sent.
    socket.on("resume", () => {
      const isEarly = connection.waiting.length > 0 || unread.has(socket);
      if (isEarly && !socket.writableEnded) socket.pause();
    });
    socket.once("close", () => {
      forget(connection);
      endChunked(connection);
      open.delete(socket);
    });
  });
  server.on("request", (request, response) => {
    const connection = open.get(request.socket)!;
    connection.previous = connection.latest;
    connection.latest = response;
    if (unread.has(request.socket)) response.shouldKeepAlive = false;
    if (!owes(connection)) return begin(connection, response);
    connection.waiting.push(response);
    waitingOfAll++;
    request.socket.pause();
  });
  server.on("drop", () => cut.add("limit"));
  return {
    open,
    /** Tally of the connections refused or ended, by reason. */
    cut,
    metrics: [
      gauge("gp_records_connections_open", "Open connections", () => open.size),
      gauge(
        "gp_records_connections_max",
        "Maximum number of open connections",
        () => server.maxConnections,
      ),
      cut,
      counter(
        "gp_records_answers_aborted_total",
        "Answers whose connection closed before the last byte was handed to the operating system",
        () => aborted,
      ),
    ],
  };
}

/**
 * Makes `destroySoon` end only the server's side, and discard bytes until the client ends its own. Closing a socket
 * with unread bytes would reset the connection and lose responses in transit (RFC 9112 §9.6). Node calls `destroySoon`
 * after a response with `Connection: close`.
 * @param milliseconds time until the connection is destroyed if the client does not end its side.
 */
function closeLingering(socket: Socket, milliseconds: number): void {
  socket.destroySoon = () => {
    if (socket.writableEnded) return;
    socket.end();
    socket.resume();
    const cut = setTimeout(() => socket.destroy(), milliseconds);
    cut.unref();
    socket.once("close", () => clearTimeout(cut));
  };
}

/** Members of sockets and requests that Node's types leave out. */
interface ParsedSocket extends Socket {
  parser: { onIncoming(request: ParsedRequest, keepAlive: boolean): number };
}
interface ParsedRequest extends IncomingMessage {
  upgrade: boolean;
}

/** Return value that makes the parser skip the rest of what was read, as after an upgrade. */
const leaveRest = 2;

const drop = () => {};

const unread = new WeakSet<Socket>();

/** Reports whether everything after the current request's headers is left unread. */
export const isLeftUnread = (socket: Socket): boolean => unread.has(socket);

/** Leaves all after the current request's headers unread, even the body. Discards it once the last response is sent. */
export function leaveUnread(socket: Socket): void {
  unread.add(socket);
  if (!socket.writableEnded) socket.pause();
  socket.removeAllListeners("data");
  // With this listener Node no longer passes the bytes to the parser.
  socket.on("data", drop);
}

/**
 * Stops parsing, even in the middle of a read, once `isEnough` returns true, after a CONNECT, or when a request leaves
 * the rest unread. Otherwise one read could become thousands of requests before any response is sent.
 */
function stopParsing(socket: Socket, isEnough: (request: IncomingMessage) => boolean): void {
  const { parser } = socket as ParsedSocket;
  const { onIncoming } = parser;
  parser.onIncoming = (request, keepAlive) => {
    const isOver = isEnough(request);
    if (isOver || request.method === "CONNECT") {
      // Otherwise Node would copy all that was read, to hand it to another protocol.
      request.upgrade = false;
      leaveUnread(socket);
    }
    if (isOver) return leaveRest;
    const whatFollows = onIncoming(request, keepAlive);
    return unread.has(socket) ? leaveRest : whatFollows;
  };
}

/**
 * Time until a stopping server destroys the connections that are still open, in ms. The last writes and mails follow,
 * and the process ends within 5 s in total if its stores answer.
 */
const patienceMilliseconds = 3000;
const sweepEveryMilliseconds = 50;

/** Accepts no more connections and closes the open ones. Resolves when the last one is closed. */
export function drain(server: Server, { open }: Connections): Promise<void> {
  return new Promise((resolve) => {
    // The first sweep leaves time for requests that arrived before the signal.
    const sweep = setInterval(() => {
      for (const connection of open.values())
        if (!owes(connection)) connection.socket.destroySoon();
    }, sweepEveryMilliseconds);
    const cut = setTimeout(() => {
      for (const { socket } of open.values()) socket.destroy();
    }, patienceMilliseconds);
    // The HTTP server's own `close` would destroy connections whose response is not yet sent completely.
    NetServer.prototype.close.call(server, () => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
  });
}

/** Hands a server's requests to `handle`, and applies all limits in this file to the connections. */
export function guardConnections(
  server: Server,
  handle: RequestListener,
  config: Config,
  lingerMilliseconds: number,
): Connections {
  server.maxConnections = config.connectionsMax ?? connectionsMaxFor(openFilesMax());
  const chunkedShares = openNetworkShares(chunkedMax);
  const takeChunked = (request: IncomingMessage) =>
    chunkedShares.take(clientAddress(request, config.trustedProxies), 1);
  const connections = watchConnections(server, handle, takeChunked, lingerMilliseconds);
  boundClients(server, config, connections.cut);
  const look = watchSlowReaders(connections, () => performance.now());
  const timer = setInterval(look, slowReaderBounds.lookEveryMilliseconds);
  timer.unref();
  server.once("close", () => clearInterval(timer));
  return connections;
}

/**
 * Closes connections beyond a client network's limit. Exempts trusted proxies, whose connections serve many clients.
 */
function boundClients(
  server: Server,
  { connectionsPerClientMax, trustedProxies }: Config,
  cut: Tally,
): void {
  const shares = openNetworkShares(connectionsPerClientMax);
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "unknown";
    if (isTrusted(trustedProxies, address)) return;
    const giveBack = shares.take(address, 1);
    if (giveBack !== null) return void socket.once("close", giveBack);
    cut.add("client_limit");
    socket.destroy();
  });
}

/** Maximum share of the limit on open files that connections may use. */
const shareOfOpenFiles = 0.9;
/**
 * Minimum number of open files left for databases, datasets, counts and the log, including a dataset that is loading.
 */
const otherFilesMin = 100;
const most = 20_000;
const whereUnknown = 8000;

/** Returns the default limit on open connections. @param openFilesMax limit on open files; null if it is unknown. */
export function connectionsMaxFor(openFilesMax: number | null): number {
  if (openFilesMax === null) return whereUnknown;
  const left = Math.min(openFilesMax * shareOfOpenFiles, openFilesMax - otherFilesMin);
  return Math.max(1, Math.min(most, Math.floor(left)));
}

/**
 * Limits for slow readers. A client whose response is queued is disconnected if it does not read `bytesMin` bytes
 * within `patienceMilliseconds`.
 */
export const slowReaderBounds = {
  patienceMilliseconds: 30_000,
  bytesMin: 32 * 1024,
  lookEveryMilliseconds: 5000,
} as const;

interface Mark {
  bytes: number;
  atMilliseconds: number;
}

/**
 * Returns a function that disconnects slow readers, to be called every `lookEveryMilliseconds`.
 * @param now returns monotonic milliseconds.
 */
export function watchSlowReaders(
  { open, cut }: Pick<Connections, "open" | "cut">,
  now: () => number,
): () => void {
  const marks = new WeakMap<Socket, Mark>();
  const isStuck = (socket: Socket): boolean => {
    const bytes = takenBytes(socket);
    const mark = bytes === null ? undefined : marks.get(socket);
    if (bytes === null) marks.delete(socket);
    else if (mark === undefined || bytes - mark.bytes >= slowReaderBounds.bytesMin)
      marks.set(socket, { bytes, atMilliseconds: now() });
    else return now() - mark.atMilliseconds >= slowReaderBounds.patienceMilliseconds;
    return false;
  };
  return () => {
    for (const connection of open.values())
      if (owes(connection) && isStuck(connection.socket)) {
        cut.add("slow_reader");
        // An orderly close would leave the unread bytes in the system's buffers.
        connection.socket.resetAndDestroy();
      }
  };
}

/** Node's socket handle, which Node's own time-outs also use. `socket.bytesWritten` would include queued bytes. */
interface StreamHandle {
  bytesWritten: number;
  writeQueueSize: number;
}

/** Returns the number of bytes handed to the system so far. Returns null if none are queued or the socket is closed. */
function takenBytes(socket: Socket): number | null {
  const { _handle: handle } = socket as Socket & { _handle?: StreamHandle | null };
  if (handle === null || handle === undefined || handle.writeQueueSize === 0) return null;
  return handle.bytesWritten - handle.writeQueueSize;
}

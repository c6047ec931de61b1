/** The open connections: what each still owes an answer to, one request at a time. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

export interface Connection {
  readonly socket: Socket;
  /** An answer is begun and not yet handed to the system to its last byte. */
  isAnswering: boolean;
  /** Requests that arrived before the ones in front of them were answered. */
  readonly waiting: [IncomingMessage, ServerResponse][];
  /** The request that arrived last, answered or not. */
  latest: Exchange | undefined;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The response to the request before it on the connection. */
  readonly before: ServerResponse | undefined;
}

export interface Connections {
  readonly open: ReadonlyMap<Socket, Connection>;
  /** Refused because too many were open. */
  droppedCount(): number;
  /** Answers whose connection ended before they were handed to the system. */
  abortedCount(): number;
}

/** Is there something the client asked for and has not got? */
export const owes = ({ isAnswering, waiting }: Connection) => isAnswering || waiting.length > 0;

/**
 * Stands between a server and its handler from now on. However many requests a client sends ahead, each turn of the
 * event loop answers one of them: others wait no longer for a client that pipelines, and what it does not read is
 * one answer. While some wait, no more are read from the connection.
 * @param lingerMilliseconds what a client has to read the last answer and to close its side.
 */
export function watchConnections(server: Server, lingerMilliseconds: number): Connections {
  const handle = takeHandler(server);
  const open = new Map<Socket, Connection>();
  const ready = new Set<Connection>();
  let dropped = 0;
  let aborted = 0;

  const begin = (connection: Connection, [request, response]: Connection["waiting"][number]) => {
    connection.isAnswering = true;
    // Node counts an answer as finished while most of it still waits to be sent; closed means all of it is gone.
    response.on("close", () => {
      connection.isAnswering = false;
      if (!response.writableFinished) aborted++;
      if (connection.waiting.length > 0) soon(connection);
    });
    handle(request, response);
  };
  const soon = (connection: Connection) => {
    ready.add(connection);
    if (ready.size === 1) setImmediate(beginNext);
  };
  const beginNext = () => {
    const connections = [...ready];
    ready.clear();
    for (const connection of connections) {
      if (connection.socket.writableEnded) connection.waiting.length = 0;
      const next = connection.waiting.shift();
      if (next === undefined) continue;
      if (connection.waiting.length === 0) connection.socket.resume();
      begin(connection, next);
    }
  };

  server.on("connection", (socket: Socket) => {
    const connection: Connection = { socket, isAnswering: false, waiting: [], latest: undefined };
    open.set(socket, connection);
    closeLingering(socket, lingerMilliseconds);
    // Node reads on after each answer, whoever has paused the socket; behind the last one that is right.
    socket.on("resume", () => {
      if (connection.waiting.length > 0 && !socket.writableEnded) socket.pause();
    });
    socket.once("close", () => {
      connection.waiting.length = 0;
      open.delete(socket);
    });
  });
  server.on("request", (request, response) => {
    const connection = open.get(request.socket)!;
    connection.latest = { request, response, before: connection.latest?.response };
    // Behind an answer that was the last one.
    if (request.socket.writableEnded) {
      request.resume();
      return dropWhatComes(request.socket);
    }
    if (!owes(connection)) return begin(connection, [request, response]);
    connection.waiting.push([request, response]);
    request.socket.pause();
  });
  server.on("drop", () => dropped++);
  return { open, droppedCount: () => dropped, abortedCount: () => aborted };
}

function takeHandler(server: Server): RequestListener {
  const [handler] = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  return handler!;
}

/**
 * From now on `destroySoon` ends our side only, and drops what still comes until the client has ended its own: to
 * close a socket that holds unread bytes resets the connection, and destroys what is still on its way
 * (RFC 9112 §9.6). Node calls it after an answer that says `Connection: close`.
 * @param milliseconds how long the client has; then it is cut.
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

const drop = () => {};

/** Nothing that comes is parsed any more: of requests behind the last answer one turn could hold a hundred thousand. */
function dropWhatComes(socket: Socket): void {
  socket.removeAllListeners("data");
  // With this listener Node takes the bytes from the parser.
  socket.on("data", drop);
  socket.resume();
}

/** Whatever is not finished by then is cut: with what is written and mailed behind it, the process ends within five seconds. */
const patienceMilliseconds = 3000;
const sweepEveryMilliseconds = 50;

/** Resolves when the last connection is closed. */
export function drain(server: Server, { open }: Connections): Promise<void> {
  return new Promise((resolve) => {
    // The first sweep comes late enough for what had arrived when the signal came.
    const sweep = setInterval(() => {
      for (const connection of open.values())
        if (!owes(connection)) connection.socket.destroySoon();
    }, sweepEveryMilliseconds);
    // That of HTTP servers forgets a connection once it was asked to CONNECT, which may still owe answers.
    const cut = setTimeout(() => {
      for (const { socket } of open.values()) socket.destroy();
    }, patienceMilliseconds);
    // That of HTTP servers would close connections whose answer is not sent yet.
    NetServer.prototype.close.call(server, () => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
  });
}

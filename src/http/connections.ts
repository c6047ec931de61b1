/** Tracks the open connections, handles the requests of each one at a time, and closes them without losing responses. */
import { once } from "node:events";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

export interface Connection {
  readonly socket: Socket;
  /** A request is being handled, or its response not yet handed to the system to the last byte. */
  isAnswering: boolean;
  /** Pipelined requests that wait for the response to the one before. */
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
  /** Responses whose connection closed before they were handed to the system. */
  abortedCount(): number;
}

/** Is the client still waiting for a response? */
export const owes = ({ isAnswering, waiting }: Connection) => isAnswering || waiting.length > 0;

/**
 * Puts itself between a server and its handler. However many requests a client pipelines, each turn of the event loop
 * handles one of them, so it delays nobody else, and at most one unread response is buffered. While some wait, no more
 * are read from the connection.
 * @param lingerMilliseconds how long a client has to read the last response and close its side.
 */
export function watchConnections(server: Server, lingerMilliseconds: number): Connections {
  const handle = takeHandler(server);
  const open = new Map<Socket, Connection>();
  const ready = new Set<Connection>();
  let dropped = 0;
  let aborted = 0;

  const begin = (connection: Connection, [request, response]: Connection["waiting"][number]) => {
    connection.isAnswering = true;
    // A response is "finished" while most of it may still be in Node's buffers; at "close" all of it is sent.
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
    // Node resumes the socket after each response, even one that we paused; after the last response that is right.
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
    // Arrived after the last response of the connection.
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
 * Makes `destroySoon` end our side only, and discard what still arrives until the client has ended its own: closing a
 * socket with unread bytes resets the connection, which destroys responses still on their way (RFC 9112 §9.6). Node
 * calls it after a response with `Connection: close`.
 * @param milliseconds how long the client has before the connection is destroyed.
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

/** Stops parsing: one turn could otherwise handle a hundred thousand requests sent after the last response. */
function dropWhatComes(socket: Socket): void {
  socket.removeAllListeners("data");
  // With this listener Node no longer passes the bytes to the parser.
  socket.on("data", drop);
  socket.resume();
}

/** Resolves when what is being answered now has been sent, or after the time that a drain has. */
export async function settle({ open }: Connections): Promise<void> {
  const responses = [...open.values()].filter(owes).flatMap(({ latest }) => latest?.response ?? []);
  const late = AbortSignal.timeout(patienceMilliseconds);
  const sent = responses.map((response) => once(response, "close", { signal: late }));
  await Promise.allSettled(sent);
}

/** Connections still open then are destroyed: with the final writes and mails, the process ends within five seconds, if its stores answer. */
const patienceMilliseconds = 3000;
const sweepEveryMilliseconds = 50;

/** Resolves when the last connection is closed. */
export function drain(server: Server, { open }: Connections): Promise<void> {
  return new Promise((resolve) => {
    // The first sweep leaves time for requests that had arrived when the signal came.
    const sweep = setInterval(() => {
      for (const connection of open.values())
        if (!owes(connection)) connection.socket.destroySoon();
    }, sweepEveryMilliseconds);
    // `closeAllConnections` forgets a connection after CONNECT, although responses may be pending on it.
    const cut = setTimeout(() => {
      for (const { socket } of open.values()) socket.destroy();
    }, patienceMilliseconds);
    // `close` of the HTTP server would close connections whose response is not sent yet.
    NetServer.prototype.close.call(server, () => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
  });
}

/** What the front door needs of node:http, without all that an `import` of it loads. */

// To import a module of Node reads each of its names, and one of these is a getter that loads a whole WebSocket
// client: 15 MB and as much time as a third of a start.
export const { METHODS, STATUS_CODES, createServer } = process.getBuiltinModule("node:http");

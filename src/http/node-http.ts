/** Gives the HTTP server its parts of node:http, without everything that an `import` of it loads. */

// An `import` of a built-in module reads every export. One getter of node:http loads a WebSocket client: 15 MB, and a
// third of the time of a start.
const http = process.getBuiltinModule("node:http");
export const { STATUS_CODES, createServer } = http;

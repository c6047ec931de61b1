/** What the HTTP server needs of node:http, without all that an `import` of it loads. */

// An `import` of a built-in module reads every export, and one getter of node:http loads a WebSocket client: 15 MB,
// and a third of the time of a start.
const http = process.getBuiltinModule("node:http");
export const { STATUS_CODES, createServer } = http;

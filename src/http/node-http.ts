/** Provides the parts of node:http that the server needs, without loading everything that an `import` of it would. */

// An `import` of a built-in module reads every export. One getter of node:http loads a WebSocket client, which takes 15
// MB and a third of the start-up time.
const http = process.getBuiltinModule("node:http");
export const { METHODS, STATUS_CODES, createServer } = http;
